#include <string>

#include <krylith/device/error.hpp>
#include <krylith/spmv/building/build_operator.hpp>

namespace krylith {

namespace {

using std::to_string;

const char* coherence_in_words(coherence kind) {
    return kind == coherence::owned ? "owned" : "replicated";
}

void check_layout(const layout_handle& handle, const char* name, std::int64_t size,
                  const char* what) {
    const std::string who = std::string("make_operator: the ") + name + " layout ";
    if (!handle) throw usage_error(who + "is null");
    check(handle->rows, handle->rows.rows());
    if (handle->rows.ranks() != handle->comm.ranks())
        throw usage_error(who + "has " + to_string(handle->rows.ranks()) + " parts for " +
                          to_string(handle->comm.ranks()) + " devices");
    if (handle->size() != size)
        throw usage_error(who + "has " + to_string(handle->size()) + " entries, the matrix " +
                          to_string(size) + " " + what + ": they must agree");
}

} // namespace

const communicator& comm_of(const operator_layouts& layouts) {
    if (layouts.range == nullptr) throw usage_error("make_operator: the range layout is null");
    return layouts.range->comm;
}

void check_layouts(const operator_layouts& layouts, std::int64_t rows, std::int64_t columns,
                   const operator_options& options) {
    check_layout(layouts.range, "range", rows, "rows");
    check_layout(layouts.domain, "domain", columns, "columns");
    if (layouts.range->comm != layouts.domain->comm)
        throw usage_error("make_operator: the domain and the range layout are of different device "
                          "groups");
    const coherence kind = layouts.range->kind;
    if (layouts.domain->kind != kind)
        throw usage_error(std::string("make_operator: the domain layout is ") +
                          coherence_in_words(layouts.domain->kind) + ", the range layout " +
                          coherence_in_words(kind) +
                          ": no operator has such vectors, they must be alike");
    if (options.kind && options.kind->vectors != kind)
        throw usage_error(std::string("make_operator: operator ") + to_string(options.kind) +
                          " has " + coherence_in_words(options.kind->vectors) +
                          " vectors, those of the layouts are " + coherence_in_words(kind));
    if (options.order)
        throw usage_error(std::string("make_operator: order ") + to_string(options.order) +
                          ", but the layouts say the order of rows and columns: allowed is none");
}

} // namespace krylith

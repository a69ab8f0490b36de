#include <krylith/spmv/building/part_checks.hpp>

#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/distributed/source/pointer_check.hpp>

namespace krylith {

namespace {

std::string part_of(int rank) {
    return "make_operator: part " + std::to_string(rank) + ": ";
}

[[noreturn]] void refuse_part(int rank, const std::string& what) {
    throw usage_error(part_of(rank) + what);
}

template <class V>
V read_number(device& device, const V* from) {
    V number{};
    device.download(&number, from, sizeof number);
    return number;
}

} // namespace

template <class T>
void check_part(device& device, int rank, const csr_part<T>& part) {
    if (part.rows < 0)
        refuse_part(rank, std::to_string(part.rows) + " rows, allowed are 0 and more");
    if (part.rows > 0) check_pointer(device, part_of(rank), part.row_offsets.data(), "row_offsets");
}

void check_count(std::size_t parts, const communicator& comm) {
    if (parts != static_cast<std::size_t>(comm.ranks()))
        throw usage_error("make_operator: " + std::to_string(parts) + " parts for " +
                          std::to_string(comm.ranks()) + " devices");
}

template <class T>
void check_entries(device& device, int rank, const csr_part<T>& part) {
    check_pointer(device, part_of(rank), part.column_indices.data(), "column_indices");
    check_pointer(device, part_of(rank), part.values, "values");
}

std::int64_t count_nonzeros(device& device, const index_array& offsets, std::int64_t rows) {
    const auto at = [&](std::int64_t row) {
        if (offsets.wide != nullptr) return read_number(device, offsets.wide + row);
        return std::int64_t{read_number(device, offsets.narrow + row)};
    };
    return at(rows) - at(0);
}

void check_order(const operator_options& options) {
    if (options.order)
        throw usage_error(std::string("operator_options::order is ") + to_string(options.order) +
                          ", but rows that lie on the devices stay there: allowed is none");
}

operator_placement placement_of(row_partition rows, const std::optional<operator_layouts>& layouts,
                                const operator_options& options) {
    if (!layouts) return {std::move(rows), {}};
    if (layouts->domain == nullptr) throw usage_error("make_operator: the domain layout is null");
    check_layouts(*layouts, rows.rows(), layouts->domain->size(), options);
    for (const layout_handle& layout : {layouts->range, layouts->domain})
        if (layout->order)
            throw usage_error("make_operator: a layout has another order of rows, but rows that "
                              "lie on the devices stay there: allowed are layouts without one");
    for (int rank = 0; rank < rows.ranks(); ++rank)
        if (rows.owned(rank) != layouts->range->rows.owned(rank))
            refuse_part(rank, std::to_string(rows.owned(rank).size()) +
                                  " rows, of which the range layout has " +
                                  std::to_string(layouts->range->rows.owned(rank).size()) +
                                  ": they must agree");
    return {{}, layouts};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void check_part(device&, int, const csr_part<T>&);                                    \
    template void check_entries(device&, int, const csr_part<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

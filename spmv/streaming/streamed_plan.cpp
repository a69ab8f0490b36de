#include <krylith/spmv/streaming/streamed_plan.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/numa_partition.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse_array(const char* what, std::size_t found, const std::string& allowed) {
    throw input_error(std::string("streamed_product: ") + what + " has " + to_string(found) +
                      " numbers, must have " + allowed);
}

/// Calls the checker of the form; what ranges of unsorted entries have follows from the cuts.
template <class T>
void check_ranges(const pcsr& partition, const streamed_matrix<T>& a) {
    const char* const major = by_columns(a.form) ? "column" : "row";
    if (compressed(a.form)) return check(partition, a.offsets, major);
    if (a.form != streamed_form::coo_unsorted)
        return check(partition, a.major_size(), a.major_indices(), major);
    for (const major_range& range : partition.ranges)
        if (range.owned() != row_range{0, a.rows})
            throw usage_error("streamed_plan: a range of unsorted entries must have all rows");
}

} // namespace

const char* to_string(streamed_form form) noexcept {
    switch (form) {
    case streamed_form::csr: return "csr";
    case streamed_form::csc: return "csc";
    case streamed_form::coo_by_rows: return "coo by rows";
    case streamed_form::coo_by_columns: return "coo by columns";
    default: return "coo unsorted";
    }
}

std::span<const major_range> streamed_plan::ranges_of(int part) const {
    return std::span(streamed.ranges).subspan(as_size(part) * as_size(ranges), as_size(ranges));
}

template <class T>
void check_sizes(const streamed_matrix<T>& a) {
    const std::size_t entries = a.values.size();
    check_index_size("streamed_product: rows", a.rows);
    check_index_size("streamed_product: columns", a.columns);
    if (compressed(a.form)) {
        if (a.offsets.size() != as_size(a.major_size()) + 1)
            refuse_array("the pointer array", a.offsets.size(),
                         "one more than " +
                             std::string(by_columns(a.form) ? "columns, " : "rows, ") +
                             to_string(a.major_size() + 1));
        if (a.offsets.front() != 0 || a.offsets.back() != a.entries())
            throw input_error("streamed_product: the pointer array runs from " +
                              to_string(a.offsets.front()) + " to " + to_string(a.offsets.back()) +
                              ", must run from 0 to the number of values, " + to_string(entries));
    }
    const std::string as_many = "as many as values, " + to_string(entries);
    if (a.form != streamed_form::csr && a.row_indices.size() != entries)
        refuse_array("the array of row indices", a.row_indices.size(), as_many);
    if (a.form != streamed_form::csc && a.column_indices.size() != entries)
        refuse_array("the array of column indices", a.column_indices.size(), as_many);
}

template <class T>
pcsr split_nonzeros(const streamed_matrix<T>& a, const nonzero_partition& cuts) {
    if (compressed(a.form)) return make_pcsr(a.offsets, cuts);
    if (a.form != streamed_form::coo_unsorted)
        return make_pcoo(a.major_size(), a.major_indices(), cuts);
    pcsr result;
    for (int k = 0; k < cuts.parts(); ++k)
        result.ranges.push_back(
            {cuts.begin[as_size(k)], cuts.begin[as_size(k) + 1], 0, a.rows, false});
    return result;
}

template <class T>
streamed_plan plan_streamed(const streamed_matrix<T>& a, std::span<const int> node_of_device,
                            int ranges) {
    if (ranges < 1 || ranges > most_streamed_ranges)
        throw usage_error("streamed_product: ranges is " + to_string(ranges) + ", must be 1 to " +
                          to_string(most_streamed_ranges));
    streamed_plan plan{.form = a.form, .ranges = by_rows(a.form) ? ranges : 1};
    numa_partition parts = make_numa_partition(a.entries(), node_of_device);
    plan.device = std::move(parts.device);
    plan.nonzeros = split_nonzeros(a, parts.entries);
    plan.streamed = split_nonzeros(a, equal_entries(a.entries(), plan.parts() * plan.ranges));
    for (const major_range& range : plan.streamed.ranges)
        check_index_size("streamed_product: entries of a range", range.entries());
    plan.results = by_rows(a.form) ? plan.nonzeros.owned() : equal_rows(a.rows, plan.parts());
    return plan;
}

template <class T>
void check(const streamed_plan& plan, const streamed_matrix<T>& a) {
    std::vector<int> ranks = plan.device;
    std::ranges::sort(ranks);
    for (std::size_t k = 0; k < ranks.size(); ++k)
        if (ranks[k] != static_cast<int>(k))
            throw usage_error(
                "streamed_plan: the devices of parts are no order of the ranks 0 to " +
                to_string(ranks.size() - 1));
    const std::size_t parts = as_size(plan.parts());
    const std::size_t each = as_size(plan.ranges);
    if (parts == 0 || plan.nonzeros.ranges.size() != parts ||
        plan.streamed.ranges.size() != parts * each)
        throw usage_error("streamed_plan: there are " + to_string(plan.nonzeros.ranges.size()) +
                          " parts in " + to_string(plan.streamed.ranges.size()) +
                          " ranges, must be " + to_string(parts) + " in " +
                          to_string(parts * each) + ", at least 1");
    check_ranges(plan.nonzeros, a);
    check_ranges(plan.streamed, a);
    for (std::size_t part = 0; part < parts; ++part)
        if (plan.streamed.ranges[part * each].start_idx != plan.nonzeros.ranges[part].start_idx ||
            plan.streamed.ranges[part * each + each - 1].end_major !=
                plan.nonzeros.ranges[part].end_major)
            throw usage_error("streamed_plan: the ranges of part " + to_string(part) +
                              " must have its entries and own its rows");
    check(plan.results, a.rows);
    if (by_rows(a.form) && plan.results != plan.nonzeros.owned())
        throw usage_error("streamed_plan: results must be the rows that the parts own");
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<check_sizes<T>, split_nonzeros<T>, plan_streamed<T>, check<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

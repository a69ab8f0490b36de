#include <krylith/spmv/streaming/streamed_plan.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/numa_partition.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse(const char* what, std::size_t found, const std::string& allowed) {
    throw input_error(std::string("streamed_product: ") + what + " has " + to_string(found) +
                      " numbers, must have " + allowed);
}

/// Shares, results and last pieces of entries that are assigned already.
template <class T>
void fill(streamed_plan& plan, const streamed_matrix<T>& a, const nonzero_partition& entries) {
    if (a.form == streamed_form::coo_unsorted) // any of a part's entries may be in any row
        for (int q = 0; q < entries.parts(); ++q)
            plan.major_ranges.push_back(
                {entries.begin[as_size(q)], entries.begin[as_size(q) + 1], 0, a.rows, false});
    else if (compressed(a.form))
        plan.major_ranges = make_major_ranges(a.offsets, entries);
    else
        plan.major_ranges = make_sorted_major_ranges(a.major_size(), a.major_indices(), entries);
    for (const major_range& majors : plan.major_ranges)
        check_index_size("streamed_product: entries of a piece", majors.entries());
    if (!by_rows(a.form)) {
        plan.results = equal_rows(a.rows, plan.parts());
        return;
    }
    plan.results = owned_indices(plan.major_ranges);
    for (int q = 0; q < entries.parts(); ++q) plan.last.push_back(q);
    for (const shared_index& shared : shared_indices(plan.major_ranges))
        plan.last[as_size(shared.first_part)] = shared.last_part;
}

/// The first entry of a line.
template <class T>
std::int64_t first_entry(const streamed_matrix<T>& a, std::int64_t major) {
    if (compressed(a.form))
        return std::clamp<std::int64_t>(a.offsets[as_size(major)], 0, a.entries());
    const auto found = std::ranges::lower_bound(a.major_indices(), major);
    return found - a.major_indices().begin();
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

major_range streamed_plan::majors(int part) const {
    const major_range& first = major_ranges[as_size(part) * as_size(ranges)];
    const major_range& last = major_ranges[as_size(part + 1) * as_size(ranges) - 1];
    // The first piece may have no entries, and the flag then stands at one that has.
    std::int64_t start_major = first.start_major;
    bool flag = false;
    for (int q = part * ranges; q < (part + 1) * ranges && !flag; ++q) {
        flag = major_ranges[as_size(q)].start_flag &&
               major_ranges[as_size(q)].start_major < first.start_major;
        if (flag) start_major = major_ranges[as_size(q)].start_major;
    }
    return {first.start_idx, last.end_idx, start_major, last.end_major, flag || first.start_flag};
}

row_range streamed_plan::results_of(int part) const {
    const int each = by_rows(form) ? ranges : 1;
    return {results.begin[as_size(part) * as_size(each)],
            results.begin[as_size(part + 1) * as_size(each)]};
}

template <class T>
void check_sizes(const streamed_matrix<T>& a) {
    const std::size_t entries = a.values.size();
    check_index_size("streamed_product: rows", a.rows);
    check_index_size("streamed_product: columns", a.columns);
    if (compressed(a.form)) {
        if (a.offsets.size() != as_size(a.major_size()) + 1)
            refuse("the pointer array", a.offsets.size(),
                   "one more than lines, " + to_string(a.major_size() + 1));
        if (a.offsets.front() != 0 || a.offsets.back() != a.entries())
            throw input_error("streamed_product: the pointer array runs from " +
                              to_string(a.offsets.front()) + " to " + to_string(a.offsets.back()) +
                              ", must run from 0 to the number of values, " + to_string(entries));
    }
    const std::string as_many = "as many as values, " + to_string(entries);
    if (a.form != streamed_form::csr && a.row_indices.size() != entries)
        refuse("the array of row indices", a.row_indices.size(), as_many);
    if (a.form != streamed_form::csc && a.column_indices.size() != entries)
        refuse("the array of column indices", a.column_indices.size(), as_many);
}

template <class T>
streamed_plan plan_streamed(const streamed_matrix<T>& a, std::span<const int> node_of_device,
                            int ranges) {
    if (ranges < 1 || ranges > most_streamed_ranges)
        throw usage_error("streamed_product: pieces is " + to_string(ranges) + ", must be 1 to " +
                          to_string(most_streamed_ranges));
    streamed_plan plan{.form = a.form, .ranges = by_rows(a.form) ? ranges : 1};
    plan.device = make_numa_partition(a.entries(), node_of_device).device;
    fill(plan, a, equal_entries(a.entries(), plan.parts() * plan.ranges));
    return plan;
}

template <class T>
streamed_plan plan_equal_majors(const streamed_matrix<T>& a, int parts) {
    streamed_plan plan{.form = a.form};
    for (int rank = 0; rank < parts; ++rank) plan.device.push_back(rank);
    nonzero_partition entries = equal_entries(a.entries(), parts);
    if (a.form != streamed_form::coo_unsorted) {
        const row_partition major_size = equal_rows(a.major_size(), parts);
        for (int k = 1; k < parts; ++k)
            entries.begin[as_size(k)] = first_entry(a, major_size.begin[as_size(k)]);
    }
    fill(plan, a, entries);
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
    const std::size_t ranges = as_size(plan.parts()) * as_size(plan.ranges);
    if (plan.parts() == 0 || plan.major_ranges.size() != ranges)
        throw usage_error("streamed_plan: there are " + to_string(plan.major_ranges.size()) +
                          " shares, must be " + to_string(ranges) + ", at least 1");
    const char* const major = by_columns(a.form) ? "column" : "row";
    if (compressed(a.form))
        check(plan.major_ranges, a.offsets, major);
    else if (a.form != streamed_form::coo_unsorted)
        check_sorted(plan.major_ranges, a.major_size(), a.major_indices(), major);
    check(plan.results, a.rows);
    if (!by_rows(a.form)) return;
    if (plan.results != owned_indices(plan.major_ranges))
        throw usage_error("streamed_plan: results must be the rows that the pieces own");
    for (std::size_t q = 0; q < ranges; ++q) { // shares no code with shared_indices
        std::size_t last = q;
        const major_range& mine = plan.major_ranges[q];
        for (std::size_t k = q + 1; k < ranges && mine.owned().size() > 0; ++k)
            if (plan.major_ranges[k].start_flag &&
                plan.major_ranges[k].start_major == mine.end_major - 1)
                last = k;
        if (plan.last.size() != ranges || plan.last[q] != static_cast<int>(last))
            throw usage_error(
                "streamed_plan: the last piece with entries of the last row of piece " +
                to_string(q) + " must be " + to_string(last));
    }
}

template void check_sizes(const streamed_matrix<double>&);
template void check_sizes(const streamed_matrix<float>&);
template streamed_plan plan_streamed(const streamed_matrix<double>&, std::span<const int>, int);
template streamed_plan plan_streamed(const streamed_matrix<float>&, std::span<const int>, int);
template streamed_plan plan_equal_majors(const streamed_matrix<double>&, int);
template streamed_plan plan_equal_majors(const streamed_matrix<float>&, int);
template void check(const streamed_plan&, const streamed_matrix<double>&);
template void check(const streamed_plan&, const streamed_matrix<float>&);

} // namespace krylith

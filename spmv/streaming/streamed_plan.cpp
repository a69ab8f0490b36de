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
    throw input_error(std::string("one_shot_product: ") + what + " has " + to_string(found) +
                      " numbers, must have " + allowed);
}

/// Shares, results and last pieces of entries that are dealt already.
template <class T>
void fill(one_shot_plan& plan, const one_shot_matrix<T>& a, const entry_partition& entries) {
    if (a.form == one_shot_form::coo_unsorted) // any of a part's entries may be in any row
        for (int q = 0; q < entries.parts(); ++q)
            plan.shares.push_back(
                {entries.begin[as_size(q)], entries.begin[as_size(q) + 1], 0, a.rows, false});
    else if (compressed(a.form))
        plan.shares = share_lines(a.offsets, entries);
    else
        plan.shares = share_sorted_lines(a.lines(), a.line_indices(), entries);
    for (const line_share& share : plan.shares)
        check_index_size("one_shot_product: entries of a piece", share.entries());
    if (!by_rows(a.form)) {
        plan.results = equal_rows(a.rows, plan.parts());
        return;
    }
    plan.results = owned_lines(plan.shares);
    for (int q = 0; q < entries.parts(); ++q) plan.last.push_back(q);
    for (const shared_line& shared : shared_lines(plan.shares))
        plan.last[as_size(shared.first_part)] = shared.last_part;
}

/// The first entry of a line.
template <class T>
std::int64_t first_entry(const one_shot_matrix<T>& a, std::int64_t line) {
    if (compressed(a.form))
        return std::clamp<std::int64_t>(a.offsets[as_size(line)], 0, a.entries());
    const auto found = std::ranges::lower_bound(a.line_indices(), line);
    return found - a.line_indices().begin();
}

} // namespace

const char* to_string(one_shot_form form) noexcept {
    switch (form) {
    case one_shot_form::csr: return "csr";
    case one_shot_form::csc: return "csc";
    case one_shot_form::coo_by_rows: return "coo by rows";
    case one_shot_form::coo_by_columns: return "coo by columns";
    default: return "coo unsorted";
    }
}

line_share one_shot_plan::share(int part) const {
    const line_share& first = shares[as_size(part) * as_size(pieces)];
    const line_share& last = shares[as_size(part + 1) * as_size(pieces) - 1];
    // The first piece may have no entries, and the flag then stands at one that has.
    std::int64_t start_line = first.start_line;
    bool flag = false;
    for (int q = part * pieces; q < (part + 1) * pieces && !flag; ++q) {
        flag = shares[as_size(q)].start_flag && shares[as_size(q)].start_line < first.start_line;
        if (flag) start_line = shares[as_size(q)].start_line;
    }
    return {first.start_idx, last.end_idx, start_line, last.end_line, flag || first.start_flag};
}

row_range one_shot_plan::results_of(int part) const {
    const int each = by_rows(form) ? pieces : 1;
    return {results.begin[as_size(part) * as_size(each)],
            results.begin[as_size(part + 1) * as_size(each)]};
}

template <class T>
void check_sizes(const one_shot_matrix<T>& a) {
    const std::size_t entries = a.values.size();
    check_index_size("one_shot_product: rows", a.rows);
    check_index_size("one_shot_product: columns", a.columns);
    if (compressed(a.form)) {
        if (a.offsets.size() != as_size(a.lines()) + 1)
            refuse("the pointer array", a.offsets.size(),
                   "one more than lines, " + to_string(a.lines() + 1));
        if (a.offsets.front() != 0 || a.offsets.back() != a.entries())
            throw input_error("one_shot_product: the pointer array runs from " +
                              to_string(a.offsets.front()) + " to " + to_string(a.offsets.back()) +
                              ", must run from 0 to the number of values, " + to_string(entries));
    }
    const std::string as_many = "as many as values, " + to_string(entries);
    if (a.form != one_shot_form::csr && a.row_indices.size() != entries)
        refuse("the array of row indices", a.row_indices.size(), as_many);
    if (a.form != one_shot_form::csc && a.column_indices.size() != entries)
        refuse("the array of column indices", a.column_indices.size(), as_many);
}

template <class T>
one_shot_plan plan_one_shot(const one_shot_matrix<T>& a, std::span<const int> node_of_device,
                            int pieces) {
    if (pieces < 1 || pieces > most_one_shot_pieces)
        throw usage_error("one_shot_product: pieces is " + to_string(pieces) + ", must be 1 to " +
                          to_string(most_one_shot_pieces));
    one_shot_plan plan{.form = a.form, .pieces = by_rows(a.form) ? pieces : 1};
    plan.device = make_numa_partition(a.entries(), node_of_device).device;
    fill(plan, a, equal_entries(a.entries(), plan.parts() * plan.pieces));
    return plan;
}

template <class T>
one_shot_plan plan_equal_lines(const one_shot_matrix<T>& a, int parts) {
    one_shot_plan plan{.form = a.form};
    for (int rank = 0; rank < parts; ++rank) plan.device.push_back(rank);
    entry_partition entries = equal_entries(a.entries(), parts);
    if (a.form != one_shot_form::coo_unsorted) {
        const row_partition lines = equal_rows(a.lines(), parts);
        for (int k = 1; k < parts; ++k)
            entries.begin[as_size(k)] = first_entry(a, lines.begin[as_size(k)]);
    }
    fill(plan, a, entries);
    return plan;
}

template <class T>
void check(const one_shot_plan& plan, const one_shot_matrix<T>& a) {
    std::vector<int> ranks = plan.device;
    std::ranges::sort(ranks);
    for (std::size_t k = 0; k < ranks.size(); ++k)
        if (ranks[k] != static_cast<int>(k))
            throw usage_error(
                "one_shot_plan: the devices of parts are no order of the ranks 0 to " +
                to_string(ranks.size() - 1));
    const std::size_t pieces = as_size(plan.parts()) * as_size(plan.pieces);
    if (plan.parts() == 0 || plan.shares.size() != pieces)
        throw usage_error("one_shot_plan: there are " + to_string(plan.shares.size()) +
                          " shares, must be " + to_string(pieces) + ", at least 1");
    const char* const line = by_columns(a.form) ? "column" : "row";
    if (compressed(a.form))
        check(plan.shares, a.offsets, line);
    else if (a.form != one_shot_form::coo_unsorted)
        check_sorted(plan.shares, a.lines(), a.line_indices(), line);
    check(plan.results, a.rows);
    if (!by_rows(a.form)) return;
    if (plan.results != owned_lines(plan.shares))
        throw usage_error("one_shot_plan: results must be the rows that the pieces own");
    for (std::size_t q = 0; q < pieces; ++q) { // shares no code with shared_lines
        std::size_t last = q;
        const line_share& mine = plan.shares[q];
        for (std::size_t k = q + 1; k < pieces && mine.owned().size() > 0; ++k)
            if (plan.shares[k].start_flag && plan.shares[k].start_line == mine.end_line - 1)
                last = k;
        if (plan.last.size() != pieces || plan.last[q] != static_cast<int>(last))
            throw usage_error(
                "one_shot_plan: the last piece with entries of the last row of piece " +
                to_string(q) + " must be " + to_string(last));
    }
}

template void check_sizes(const one_shot_matrix<double>&);
template void check_sizes(const one_shot_matrix<float>&);
template one_shot_plan plan_one_shot(const one_shot_matrix<double>&, std::span<const int>, int);
template one_shot_plan plan_one_shot(const one_shot_matrix<float>&, std::span<const int>, int);
template one_shot_plan plan_equal_lines(const one_shot_matrix<double>&, int);
template one_shot_plan plan_equal_lines(const one_shot_matrix<float>&, int);
template void check(const one_shot_plan&, const one_shot_matrix<double>&);
template void check(const one_shot_plan&, const one_shot_matrix<float>&);

} // namespace krylith

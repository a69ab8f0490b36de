#include <krylith/partition/halo/halo_plan.hpp>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/halo/column_set.hpp>
#include <krylith/partition/halo/rows_per_trip.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace krylith {
namespace {

using std::to_string;

// Names what is wrong in a row that find_ghosts found bad.
[[noreturn]] void refuse_row(std::int64_t row, std::span<const std::int64_t> row_offsets,
                             std::span<const std::int32_t> columns, std::int64_t n) {
    const std::int64_t begin = row_offsets.data()[row];
    const std::int64_t end = row_offsets.data()[row + 1];
    const auto nnz = static_cast<std::int64_t>(columns.size());
    const std::string place = "make_halo_plan: row " + to_string(row);
    if (begin < 0 || end < begin || end > nnz) {
        throw input_error(place + " has the offsets " + to_string(begin) + " and " +
                          to_string(end) + ", which must ascend from 0 to " + to_string(nnz));
    }
    std::int64_t k = begin;
    while (columns.data()[k] >= 0 && columns.data()[k] < n) {
        ++k;
    }
    throw input_error(place + " has column " + to_string(columns.data()[k]) + " at position " +
                      to_string(k) + ", must be 0 or more and below " + to_string(n));
}

// Whether the rows have only columns below n, and offsets that ascend. One that owns all columns
// has no ghosts then.
bool all_within(row_range rows, std::int64_t n, std::span<const std::int64_t> row_offsets,
                std::span<const std::int32_t> columns) {
    const std::int64_t* const offset = row_offsets.data();
    const std::int64_t first = offset[rows.begin];
    const std::int64_t last = offset[rows.end];
    if (first < 0 || last < first || last > static_cast<std::int64_t>(columns.size())) return false;
    int bad = 0; // a plain flag, so that the loops have no branches
#pragma omp parallel for schedule(static) reduction(| : bad) if (rows.size() > rows_per_trip)
    for (std::int64_t row = rows.begin; row < rows.end; ++row)
        bad |= offset[row + 1] < offset[row] ? 1 : 0;
    const std::int32_t* const column = columns.data();
    const auto limit = static_cast<std::uint32_t>(n);
#pragma omp parallel for schedule(static) reduction(| : bad) if (rows.size() > rows_per_trip)
    for (std::int64_t k = first; k < last; ++k)
        bad |= static_cast<std::uint32_t>(column[k]) >= limit ? 1 : 0;
    return bad == 0;
}

/// What the columns of one rank's rows say.
struct found_ghosts {
    std::vector<std::int64_t> ghosts;
    boundary_rows boundary;
};

// Reads the columns of one rank's rows once: collects its ghosts, where they are wanted, and
// classifies its rows. The matrix has n columns.
found_ghosts find_ghosts(row_range rows, row_range owned, std::int64_t n,
                         std::span<const std::int64_t> row_offsets,
                         std::span<const std::int32_t> columns, bool listed) {
    const auto nnz = static_cast<std::int64_t>(columns.size());
    found_ghosts result;
    if (rows.size() == 0) {
        return result;
    }
    result.boundary.touches_ghost.resize(static_cast<std::size_t>(rows.size()));
    if (owned.begin == 0 && owned.end == n && all_within(rows, n, row_offsets, columns)) {
        result.boundary.interior_rows = rows.size();
        return result;
    }
    column_set referenced(0, listed ? n : 0);

    const std::int64_t* const offset = row_offsets.data();
    const std::int32_t* const column = columns.data();
    std::uint8_t* const touches_ghost = result.boundary.touches_ghost.data();
    std::int64_t boundary_rows = 0;
    std::int64_t bad_row = rows.end; // the first one; exceptions can't leave the loop
#pragma omp parallel for schedule(dynamic, rows_per_trip) reduction(+ : boundary_rows)            \
    reduction(min : bad_row) if (rows.size() > rows_per_trip)
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const std::int64_t end = offset[row + 1];
        if (offset[row] < 0 || end < offset[row] || end > nnz) {
            bad_row = std::min(bad_row, row);
            continue;
        }
        bool touches = false;
        for (std::int64_t k = offset[row]; k < end; ++k) {
            const std::int64_t j = column[k];
            if (owned.contains(j)) {
                continue;
            }
            if (j < 0 || j >= n) {
                bad_row = std::min(bad_row, row);
                break;
            }
            if (listed) referenced.insert(j);
            touches = true;
        }
        touches_ghost[row - rows.begin] = touches ? 1 : 0;
        boundary_rows += touches ? 1 : 0;
    }
    if (bad_row < rows.end) {
        refuse_row(bad_row, row_offsets, columns, n);
    }
    referenced.seal();
    result.ghosts = referenced.members();
    result.boundary.interior_rows = rows.size() - boundary_rows;
    return result;
}

void check_pattern(const std::string& who, std::span<const std::int64_t> row_offsets,
                   std::span<const std::int32_t> columns, const row_partition& of_rows,
                   const row_partition& of_columns) {
    check(of_rows, of_rows.rows());
    check(of_columns, of_columns.rows());
    if (of_columns.ranks() != of_rows.ranks()) {
        throw usage_error(who + ": the partition of columns has " + to_string(of_columns.ranks()) +
                          " ranks, that of rows " + to_string(of_rows.ranks()) +
                          ", they must have the same number");
    }
    const auto entries = static_cast<std::int64_t>(row_offsets.size());
    if (entries != of_rows.rows() + 1) {
        throw input_error(who + ": row_offsets has " + to_string(entries) +
                          " entries, must have one more than the partition has rows, " +
                          to_string(of_rows.rows() + 1));
    }
    const auto nnz = static_cast<std::int64_t>(columns.size());
    if (row_offsets.front() != 0 || row_offsets.back() != nnz) {
        throw input_error(who + ": row_offsets runs from " + to_string(row_offsets.front()) +
                          " to " + to_string(row_offsets.back()) +
                          ", must run from 0 to the number of columns given, " + to_string(nnz));
    }
}

/// The plan with lists of ghosts, or with all columns of others on ranks with rows.
halo_plan make_plan(std::span<const std::int64_t> row_offsets,
                    std::span<const std::int32_t> columns, row_partition of_rows,
                    row_partition of_columns, bool listed) {
    check_pattern(listed ? "make_halo_plan" : "make_allgather_plan", row_offsets, columns, of_rows,
                  of_columns);
    halo_plan plan;
    // Too many rows for a rank are refused before the pattern is read.
    plan.columns = listed ? index_map(of_columns) : all_columns(of_rows, of_columns);
    std::vector<local_indices> local;
    for (int rank = 0; rank < of_rows.ranks(); ++rank) {
        const row_range owned = of_columns.owned(rank);
        found_ghosts found = find_ghosts(of_rows.owned(rank), owned, of_columns.rows(), row_offsets,
                                         columns, listed);
        local.emplace_back(owned, std::move(found.ghosts));
        plan.boundary.push_back(std::move(found.boundary));
    }
    if (listed) plan.columns = {std::move(of_columns), std::move(local)};
    plan.rows = std::move(of_rows);
    return plan;
}

} // namespace

halo_plan make_halo_plan(std::span<const std::int64_t> row_offsets,
                         std::span<const std::int32_t> columns, row_partition of_rows,
                         row_partition of_columns) {
    return make_plan(row_offsets, columns, std::move(of_rows), std::move(of_columns), true);
}

halo_plan make_allgather_plan(std::span<const std::int64_t> row_offsets,
                              std::span<const std::int32_t> columns, row_partition of_rows,
                              row_partition of_columns) {
    return make_plan(row_offsets, columns, std::move(of_rows), std::move(of_columns), false);
}

index_map all_columns(const row_partition& of_rows, row_partition of_columns) {
    std::vector<local_indices> local;
    for (int rank = 0; rank < of_columns.ranks(); ++rank) {
        const row_range owned = of_columns.owned(rank);
        local.push_back(of_rows.owned(rank).size() == 0
                            ? local_indices(owned)
                            : local_indices::all(owned, of_columns.rows()));
    }
    return {std::move(of_columns), std::move(local)};
}

boundary_rows find_boundary(std::span<const std::int64_t> offsets,
                            std::span<const std::int32_t> local_columns,
                            const local_indices& indices) {
    const row_range owned{indices.first_owned(), indices.first_owned() + indices.owned().size()};
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    boundary_rows result;
    result.touches_ghost.resize(static_cast<std::size_t>(rows));
    std::uint8_t* const touches_ghost = result.touches_ghost.data();
    std::int64_t interior = 0;
#pragma omp parallel for schedule(static) reduction(+ : interior) if (rows > rows_per_trip)
    for (std::int64_t row = 0; row < rows; ++row) {
        bool touches = false;
        for (std::int64_t k = offsets.data()[row]; k < offsets.data()[row + 1]; ++k)
            touches = touches || !owned.contains(local_columns.data()[k]);
        touches_ghost[row] = touches ? 1 : 0;
        interior += touches ? 0 : 1;
    }
    result.interior_rows = interior;
    return result;
}

void localize_columns(const halo_plan& plan, int rank, std::span<const std::int64_t> row_offsets,
                      std::span<const std::int32_t> columns,
                      std::span<std::int32_t> local_columns) {
    const row_range rows = plan.rows.owned(rank);
    const row_range owned = plan.columns.owned(rank);
    if (static_cast<std::int64_t>(row_offsets.size()) != plan.rows.rows() + 1) {
        throw usage_error("localize_columns: row_offsets has " + to_string(row_offsets.size()) +
                          " entries, must have " + to_string(plan.rows.rows() + 1));
    }
    const std::int64_t first = row_offsets.data()[rows.begin];
    const std::int64_t last = row_offsets.data()[rows.end];
    const auto nnz = static_cast<std::int64_t>(columns.size());
    if (first < 0 || last < first || last > nnz) {
        throw usage_error("localize_columns: the offsets of rank " + to_string(rank) +
                          " run from " + to_string(first) + " to " + to_string(last) +
                          ", must ascend from 0 to the number of columns given, " + to_string(nnz));
    }
    if (static_cast<std::int64_t>(local_columns.size()) != last - first) {
        throw usage_error("localize_columns: local_columns has " + to_string(local_columns.size()) +
                          " entries, must have " + to_string(last - first) +
                          ", the nonzeros of rank " + to_string(rank));
    }

    const local_indices& indices = plan.columns.local(rank);
    const std::vector<std::int64_t>& ghosts = indices.ghosts();
    column_set ghost_set(ghosts.empty() ? 0 : ghosts.front(),
                         ghosts.empty() ? 0 : ghosts.back() + 1);
    const std::int64_t* const ghost = ghosts.data();
    const auto ghost_count = static_cast<std::int64_t>(ghosts.size());
#pragma omp parallel for schedule(static) if (ghost_count > 65536)
    for (std::int64_t k = 0; k < ghost_count; ++k) {
        ghost_set.insert(ghost[k]);
    }
    ghost_set.seal();

    const bool has_all = plan.columns.has_all(rank);
    const std::int32_t* const from = columns.data() + first;
    std::int32_t* const to = local_columns.data();
    const std::int64_t count = last - first;
    std::int64_t bad = count; // the first one; exceptions can't leave the loop
    // The loop runs over nonzeros and not rows: row ends don't matter here, and threads get equal
    // work.
#pragma omp parallel for schedule(static) reduction(min : bad) if (count > 65536)
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t j = from[k];
        if (has_all && j >= 0 && j < plan.columns.size()) {
            to[k] = static_cast<std::int32_t>(j);
        } else if (owned.contains(j) || ghost_set.contains(j)) {
            to[k] = ghost_set.local_number(indices, j);
        } else {
            bad = std::min(bad, k);
        }
    }
    if (bad < count) {
        throw input_error("localize_columns: column " + to_string(from[bad]) + " at position " +
                          to_string(first + bad) + " is neither owned by rank " + to_string(rank) +
                          " nor one of its ghosts: the plan is for another pattern");
    }
}

} // namespace krylith

#include <krylith/partition/allgather/allgather_plan.hpp>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/halo/rows_per_trip.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace krylith {
namespace {

using std::to_string;

void check_offsets(const char* who, std::span<const std::int64_t> row_offsets,
                   const row_partition& partition) {
    const auto entries = static_cast<std::int64_t>(row_offsets.size());
    if (entries != partition.rows() + 1)
        throw usage_error(std::string(who) + ": row_offsets has " + to_string(entries) +
                          " entries, must have one more than the partition has rows, " +
                          to_string(partition.rows() + 1));
}

/// Classifies rows by whether they reference a column that is not owned.
allgather_plan::local_rows classify(row_range rows, row_range owned,
                                    std::span<const std::int64_t> row_offsets,
                                    std::span<const std::int32_t> columns) {
    allgather_plan::local_rows result;
    result.touches_ghost.resize(static_cast<std::size_t>(rows.size()));
    const std::int64_t* const offset = row_offsets.data();
    const std::int32_t* const column = columns.data();
    std::uint8_t* const touches_ghost = result.touches_ghost.data();
    std::int64_t interior = 0;
#pragma omp parallel for schedule(dynamic, rows_per_trip) reduction(+ : interior)                  \
    if (rows.size() > rows_per_trip)
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        bool touches = false;
        for (std::int64_t k = offset[row]; k < offset[row + 1] && !touches; ++k)
            touches = !owned.contains(column[k]);
        touches_ghost[row - rows.begin] = touches ? 1 : 0;
        interior += touches ? 0 : 1;
    }
    result.interior_rows = interior;
    return result;
}

} // namespace

std::int64_t allgather_plan::ghost_count(int rank) const {
    return rows.owned(rank).size() == 0 ? 0 : columns.rows() - columns.owned(rank).size();
}

std::int64_t allgather_plan::position(int rank, int owner) const {
    const row_range mine = columns.owned(rank);
    const row_range theirs = columns.owned(owner);
    return theirs.begin < mine.begin ? theirs.begin : theirs.begin - mine.size();
}

std::int32_t allgather_plan::local_size(int rank) const {
    return narrow_index_size("allgather_plan: the number of entries that rank " + to_string(rank) +
                                 " owns and receives",
                             columns.owned(rank).size() + ghost_count(rank));
}

allgather_plan make_allgather_plan(std::span<const std::int64_t> row_offsets,
                                   std::span<const std::int32_t> columns, row_partition of_rows,
                                   row_partition of_columns) {
    check(of_rows, of_rows.rows());
    check(of_columns, of_columns.rows());
    check_offsets("make_allgather_plan", row_offsets, of_rows);
    const int ranks = of_rows.ranks();
    if (of_columns.ranks() != ranks)
        throw usage_error("make_allgather_plan: the partition of columns has " +
                          to_string(of_columns.ranks()) + " ranks, that of rows " +
                          to_string(ranks) + ", they must have the same number");
    allgather_plan plan{std::move(of_rows), std::move(of_columns), {}};
    plan.local.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        static_cast<void>(plan.local_size(rank)); // throws if it is too large
        plan.local.push_back(
            classify(plan.rows.owned(rank), plan.columns.owned(rank), row_offsets, columns));
    }
    return plan;
}

void localize_columns(const allgather_plan& plan, int rank,
                      std::span<const std::int64_t> row_offsets,
                      std::span<const std::int32_t> columns,
                      std::span<std::int32_t> local_columns) {
    const row_range rows = plan.rows.owned(rank);
    const row_range owned = plan.columns.owned(rank);
    check_offsets("localize_columns", row_offsets, plan.rows);
    const std::int64_t first = row_offsets[static_cast<std::size_t>(rows.begin)];
    const std::int64_t count = row_offsets[static_cast<std::size_t>(rows.end)] - first;
    if (static_cast<std::int64_t>(local_columns.size()) != count)
        throw usage_error("localize_columns: local_columns has " + to_string(local_columns.size()) +
                          " entries, must have " + to_string(count) + ", the nonzeros of rank " +
                          to_string(rank));
    // Columns before the owned ones move up by the number owned, the owned ones to 0, later ones
    // stay.
    const auto begin = static_cast<std::int32_t>(owned.begin);
    const auto end = static_cast<std::int32_t>(owned.end);
    const std::int32_t* const from = columns.data() + first;
    std::int32_t* const to = local_columns.data();
#pragma omp parallel for simd schedule(static) if (count > 65536)
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int32_t j = from[k];
        to[k] = j < begin ? j + (end - begin) : (j < end ? j - begin : j);
    }
}

} // namespace krylith

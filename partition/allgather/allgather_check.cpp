// The contract of an allgather plan, written as plainly as possible: the builder is tested by it.
#include <krylith/partition/allgather/allgather_plan.hpp>

#include <krylith/device/error.hpp>

#include <cstddef>
#include <string>

namespace krylith {
namespace {

using std::to_string;

[[noreturn]] void refuse_allgather(int rank, const std::string& what) {
    throw usage_error("allgather_plan: rank " + to_string(rank) + ": " + what);
}

void check_rows(const allgather_plan& plan, int rank, std::span<const std::int64_t> row_offsets,
                std::span<const std::int32_t> columns) {
    const row_range rows = plan.rows.owned(rank);
    const row_range owned = plan.columns.owned(rank);
    const auto& mine = plan.local[static_cast<std::size_t>(rank)];
    if (static_cast<std::int64_t>(mine.touches_ghost.size()) != rows.size())
        refuse_allgather(rank, "classifies " + to_string(mine.touches_ghost.size()) +
                                   " rows, must be " + to_string(rows.size()));
    std::int64_t interior = 0;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        bool touches = false;
        for (std::int64_t k = row_offsets[static_cast<std::size_t>(row)];
             k < row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
            if (!owned.contains(columns[static_cast<std::size_t>(k)])) touches = true;
        if (!touches) ++interior;
        const int said = mine.touches_ghost[static_cast<std::size_t>(row - rows.begin)];
        if (said != (touches ? 1 : 0))
            refuse_allgather(rank, "row " + to_string(row) + " is marked " + to_string(said) +
                                       ", must be " + (touches ? "1" : "0"));
    }
    if (mine.interior_rows != interior)
        refuse_allgather(rank, "has " + to_string(mine.interior_rows) + " interior rows, must be " +
                                   to_string(interior));
}

void check_positions(const allgather_plan& plan, int rank) {
    std::int64_t covered = 0;
    if (plan.rows.owned(rank).size() != 0)
        for (int owner = 0; owner < plan.columns.ranks(); ++owner) {
            const std::int64_t count = plan.columns.owned(owner).size();
            if (owner == rank || count == 0) continue;
            if (plan.position(rank, owner) != covered)
                refuse_allgather(rank, "the entries of rank " + to_string(owner) + " begin at " +
                                           to_string(plan.position(rank, owner)) + ", must be " +
                                           to_string(covered));
            covered += count;
        }
    if (plan.ghost_count(rank) != covered)
        refuse_allgather(rank, "has " + to_string(plan.ghost_count(rank)) + " ghosts, must be " +
                                   to_string(covered));
}

} // namespace

void check(const allgather_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns) {
    check(plan.rows, static_cast<std::int64_t>(row_offsets.size()) - 1);
    check(plan.columns, plan.columns.rows());
    const auto ranks = static_cast<std::size_t>(plan.rows.ranks());
    if (plan.columns.ranks() != plan.rows.ranks())
        throw usage_error("allgather_plan: the partition of columns has " +
                          to_string(plan.columns.ranks()) + " ranks, that of rows " +
                          to_string(ranks) + ", they must have the same number");
    if (plan.local.size() != ranks)
        throw usage_error("allgather_plan: has " + to_string(plan.local.size()) +
                          " ranks, the partition has " + to_string(ranks));
    for (int rank = 0; rank < plan.rows.ranks(); ++rank) {
        check_rows(plan, rank, row_offsets, columns);
        check_positions(plan, rank);
    }
}

} // namespace krylith

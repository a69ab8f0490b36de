// The contract of a halo plan, written as plainly as possible: the builder is tested by it.
#include <krylith/partition/halo/halo_plan.hpp>

#include <krylith/device/error.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace krylith {
namespace {

using std::to_string;

[[noreturn]] void refuse_halo(int rank, const std::string& what) {
    throw usage_error("halo_plan: rank " + to_string(rank) + ": " + what);
}

std::int64_t size_of(const auto& values) {
    return static_cast<std::int64_t>(values.size());
}

// A rank with rows that has no list of ghosts has all columns.
void check_whole(const halo_plan& plan, int rank) {
    const std::int64_t others = plan.rows.owned(rank).size() == 0
                                    ? 0
                                    : plan.columns.size() - plan.columns.owned(rank).size();
    if (plan.ghost_count(rank) != others) {
        refuse_halo(rank, "has " + to_string(plan.ghost_count(rank)) +
                              " ghosts and no list of them, must have " + to_string(others));
    }
}

// Ghosts are what the rows reference from elsewhere, no more and no less; rows are classified.
void check_references(const halo_plan& plan, int rank, std::span<const std::int64_t> row_offsets,
                      std::span<const std::int32_t> columns) {
    const boundary_rows& mine = plan.boundary[static_cast<std::size_t>(rank)];
    const std::vector<std::int64_t>& ghosts = plan.columns.local(rank).ghosts();
    const bool listed = !plan.columns.is_whole();
    const row_range rows = plan.rows.owned(rank);
    const row_range owned = plan.columns.owned(rank);
    if (size_of(mine.touches_ghost) != rows.size()) {
        refuse_halo(rank, "touches_ghost has " + to_string(mine.touches_ghost.size()) +
                              " entries, must have one for each of " + to_string(rows.size()) +
                              " rows");
    }
    std::vector<bool> referenced(ghosts.size());
    std::int64_t interior_rows = 0;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const auto i = static_cast<std::size_t>(row);
        bool touches = false;
        for (std::int64_t k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
            const std::int64_t column = columns[static_cast<std::size_t>(k)];
            if (owned.contains(column)) {
                continue;
            }
            touches = true;
            if (!listed) {
                continue;
            }
            const auto ghost = std::ranges::lower_bound(ghosts, column);
            if (ghost == ghosts.end() || *ghost != column) {
                refuse_halo(rank, "row " + to_string(row) + " references column " +
                                      to_string(column) + ", which is neither owned nor a ghost");
            }
            referenced[static_cast<std::size_t>(ghost - ghosts.begin())] = true;
        }
        const int found = mine.touches_ghost[static_cast<std::size_t>(row - rows.begin)];
        if (found != (touches ? 1 : 0)) {
            refuse_halo(rank, "touches_ghost of row " + to_string(row) + " is " + to_string(found) +
                                  ", must be " + to_string(touches ? 1 : 0));
        }
        interior_rows += touches ? 0 : 1;
    }
    const auto idle = std::ranges::find(referenced, false);
    if (idle != referenced.end()) {
        const auto k = static_cast<std::size_t>(idle - referenced.begin());
        refuse_halo(rank, "ghost " + to_string(ghosts[k]) + " is referenced by no row");
    }
    if (mine.interior_rows != interior_rows) {
        refuse_halo(rank, "interior_rows is " + to_string(mine.interior_rows) + ", must be " +
                              to_string(interior_rows));
    }
}

} // namespace

void check(const halo_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns) {
    if (row_offsets.empty()) {
        throw usage_error("halo_plan: row_offsets has 0 entries, must have rows + 1");
    }
    check(plan.rows, size_of(row_offsets) - 1);
    check(plan.columns.owners(), plan.columns.size());
    const int ranks = plan.rows.ranks();
    if (plan.columns.ranks() != ranks) {
        throw usage_error("halo_plan: the partition of columns has " +
                          to_string(plan.columns.ranks()) + " ranks, that of rows " +
                          to_string(ranks) + ", they must have the same number");
    }
    if (size_of(plan.boundary) != ranks) {
        throw usage_error("halo_plan: describes " + to_string(plan.boundary.size()) +
                          " ranks, must describe the partition's " + to_string(ranks));
    }
    for (int rank = 0; rank < ranks; ++rank) {
        if (plan.columns.is_whole()) check_whole(plan, rank);
        check_references(plan, rank, row_offsets, columns);
    }
}

} // namespace krylith

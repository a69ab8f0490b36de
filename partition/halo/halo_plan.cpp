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

const local_halo& part_at(const halo_plan& plan, int rank) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= plan.local.size()) {
        throw usage_error("halo_plan: rank is " + to_string(rank) +
                          ", must be 0 or more and below " + to_string(plan.local.size()));
    }
    return plan.local[static_cast<std::size_t>(rank)];
}

std::int32_t narrow_local_size(int rank, std::int64_t owned, std::int64_t ghosts) {
    const std::int64_t largest = index_size_limit();
    if (owned > largest || ghosts > largest - owned) {
        throw input_error("halo_plan: rank " + to_string(rank) + " owns " + to_string(owned) +
                          " columns and references " + to_string(ghosts) +
                          " ghosts; local indices have 32 bits, so both together must be at most " +
                          to_string(largest) + ": use more devices");
    }
    return static_cast<std::int32_t>(owned + ghosts);
}

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

// Reads the columns of one rank's rows once: collects its ghosts and classifies its rows. The
// matrix has n columns.
local_halo find_ghosts(row_range rows, row_range owned, std::int64_t n,
                       std::span<const std::int64_t> row_offsets,
                       std::span<const std::int32_t> columns) {
    const auto nnz = static_cast<std::int64_t>(columns.size());
    local_halo result;
    if (rows.size() == 0) {
        return result;
    }
    result.touches_ghost.resize(static_cast<std::size_t>(rows.size()));
    if (owned.begin == 0 && owned.end == n && all_within(rows, n, row_offsets, columns)) {
        result.interior_rows = rows.size();
        return result;
    }
    column_set referenced(0, n);

    const std::int64_t* const offset = row_offsets.data();
    const std::int32_t* const column = columns.data();
    std::uint8_t* const touches_ghost = result.touches_ghost.data();
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
            referenced.insert(j);
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
    result.interior_rows = rows.size() - boundary_rows;
    return result;
}

// Groups ascending ghosts by owner. O(peers log ghosts).
std::vector<halo_receive> group_by_owner(const std::vector<std::int64_t>& ghosts,
                                         const row_partition& columns) {
    std::vector<halo_receive> result;
    for (auto first = ghosts.begin(); first != ghosts.end();) {
        const int peer = columns.owner(*first);
        const auto last = std::lower_bound(first, ghosts.end(), columns.owned(peer).end);
        result.push_back({peer, first - ghosts.begin(), last - first});
        first = last;
    }
    return result;
}

// The other side of a receive: the same entries as local ones of the rank that owns them.
halo_send mirror(const halo_receive& receive, int receiver, const std::vector<std::int64_t>& ghosts,
                 row_range owned_by_sender) {
    halo_send result{receiver, {}, receive.first};
    result.rows.resize(static_cast<std::size_t>(receive.count));
    const std::int64_t* const from = ghosts.data() + receive.first;
    std::int32_t* const to = result.rows.data();
#pragma omp parallel for schedule(static) if (receive.count > 1 << 20)
    for (std::int64_t k = 0; k < receive.count; ++k) {
        to[k] = static_cast<std::int32_t>(from[k] - owned_by_sender.begin);
    }
    return result;
}

} // namespace

std::int64_t halo_plan::ghost_count(int rank) const {
    return static_cast<std::int64_t>(part_at(*this, rank).ghosts.size());
}

std::int64_t halo_plan::send_count(int rank) const {
    std::int64_t result = 0;
    for (const halo_send& send : part_at(*this, rank).sends) {
        result += static_cast<std::int64_t>(send.rows.size());
    }
    return result;
}

std::int32_t halo_plan::local_size(int rank) const {
    return narrow_local_size(rank, columns.owned(rank).size(), ghost_count(rank));
}

halo_plan make_halo_plan(std::span<const std::int64_t> row_offsets,
                         std::span<const std::int32_t> columns, row_partition of_rows,
                         row_partition of_columns) {
    check(of_rows, of_rows.rows());
    check(of_columns, of_columns.rows());
    const int ranks = of_rows.ranks();
    if (of_columns.ranks() != ranks) {
        throw usage_error("make_halo_plan: the partition of columns has " +
                          to_string(of_columns.ranks()) + " ranks, that of rows " +
                          to_string(ranks) + ", they must have the same number");
    }
    for (int rank = 0; rank < ranks; ++rank) {
        narrow_local_size(rank, of_columns.owned(rank).size(), 0);
    }
    const auto entries = static_cast<std::int64_t>(row_offsets.size());
    if (entries != of_rows.rows() + 1) {
        throw input_error("make_halo_plan: row_offsets has " + to_string(entries) +
                          " entries, must have one more than the partition has rows, " +
                          to_string(of_rows.rows() + 1));
    }
    const auto nnz = static_cast<std::int64_t>(columns.size());
    if (row_offsets.front() != 0 || row_offsets.back() != nnz) {
        throw input_error("make_halo_plan: row_offsets runs from " +
                          to_string(row_offsets.front()) + " to " + to_string(row_offsets.back()) +
                          ", must run from 0 to the number of columns given, " + to_string(nnz));
    }

    halo_plan plan{std::move(of_rows), std::move(of_columns), {}};
    plan.local.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        plan.local.push_back(find_ghosts(plan.rows.owned(rank), plan.columns.owned(rank),
                                         plan.columns.rows(), row_offsets, columns));
        static_cast<void>(plan.local_size(rank)); // throws if it is too large
    }
    match_ghosts(plan);
    return plan;
}

void match_ghosts(halo_plan& plan) {
    const int ranks = plan.columns.ranks();
    for (int rank = 0; rank < ranks; ++rank) {
        static_cast<void>(plan.local_size(rank)); // throws if it is too large
    }
    for (int rank = 0; rank < ranks; ++rank) {
        local_halo& mine = plan.local[static_cast<std::size_t>(rank)];
        mine.receives = group_by_owner(mine.ghosts, plan.columns);
        for (const halo_receive& receive : mine.receives) {
            local_halo& peer = plan.local[static_cast<std::size_t>(receive.peer)];
            peer.sends.push_back(
                mirror(receive, rank, mine.ghosts, plan.columns.owned(receive.peer)));
        }
    }
    for (int rank = 0; rank < ranks; ++rank) { // puts number their entries in 32 bits
        check_index_size("halo_plan: the number of entries that rank " + to_string(rank) +
                             " sends to all others",
                         plan.send_count(rank));
    }
}

void localize_columns(const halo_plan& plan, int rank, std::span<const std::int64_t> row_offsets,
                      std::span<const std::int32_t> columns,
                      std::span<std::int32_t> local_columns) {
    const row_range rows = plan.rows.owned(rank);
    const row_range owned = plan.columns.owned(rank);
    static_cast<void>(plan.local_size(rank)); // throws if an index could exceed 32 bits
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

    const std::vector<std::int64_t>& ghosts = part_at(plan, rank).ghosts;
    column_set ghost_set(ghosts.empty() ? 0 : ghosts.front(),
                         ghosts.empty() ? 0 : ghosts.back() + 1);
    const std::int64_t* const ghost = ghosts.data();
    const std::int64_t ghost_count = plan.ghost_count(rank);
#pragma omp parallel for schedule(static) if (ghost_count > 65536)
    for (std::int64_t k = 0; k < ghost_count; ++k) {
        ghost_set.insert(ghost[k]);
    }
    ghost_set.seal();

    const std::int64_t owned_size = owned.size();
    const std::int32_t* const from = columns.data() + first;
    std::int32_t* const to = local_columns.data();
    const std::int64_t count = last - first;
    std::int64_t bad = count; // the first one; exceptions can't leave the loop
    // The loop runs over nonzeros and not rows: row ends don't matter here, and threads get equal
    // work.
#pragma omp parallel for schedule(static) reduction(min : bad) if (count > 65536)
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t j = from[k];
        if (owned.contains(j)) {
            to[k] = static_cast<std::int32_t>(j - owned.begin);
        } else if (ghost_set.contains(j)) {
            to[k] = static_cast<std::int32_t>(owned_size + ghost_set.rank(j));
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

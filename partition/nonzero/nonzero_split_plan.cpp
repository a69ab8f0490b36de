#include <krylith/partition/nonzero/nonzero_split_plan.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/halo/column_set.hpp>

namespace krylith {

namespace {

using std::to_string;

void require_split_sizes(std::span<const std::int64_t> row_offsets,
                         std::span<const std::int32_t> columns,
                         const nonzero_assignment& assigned) {
    check(assigned.rows, assigned.rows.rows());
    check(assigned.columns, assigned.columns.rows());
    if (assigned.rows.ranks() != assigned.columns.ranks())
        throw usage_error("make_nonzero_split_plan: the partition of columns has " +
                          to_string(assigned.columns.ranks()) + " ranks, that of rows " +
                          to_string(assigned.rows.ranks()) + ", they must have the same number");
    if (static_cast<std::int64_t>(row_offsets.size()) != assigned.rows.rows() + 1 ||
        row_offsets.back() != static_cast<std::int64_t>(columns.size()) ||
        assigned.holder.size() != columns.size())
        throw usage_error("make_nonzero_split_plan: " + to_string(row_offsets.size()) +
                          " offsets, " + to_string(columns.size()) + " columns, " +
                          to_string(assigned.rows.rows()) + " rows and " +
                          to_string(assigned.holder.size()) + " holders don't belong together");
    const auto entries = static_cast<std::int64_t>(columns.size());
    std::int64_t bad = entries; // the first
#pragma omp parallel for schedule(static) reduction(min : bad) if (entries > 65536)
    for (std::int64_t k = 0; k < entries; ++k)
        if (assigned.holder[as_size(k)] >= assigned.rows.ranks()) bad = std::min(bad, k);
    if (bad != entries)
        throw usage_error("make_nonzero_split_plan: entry " + to_string(bad) + " is held by part " +
                          to_string(int{assigned.holder[as_size(bad)]}) + ", must be below " +
                          to_string(assigned.rows.ranks()));
}

/// What consecutive rows give to one part, or all rows before them.
struct assigned_count {
    std::int64_t own = 0; ///< entries
    std::int64_t remote = 0;
    std::int64_t remote_rows = 0;
};

/// Calls take(part, row, k, is_own, is_first) for the entries of rows [begin, end) in their order;
/// `is_first` for a part's first entry of a row that it doesn't own. `last_row` has a place a part
/// and is the caller's: a thread of a team may not throw, and so not allocate.
template <class Take>
void for_entries(std::span<const std::int64_t> row_offsets, const nonzero_assignment& assigned,
                 row_range rows, std::span<std::int64_t> last_row, Take take) {
    if (rows.size() == 0) return;
    int owner = assigned.rows.owner(rows.begin);
    std::ranges::fill(last_row, -1);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        while (row >= assigned.rows.begin[as_size(owner) + 1]) ++owner;
        for (std::int64_t k = row_offsets[as_size(row)]; k < row_offsets[as_size(row + 1)]; ++k) {
            const int rank = assigned.holder[as_size(k)];
            take(rank, row, k, rank == owner, rank != owner && last_row[as_size(rank)] != row);
            last_row[as_size(rank)] = row;
        }
    }
}

/// Puts entries into blocks, with global columns. Two passes in the order of rows, with OpenMP over
/// chunks of rows: how much each gives to whom, and then where it goes.
void deal(nonzero_split_plan& plan, std::span<const std::int64_t> row_offsets,
          std::span<const std::int32_t> columns, const nonzero_assignment& assigned) {
    constexpr std::int64_t chunk_rows = 16384;
    const std::int64_t n = assigned.rows.rows();
    const std::int64_t chunks = (n + chunk_rows - 1) / chunk_rows;
    const std::size_t ranks = plan.local.size();
    const auto rows_of = [&](std::int64_t chunk) {
        return row_range{chunk * chunk_rows, std::min(n, (chunk + 1) * chunk_rows)};
    };
    const auto of_chunk = [&](auto& values, std::int64_t chunk) {
        return std::span(values).subspan(as_size(chunk) * ranks, ranks);
    };
    std::vector<assigned_count> counts(as_size(chunks) * ranks);
    std::vector<std::int64_t> last_rows(as_size(chunks) * ranks);
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        const auto count = of_chunk(counts, chunk);
        for_entries(row_offsets, assigned, rows_of(chunk), of_chunk(last_rows, chunk),
                    [&](int rank, std::int64_t, std::int64_t, bool is_own, bool is_first) {
                        assigned_count& c = count[as_size(rank)];
                        ++(is_own ? c.own : c.remote);
                        c.remote_rows += is_first ? 1 : 0;
                    });
    }
    std::vector<assigned_count> before(ranks);
    for (std::size_t c = 0; c < counts.size(); ++c) {
        assigned_count& sum = before[c % ranks];
        const assigned_count count = std::exchange(counts[c], sum);
        sum = {sum.own + count.own, sum.remote + count.remote, sum.remote_rows + count.remote_rows};
    }
    for (std::size_t p = 0; p < ranks; ++p) {
        local_split& rank = plan.local[p];
        rank.own.columns.resize(as_size(before[p].own));
        rank.own.source.resize(as_size(before[p].own));
        rank.own.offsets.assign(as_size(assigned.rows.owned(static_cast<int>(p)).size()) + 1, 0);
        rank.remote.columns.resize(as_size(before[p].remote));
        rank.remote.source.resize(as_size(before[p].remote));
        rank.remote.offsets.assign(as_size(before[p].remote_rows) + 1, 0);
        rank.remote_rows.resize(as_size(before[p].remote_rows));
    }
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        const auto at = of_chunk(counts, chunk);
        for_entries(row_offsets, assigned, rows_of(chunk), of_chunk(last_rows, chunk),
                    [&](int p, std::int64_t row, std::int64_t k, bool is_own, bool is_first) {
                        local_split& rank = plan.local[as_size(p)];
                        assigned_count& c = at[as_size(p)];
                        if (is_first) rank.remote_rows[as_size(c.remote_rows++)] = row;
                        nonzero_split_block& block = is_own ? rank.own : rank.remote;
                        const std::size_t place = as_size(is_own ? c.own++ : c.remote++);
                        block.columns[place] = columns[as_size(k)];
                        block.source[place] = k;
                        const std::int64_t major =
                            is_own ? row - assigned.rows.owned(p).begin : c.remote_rows - 1;
                        block.offsets[as_size(major) + 1] = static_cast<std::int64_t>(place) + 1;
                    });
    }
    for (local_split& rank : plan.local) // rows without own entries end where the row before does
        for (std::size_t row = 1; row < rank.own.offsets.size(); ++row)
            rank.own.offsets[row] = std::max(rank.own.offsets[row], rank.own.offsets[row - 1]);
}

/// The columns of a part that owns those of `owned`, of n; the blocks then have local indices.
local_indices localize(local_split& rank, row_range owned, std::int64_t n) {
    column_set ghosts(0, n);
    for (const nonzero_split_block* block : {&rank.own, &rank.remote}) {
        const std::int32_t* const column = block->columns.data();
        const auto count = static_cast<std::int64_t>(block->columns.size());
#pragma omp parallel for schedule(static) if (count > 65536)
        for (std::int64_t k = 0; k < count; ++k)
            if (!owned.contains(column[k])) ghosts.insert(column[k]);
    }
    ghosts.seal();
    local_indices indices(owned, ghosts.members());
    check_index_size("make_nonzero_split_plan: owned columns and ghosts of a part",
                     indices.count());
    for (nonzero_split_block* block : {&rank.own, &rank.remote}) {
        std::int32_t* const column = block->columns.data();
        const auto count = static_cast<std::int64_t>(block->columns.size());
#pragma omp parallel for schedule(static) if (count > 65536)
        for (std::int64_t k = 0; k < count; ++k)
            column[k] = ghosts.local_number(indices, column[k]);
    }
    return indices;
}

} // namespace

void plan_partial_sums(nonzero_split_plan& plan) {
    struct arriving {
        std::int32_t row;
        std::int32_t slot;
    };
    // The slots of an owner are those of one sender after the other.
    std::vector<std::vector<arriving>> slots(plan.local.size());
    const row_partition& rows = plan.halo.rows;
    for (local_split& sender : plan.local) {
        const std::vector<std::int64_t>& remote = sender.remote_rows;
        for (auto first = remote.begin(); first != remote.end();) {
            const int peer = rows.owner(*first);
            const row_range owned = rows.owned(peer);
            const auto last = std::lower_bound(first, remote.end(), owned.end);
            auto& taken = slots[as_size(peer)];
            sender.sends.push_back({peer, first - remote.begin(), last - first,
                                    static_cast<std::int64_t>(taken.size())});
            check_index_size("make_nonzero_split_plan: partial sums that part " + to_string(peer) +
                                 " receives",
                             static_cast<std::int64_t>(taken.size()) + (last - first));
            for (; first != last; ++first)
                taken.push_back({static_cast<std::int32_t>(*first - owned.begin),
                                 static_cast<std::int32_t>(taken.size())});
        }
    }
    for (std::size_t p = 0; p < plan.local.size(); ++p) {
        local_split& rank = plan.local[p];
        std::ranges::stable_sort(slots[p], {}, &arriving::row); // senders stay in order
        for (const arriving& a : slots[p]) {
            if (rank.summed_rows.empty() || rank.summed_rows.back() != a.row) {
                rank.summed_rows.push_back(a.row);
                rank.first_slot.push_back(rank.first_slot.back());
            }
            rank.slot.push_back(a.slot);
            ++rank.first_slot.back();
        }
    }
}

nonzero_split_plan make_nonzero_split_plan(std::span<const std::int64_t> row_offsets,
                                           std::span<const std::int32_t> columns,
                                           const nonzero_assignment& assigned) {
    require_split_sizes(row_offsets, columns, assigned);
    const int ranks = assigned.rows.ranks();
    nonzero_split_plan plan;
    plan.halo.rows = assigned.rows;
    plan.local.resize(as_size(ranks));
    deal(plan, row_offsets, columns, assigned);
    std::vector<local_indices> columns_of;
    for (int rank = 0; rank < ranks; ++rank) {
        local_split& mine = plan.local[as_size(rank)];
        columns_of.push_back(localize(mine, assigned.columns.owned(rank), assigned.columns.rows()));
        plan.halo.boundary.push_back(
            find_boundary(mine.own.offsets, mine.own.columns, columns_of.back()));
    }
    plan.halo.columns = {assigned.columns, std::move(columns_of)};
    plan_partial_sums(plan);
    return plan;
}

} // namespace krylith

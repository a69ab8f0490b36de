// The contract of a piece plan, written as plainly as possible: the oracle of its builder.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse_split(std::size_t rank, const std::string& what) {
    throw usage_error("nonzero_split_plan: part " + to_string(rank) + ": " + what);
}

/// Entries of a block are the part's entries of these rows, in order, at their columns.
void check_block(const nonzero_split_plan& plan, std::size_t rank, const nonzero_split_block& block,
                 std::span<const std::int64_t> rows, std::span<const std::int64_t> row_offsets,
                 std::span<const std::int32_t> columns, const nonzero_assignment& assigned) {
    const row_range owned = assigned.columns.owned(static_cast<int>(rank));
    const std::vector<std::int64_t>& ghosts =
        plan.halo.columns.local(static_cast<int>(rank)).ghosts();
    const std::int64_t below = std::ranges::lower_bound(ghosts, owned.begin) - ghosts.begin();
    if (block.offsets.size() != rows.size() + 1 || block.offsets.front() != 0 ||
        block.columns.size() != block.source.size())
        refuse_split(rank, "sizes of a block disagree");
    std::size_t at = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t row = as_size(rows[i]);
        for (std::int64_t k = row_offsets[row]; k < row_offsets[row + 1]; ++k) {
            if (assigned.holder[as_size(k)] != rank) continue;
            if (at >= block.source.size() || block.source[at] != k)
                refuse_split(rank, "entry " + to_string(k) + " is not at place " + to_string(at));
            const std::int64_t local = block.columns[at++];
            std::int64_t column = -1;
            const bool is_own = local >= below && local < below + owned.size();
            if (is_own) column = owned.begin + local - below;
            const std::int64_t ghost = local < below ? local : local - owned.size();
            if (!is_own && ghost >= 0 && ghost < static_cast<std::int64_t>(ghosts.size()))
                column = ghosts[as_size(ghost)];
            if (column != columns[as_size(k)])
                refuse_split(rank, "entry " + to_string(k) + " has local column " +
                                       to_string(local) + ", which is " + to_string(column) +
                                       ", must be " + to_string(columns[as_size(k)]));
        }
        if (block.offsets[i + 1] != static_cast<std::int64_t>(at))
            refuse_split(rank, "row " + to_string(row) + " of a block ends at " +
                                   to_string(block.offsets[i + 1]) + ", must end at " +
                                   to_string(at));
    }
    if (at != block.source.size())
        refuse_split(rank, "a block has entries that are not of its rows");
}

/// Each slot of an owner is written once, by the sender and for the row that it is added to.
void check_slots(const nonzero_split_plan& plan) {
    std::vector<std::map<std::int64_t, std::pair<std::size_t, std::int64_t>>> writes(
        plan.local.size()); // [owner] slot -> sender, row
    for (std::size_t sender = 0; sender < plan.local.size(); ++sender) {
        const local_split& rank = plan.local[sender];
        std::int64_t covered = 0;
        for (const nonzero_split_message& m : rank.sends) {
            if (m.peer < 0 || as_size(m.peer) >= plan.local.size() || m.first != covered ||
                m.count < 1 || m.count > rank.remote.rows() - covered)
                refuse_split(sender, "a message to " + to_string(m.peer) + " has rows " +
                                         to_string(m.first) + " to " +
                                         to_string(m.first + m.count));
            covered += m.count;
            for (std::int64_t f = 0; f < m.count; ++f) {
                const std::int64_t row = rank.remote_rows[as_size(m.first + f)];
                if (!plan.halo.rows.owned(m.peer).contains(row))
                    refuse_split(sender,
                                 "row " + to_string(row) + " is sent to " + to_string(m.peer));
                if (!writes[as_size(m.peer)].emplace(m.position + f, std::pair(sender, row)).second)
                    refuse_split(sender, "slot " + to_string(m.position + f) + " of " +
                                             to_string(m.peer) + " is written twice");
            }
        }
        if (covered != rank.remote.rows()) refuse_split(sender, "remote rows are not all sent");
    }
    for (std::size_t p = 0; p < plan.local.size(); ++p) {
        const local_split& rank = plan.local[p];
        const std::int64_t begin = plan.halo.rows.owned(static_cast<int>(p)).begin;
        if (rank.first_slot.size() != rank.summed_rows.size() + 1 || rank.first_slot.front() != 0 ||
            as_size(rank.first_slot.back()) != rank.slot.size() ||
            rank.slot.size() != writes[p].size())
            refuse_split(p, to_string(rank.slot.size()) + " slots are added, " +
                                to_string(writes[p].size()) + " are written");
        for (std::size_t m = 0; m < rank.summed_rows.size(); ++m) {
            if (m > 0 && rank.summed_rows[m] <= rank.summed_rows[m - 1])
                refuse_split(p, "summed rows must ascend");
            if (rank.first_slot[m] >= rank.first_slot[m + 1])
                refuse_split(p, "a summed row has no slot");
            std::int64_t before = -1;
            for (std::int32_t k = rank.first_slot[m]; k < rank.first_slot[m + 1]; ++k) {
                const auto found = writes[p].find(rank.slot[as_size(k)]);
                if (found == writes[p].end() || found->second.second != begin + rank.summed_rows[m])
                    refuse_split(p, "slot " + to_string(rank.slot[as_size(k)]) +
                                        " is added to owned row " + to_string(rank.summed_rows[m]));
                const auto sender = static_cast<std::int64_t>(found->second.first);
                if (sender <= before)
                    refuse_split(p, "slots of a row must be in the order of parts");
                before = sender;
            }
        }
    }
}

} // namespace

void check(const nonzero_split_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns, const nonzero_assignment& assigned) {
    check(plan.halo.rows, static_cast<std::int64_t>(row_offsets.size()) - 1);
    check(plan.halo.columns.owners(), plan.halo.columns.size());
    if (plan.halo.rows != assigned.rows || plan.halo.columns.owners() != assigned.columns ||
        plan.halo.columns.ranks() != plan.halo.rows.ranks() ||
        plan.local.size() != plan.halo.boundary.size() ||
        plan.local.size() != as_size(assigned.rows.ranks()))
        throw usage_error("nonzero_split_plan: the partition is another one");
    halo_plan exchange{plan.halo.rows, {}, std::vector<boundary_rows>(plan.local.size())};
    std::vector<local_indices> columns_of;
    for (std::size_t p = 0; p < plan.local.size(); ++p) {
        const row_range rows = assigned.rows.owned(static_cast<int>(p));
        const row_range owned = assigned.columns.owned(static_cast<int>(p));
        std::vector<std::int64_t> own_rows;
        std::set<std::int64_t> remote_rows;
        std::set<std::int64_t> ghosts;
        std::vector<std::uint8_t> touches(as_size(rows.size()));
        for (std::int64_t i = rows.begin; i < rows.end; ++i) own_rows.push_back(i);
        for (std::size_t i = 0; i + 1 < row_offsets.size(); ++i)
            for (std::int64_t k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
                if (assigned.holder[as_size(k)] != p) continue;
                const auto row = static_cast<std::int64_t>(i);
                const bool is_ghost = !owned.contains(columns[as_size(k)]);
                if (is_ghost) ghosts.insert(columns[as_size(k)]);
                if (!rows.contains(row)) remote_rows.insert(row);
                if (is_ghost && rows.contains(row)) touches[as_size(row - rows.begin)] = 1;
            }
        columns_of.emplace_back(owned, std::vector<std::int64_t>(ghosts.begin(), ghosts.end()));
        boundary_rows& expected = exchange.boundary[p];
        expected.touches_ghost = touches;
        expected.interior_rows = std::ranges::count(touches, 0);
        if (!std::ranges::equal(plan.local[p].remote_rows, remote_rows))
            refuse_split(p, "its remote rows are others");
        check_block(plan, p, plan.local[p].own, own_rows, row_offsets, columns, assigned);
        check_block(plan, p, plan.local[p].remote, plan.local[p].remote_rows, row_offsets, columns,
                    assigned);
    }
    exchange.columns = {assigned.columns, std::move(columns_of)};
    if (exchange != plan.halo)
        throw usage_error("nonzero_split_plan: the exchange of x is another one");
    check_slots(plan);
}

} // namespace krylith

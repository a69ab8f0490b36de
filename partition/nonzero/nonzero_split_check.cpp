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

[[noreturn]] void violated(std::size_t part, const std::string& what) {
    throw usage_error("piece_plan: part " + to_string(part) + ": " + what);
}

/// Entries of a block are the part's entries of these rows, in order, at their columns.
void check_block(const piece_plan& plan, std::size_t part, const piece_block& block,
                 std::span<const std::int64_t> rows, std::span<const std::int64_t> row_offsets,
                 std::span<const std::int32_t> columns, const dealt_entries& dealt) {
    const row_range owned = dealt.rows.owned(static_cast<int>(part));
    const auto& ghosts = plan.halo.parts[part].ghosts;
    if (block.offsets.size() != rows.size() + 1 || block.offsets.front() != 0 ||
        block.columns.size() != block.source.size())
        violated(part, "sizes of a block disagree");
    std::size_t at = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t row = as_size(rows[i]);
        for (std::int64_t k = row_offsets[row]; k < row_offsets[row + 1]; ++k) {
            if (dealt.holder[as_size(k)] != part) continue;
            if (at >= block.source.size() || block.source[at] != k)
                violated(part, "entry " + to_string(k) + " is not at place " + to_string(at));
            const std::int64_t local = block.columns[at++];
            std::int64_t column = -1;
            if (local >= 0 && local < owned.size()) column = owned.begin + local;
            const std::int64_t ghost = local - owned.size();
            if (ghost >= 0 && ghost < static_cast<std::int64_t>(ghosts.size()))
                column = ghosts[as_size(ghost)];
            if (column != columns[as_size(k)])
                violated(part, "entry " + to_string(k) + " has local column " + to_string(local) +
                                   ", which is " + to_string(column) + ", must be " +
                                   to_string(columns[as_size(k)]));
        }
        if (block.offsets[i + 1] != static_cast<std::int64_t>(at))
            violated(part, "row " + to_string(row) + " of a block ends at " +
                               to_string(block.offsets[i + 1]) + ", must end at " + to_string(at));
    }
    if (at != block.source.size()) violated(part, "a block has entries that are not of its rows");
}

/// Each slot of an owner is written once, by the sender and for the row that it is added to.
void check_slots(const piece_plan& plan) {
    std::vector<std::map<std::int64_t, std::pair<std::size_t, std::int64_t>>> writes(
        plan.parts.size()); // [owner] slot -> sender, row
    for (std::size_t sender = 0; sender < plan.parts.size(); ++sender) {
        const piece_part& part = plan.parts[sender];
        std::int64_t covered = 0;
        for (const piece_message& m : part.sends) {
            if (m.peer < 0 || as_size(m.peer) >= plan.parts.size() || m.first != covered ||
                m.count < 1 || m.count > part.foreign.rows() - covered)
                violated(sender, "a message to " + to_string(m.peer) + " has rows " +
                                     to_string(m.first) + " to " + to_string(m.first + m.count));
            covered += m.count;
            for (std::int64_t f = 0; f < m.count; ++f) {
                const std::int64_t row = part.foreign_rows[as_size(m.first + f)];
                if (!plan.halo.partition.owned(m.peer).contains(row))
                    violated(sender, "row " + to_string(row) + " is sent to " + to_string(m.peer));
                if (!writes[as_size(m.peer)].emplace(m.position + f, std::pair(sender, row)).second)
                    violated(sender, "slot " + to_string(m.position + f) + " of " +
                                         to_string(m.peer) + " is written twice");
            }
        }
        if (covered != part.foreign.rows()) violated(sender, "foreign rows are not all sent");
    }
    for (std::size_t p = 0; p < plan.parts.size(); ++p) {
        const piece_part& part = plan.parts[p];
        const std::int64_t begin = plan.halo.partition.owned(static_cast<int>(p)).begin;
        if (part.first_slot.size() != part.summed_rows.size() + 1 || part.first_slot.front() != 0 ||
            as_size(part.first_slot.back()) != part.slot.size() ||
            part.slot.size() != writes[p].size())
            violated(p, to_string(part.slot.size()) + " slots are added, " +
                            to_string(writes[p].size()) + " are written");
        for (std::size_t m = 0; m < part.summed_rows.size(); ++m) {
            if (m > 0 && part.summed_rows[m] <= part.summed_rows[m - 1])
                violated(p, "summed rows must ascend");
            if (part.first_slot[m] >= part.first_slot[m + 1])
                violated(p, "a summed row has no slot");
            std::int64_t before = -1;
            for (std::int32_t k = part.first_slot[m]; k < part.first_slot[m + 1]; ++k) {
                const auto found = writes[p].find(part.slot[as_size(k)]);
                if (found == writes[p].end() || found->second.second != begin + part.summed_rows[m])
                    violated(p, "slot " + to_string(part.slot[as_size(k)]) +
                                    " is added to owned row " + to_string(part.summed_rows[m]));
                const auto sender = static_cast<std::int64_t>(found->second.first);
                if (sender <= before) violated(p, "slots of a row must be in the order of parts");
                before = sender;
            }
        }
    }
}

} // namespace

void check(const piece_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns, const dealt_entries& dealt) {
    check(plan.halo.partition, static_cast<std::int64_t>(row_offsets.size()) - 1);
    if (plan.halo.partition != dealt.rows || plan.parts.size() != plan.halo.parts.size() ||
        plan.parts.size() != as_size(dealt.rows.parts()))
        throw usage_error("piece_plan: the partition is another one");
    halo_plan exchange{plan.halo.partition, std::vector<halo_part>(plan.parts.size())};
    for (std::size_t p = 0; p < plan.parts.size(); ++p) {
        const row_range owned = dealt.rows.owned(static_cast<int>(p));
        std::vector<std::int64_t> own_rows;
        std::set<std::int64_t> foreign_rows;
        std::set<std::int64_t> ghosts;
        std::vector<std::uint8_t> touches(as_size(owned.size()));
        for (std::int64_t i = owned.begin; i < owned.end; ++i) own_rows.push_back(i);
        for (std::size_t i = 0; i + 1 < row_offsets.size(); ++i)
            for (std::int64_t k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
                if (dealt.holder[as_size(k)] != p) continue;
                const auto row = static_cast<std::int64_t>(i);
                const bool is_ghost = !owned.contains(columns[as_size(k)]);
                if (is_ghost) ghosts.insert(columns[as_size(k)]);
                if (!owned.contains(row)) foreign_rows.insert(row);
                if (is_ghost && owned.contains(row)) touches[as_size(row - owned.begin)] = 1;
            }
        halo_part& expected = exchange.parts[p];
        expected.ghosts.assign(ghosts.begin(), ghosts.end());
        expected.touches_ghost = touches;
        expected.interior_rows = std::ranges::count(touches, 0);
        if (!std::ranges::equal(plan.parts[p].foreign_rows, foreign_rows))
            violated(p, "its foreign rows are others");
        check_block(plan, p, plan.parts[p].own, own_rows, row_offsets, columns, dealt);
        check_block(plan, p, plan.parts[p].foreign, plan.parts[p].foreign_rows, row_offsets,
                    columns, dealt);
    }
    match_ghosts(exchange); // check() of halo plans has its own oracle for this
    if (exchange != plan.halo) throw usage_error("piece_plan: the exchange of x is another one");
    check_slots(plan);
}

} // namespace krylith

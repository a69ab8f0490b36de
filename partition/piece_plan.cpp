#include <krylith/partition/piece_plan.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/index_width.hpp>
#include <krylith/partition/column_set.hpp>

namespace krylith {

namespace {

using std::to_string;

void require_sizes(std::span<const std::int64_t> row_offsets, std::span<const std::int32_t> columns,
                   const dealt_entries& dealt) {
    check(dealt.rows, dealt.rows.rows());
    if (static_cast<std::int64_t>(row_offsets.size()) != dealt.rows.rows() + 1 ||
        row_offsets.back() != static_cast<std::int64_t>(columns.size()) ||
        dealt.holder.size() != columns.size())
        throw usage_error("make_piece_plan: " + to_string(row_offsets.size()) + " offsets, " +
                          to_string(columns.size()) + " columns, " + to_string(dealt.rows.rows()) +
                          " rows and " + to_string(dealt.holder.size()) +
                          " holders don't belong together");
    for (std::size_t k = 0; k < columns.size(); ++k)
        if (dealt.holder[k] >= dealt.rows.parts())
            throw usage_error("make_piece_plan: entry " + to_string(k) + " is held by part " +
                              to_string(int{dealt.holder[k]}) + ", must be below " +
                              to_string(dealt.rows.parts()));
}

/// Puts entries into blocks, with global columns. One pass in the order of rows.
void deal(piece_plan& plan, std::span<const std::int64_t> row_offsets,
          std::span<const std::int32_t> columns, const dealt_entries& dealt) {
    std::vector<std::size_t> held(plan.parts.size());
    for (const std::uint8_t part : dealt.holder) ++held[part];
    for (std::size_t p = 0; p < plan.parts.size(); ++p) {
        plan.parts[p].own.columns.reserve(held[p]);
        plan.parts[p].own.source.reserve(held[p]);
    }
    const auto parts = static_cast<int>(plan.parts.size());
    for (int owner = 0; owner < parts; ++owner) {
        piece_part& home = plan.parts[as_size(owner)];
        const row_range owned = dealt.rows.owned(owner);
        home.own.offsets.reserve(as_size(owned.size()) + 1);
        for (std::int64_t row = owned.begin; row < owned.end; ++row) {
            for (std::int64_t k = row_offsets[as_size(row)]; k < row_offsets[as_size(row + 1)];
                 ++k) {
                piece_part& holder = plan.parts[dealt.holder[as_size(k)]];
                const bool is_own = &holder == &home;
                if (!is_own && (holder.foreign_rows.empty() || holder.foreign_rows.back() != row)) {
                    holder.foreign_rows.push_back(row);
                    holder.foreign.offsets.push_back(holder.foreign.offsets.back());
                }
                piece_block& block = is_own ? holder.own : holder.foreign;
                block.columns.push_back(columns[as_size(k)]);
                block.source.push_back(k);
                if (!is_own) ++block.offsets.back();
            }
            home.own.offsets.push_back(static_cast<std::int64_t>(home.own.columns.size()));
        }
    }
}

/// Ghosts of a part, and its columns as local indices.
void localize(piece_part& part, halo_part& halo, row_range owned, std::int64_t n) {
    column_set ghosts(0, n);
    for (const piece_block* block : {&part.own, &part.foreign}) {
        const std::int32_t* const column = block->columns.data();
        const auto count = static_cast<std::int64_t>(block->columns.size());
#pragma omp parallel for schedule(static) if (count > 65536)
        for (std::int64_t k = 0; k < count; ++k)
            if (!owned.contains(column[k])) ghosts.insert(column[k]);
    }
    ghosts.seal();
    halo.ghosts = ghosts.members();
    narrow_index_size("make_piece_plan: owned rows and ghosts of a part",
                      owned.size() + ghosts.size());
    for (piece_block* block : {&part.own, &part.foreign}) {
        std::int32_t* const column = block->columns.data();
        const auto count = static_cast<std::int64_t>(block->columns.size());
#pragma omp parallel for schedule(static) if (count > 65536)
        for (std::int64_t k = 0; k < count; ++k)
            column[k] = static_cast<std::int32_t>(owned.contains(column[k])
                                                      ? column[k] - owned.begin
                                                      : owned.size() + ghosts.rank(column[k]));
    }
    for (std::size_t row = 0; row + 1 < part.own.offsets.size(); ++row) {
        bool touches = false;
        for (std::int64_t k = part.own.offsets[row]; k < part.own.offsets[row + 1]; ++k)
            touches = touches || part.own.columns[as_size(k)] >= owned.size();
        halo.touches_ghost.push_back(touches ? 1 : 0);
        halo.interior_rows += touches ? 0 : 1;
    }
}

/// Slots of an owner: those of one sender after the other.
void connect(piece_plan& plan) {
    struct arriving {
        std::int32_t row;
        std::int32_t slot;
    };
    std::vector<std::vector<arriving>> slots(plan.parts.size());
    const row_partition& rows = plan.halo.partition;
    for (piece_part& sender : plan.parts) {
        const std::vector<std::int64_t>& foreign = sender.foreign_rows;
        for (auto first = foreign.begin(); first != foreign.end();) {
            const int peer = rows.owner(*first);
            const row_range owned = rows.owned(peer);
            const auto last = std::lower_bound(first, foreign.end(), owned.end);
            auto& taken = slots[as_size(peer)];
            sender.sends.push_back({peer, first - foreign.begin(), last - first,
                                    static_cast<std::int64_t>(taken.size())});
            check_index_size("make_piece_plan: partial sums that part " + to_string(peer) +
                                 " receives",
                             static_cast<std::int64_t>(taken.size()) + (last - first));
            for (; first != last; ++first)
                taken.push_back({static_cast<std::int32_t>(*first - owned.begin),
                                 static_cast<std::int32_t>(taken.size())});
        }
    }
    for (std::size_t p = 0; p < plan.parts.size(); ++p) {
        piece_part& part = plan.parts[p];
        std::ranges::stable_sort(slots[p], {}, &arriving::row); // senders stay in order
        for (const arriving& a : slots[p]) {
            if (part.summed_rows.empty() || part.summed_rows.back() != a.row) {
                part.summed_rows.push_back(a.row);
                part.first_slot.push_back(part.first_slot.back());
            }
            part.slot.push_back(a.slot);
            ++part.first_slot.back();
        }
    }
}

} // namespace

piece_plan make_piece_plan(std::span<const std::int64_t> row_offsets,
                           std::span<const std::int32_t> columns, const dealt_entries& dealt) {
    require_sizes(row_offsets, columns, dealt);
    const int parts = dealt.rows.parts();
    piece_plan plan;
    plan.halo.partition = dealt.rows;
    plan.halo.parts.resize(as_size(parts));
    plan.parts.resize(as_size(parts));
    deal(plan, row_offsets, columns, dealt);
    for (int part = 0; part < parts; ++part)
        localize(plan.parts[as_size(part)], plan.halo.parts[as_size(part)], dealt.rows.owned(part),
                 dealt.rows.rows());
    match_ghosts(plan.halo);
    connect(plan);
    return plan;
}

} // namespace krylith

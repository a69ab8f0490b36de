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
    const auto entries = static_cast<std::int64_t>(columns.size());
    std::int64_t bad = entries; // the first
#pragma omp parallel for schedule(static) reduction(min : bad) if (entries > 65536)
    for (std::int64_t k = 0; k < entries; ++k)
        if (dealt.holder[as_size(k)] >= dealt.rows.parts()) bad = std::min(bad, k);
    if (bad != entries)
        throw usage_error("make_piece_plan: entry " + to_string(bad) + " is held by part " +
                          to_string(int{dealt.holder[as_size(bad)]}) + ", must be below " +
                          to_string(dealt.rows.parts()));
}

/// What consecutive rows give to one part, or all rows before them.
struct dealt_count {
    std::int64_t own = 0; ///< entries
    std::int64_t foreign = 0;
    std::int64_t foreign_rows = 0;
};

/// Calls take(part, row, k, is_own, is_first) for the entries of rows [begin, end) in their order;
/// `is_first` for a part's first entry of a row that it doesn't own. `last_row` has a place a part
/// and is the caller's: a thread of a team may not throw, and so not allocate.
template <class Take>
void for_entries(std::span<const std::int64_t> row_offsets, const dealt_entries& dealt,
                 row_range rows, std::span<std::int64_t> last_row, Take take) {
    if (rows.size() == 0) return;
    int owner = dealt.rows.owner(rows.begin);
    std::ranges::fill(last_row, -1);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        while (row >= dealt.rows.begin[as_size(owner) + 1]) ++owner;
        for (std::int64_t k = row_offsets[as_size(row)]; k < row_offsets[as_size(row + 1)]; ++k) {
            const int part = dealt.holder[as_size(k)];
            take(part, row, k, part == owner, part != owner && last_row[as_size(part)] != row);
            last_row[as_size(part)] = row;
        }
    }
}

/// Puts entries into blocks, with global columns. Two passes in the order of rows, with OpenMP over
/// chunks of rows: how much each gives to whom, and then where it goes.
void deal(piece_plan& plan, std::span<const std::int64_t> row_offsets,
          std::span<const std::int32_t> columns, const dealt_entries& dealt) {
    constexpr std::int64_t chunk_rows = 16384;
    const std::int64_t n = dealt.rows.rows();
    const std::int64_t chunks = (n + chunk_rows - 1) / chunk_rows;
    const std::size_t parts = plan.parts.size();
    const auto rows_of = [&](std::int64_t chunk) {
        return row_range{chunk * chunk_rows, std::min(n, (chunk + 1) * chunk_rows)};
    };
    const auto of_chunk = [&](auto& values, std::int64_t chunk) {
        return std::span(values).subspan(as_size(chunk) * parts, parts);
    };
    std::vector<dealt_count> counts(as_size(chunks) * parts);
    std::vector<std::int64_t> last_rows(as_size(chunks) * parts);
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        const auto count = of_chunk(counts, chunk);
        for_entries(row_offsets, dealt, rows_of(chunk), of_chunk(last_rows, chunk),
                    [&](int part, std::int64_t, std::int64_t, bool is_own, bool is_first) {
                        dealt_count& c = count[as_size(part)];
                        ++(is_own ? c.own : c.foreign);
                        c.foreign_rows += is_first ? 1 : 0;
                    });
    }
    std::vector<dealt_count> before(parts);
    for (std::size_t c = 0; c < counts.size(); ++c) {
        dealt_count& sum = before[c % parts];
        const dealt_count count = std::exchange(counts[c], sum);
        sum = {sum.own + count.own, sum.foreign + count.foreign,
               sum.foreign_rows + count.foreign_rows};
    }
    for (std::size_t p = 0; p < parts; ++p) {
        piece_part& part = plan.parts[p];
        part.own.columns.resize(as_size(before[p].own));
        part.own.source.resize(as_size(before[p].own));
        part.own.offsets.assign(as_size(dealt.rows.owned(static_cast<int>(p)).size()) + 1, 0);
        part.foreign.columns.resize(as_size(before[p].foreign));
        part.foreign.source.resize(as_size(before[p].foreign));
        part.foreign.offsets.assign(as_size(before[p].foreign_rows) + 1, 0);
        part.foreign_rows.resize(as_size(before[p].foreign_rows));
    }
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        const auto at = of_chunk(counts, chunk);
        for_entries(row_offsets, dealt, rows_of(chunk), of_chunk(last_rows, chunk),
                    [&](int p, std::int64_t row, std::int64_t k, bool is_own, bool is_first) {
                        piece_part& part = plan.parts[as_size(p)];
                        dealt_count& c = at[as_size(p)];
                        if (is_first) part.foreign_rows[as_size(c.foreign_rows++)] = row;
                        piece_block& block = is_own ? part.own : part.foreign;
                        const std::size_t place = as_size(is_own ? c.own++ : c.foreign++);
                        block.columns[place] = columns[as_size(k)];
                        block.source[place] = k;
                        const std::int64_t line =
                            is_own ? row - dealt.rows.owned(p).begin : c.foreign_rows - 1;
                        block.offsets[as_size(line) + 1] = static_cast<std::int64_t>(place) + 1;
                    });
    }
    for (piece_part& part : plan.parts) // rows without own entries end where the row before does
        for (std::size_t row = 1; row < part.own.offsets.size(); ++row)
            part.own.offsets[row] = std::max(part.own.offsets[row], part.own.offsets[row - 1]);
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
    check_index_size("make_piece_plan: owned rows and ghosts of a part",
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
    halo.touches_ghost.resize(as_size(owned.size()));
    std::int64_t interior = 0;
#pragma omp parallel for schedule(static) reduction(+ : interior) if (owned.size() > 65536)
    for (std::int64_t row = 0; row < owned.size(); ++row) {
        bool touches = false;
        for (std::int64_t k = part.own.offsets[as_size(row)];
             k < part.own.offsets[as_size(row + 1)]; ++k)
            touches = touches || part.own.columns[as_size(k)] >= owned.size();
        halo.touches_ghost[as_size(row)] = touches ? 1 : 0;
        interior += touches ? 0 : 1;
    }
    halo.interior_rows = interior;
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

#include <krylith/precond/blocks/block_inverses.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/blocks/block_steps.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

namespace {

std::int64_t whole_slices(std::int64_t rows) {
    return (rows + slice_rows - 1) / slice_rows;
}

} // namespace

template <class T>
block_inverses<T>::block_inverses(const layout& layout, const std::vector<block_place>& places) {
    for (const block_place& place : places) {
        count_ += place.at == 0;
        largest_ = std::max(largest_, int{place.size});
    }
    ranks_ = by_rank(layout.comm, [&](int rank) { return lay_out(layout, rank, places); });
    layout.comm.synchronize();
}

template <class T>
typename block_inverses<T>::rank_blocks
block_inverses<T>::lay_out(const layout& layout, int rank, const std::vector<block_place>& places) {
    const row_range owned = layout.rows.owned(rank);
    rank_blocks blocks;
    blocks.rows = owned.size();
    blocks.columns = {layout.first_owned(rank), owned.size(), layout.kind == coherence::replicated};
    std::vector<block_place> mine;
    std::vector<std::int32_t> first;
    if (owned.size() != 0) mine.assign(places.begin() + owned.begin, places.begin() + owned.end);
    mine.resize(as_size(whole_slices(owned.size()) * slice_rows), block_place{0, 0});
    for (std::int64_t row = owned.begin; row < owned.end;) {
        const block_place place = places[as_size(row)];
        const std::int64_t begin = row - place.at;
        const std::int64_t end = std::min(begin + place.size, owned.end);
        blocks.listed.push_back({begin, place.size});
        if (place.at == 0 && end == begin + place.size) {
            first.push_back(static_cast<std::int32_t>(row - owned.begin));
        } else {
            const auto whole = static_cast<std::int64_t>(mine.size());
            first.push_back(static_cast<std::int32_t>(whole));
            blocks.divided.push_back(
                {begin, place.size, whole, place.at, end - row, row - owned.begin});
            for (int at = 0; at < slice_rows; ++at)
                mine.push_back(at < place.size ? places[as_size(begin + at)] : block_place{0, 0});
            if (!blocks.columns.replicated) blocks.columns.first += place.at;
        }
        row = end;
    }
    std::vector<std::uint32_t> begin{0};
    for (std::size_t row = 0; row < mine.size(); row += slice_rows) {
        std::uint32_t width = 0;
        for (std::size_t i = row; i < row + slice_rows; ++i)
            width = std::max(width, std::uint32_t{mine[i].size});
        begin.push_back(begin.back() + width);
    }
    blocks.columns_stored = begin.back();
    const auto& device = layout.comm.handle(rank);
    blocks.places = {device, std::span<const block_place>(mine), precond_item};
    blocks.begin = {device, std::span<const std::uint32_t>(begin), precond_item};
    blocks.first = {device, std::span<const std::int32_t>(first), precond_item};
    blocks.values = {device, as_size(blocks.columns_stored * slice_rows), precond_item};
    blocks.values.zero(); // padding is not read, but copied
    return blocks;
}

template <class T>
block_view<T> block_inverses<T>::view(int rank) const {
    const rank_blocks& blocks = ranks_[as_size(rank)];
    return view_of(blocks, blocks.values.data());
}

template <class T>
void block_inverses<T>::take(const layout& layout, const distributed_csr<T>& a) {
    const communicator& comm = layout.comm;
    std::vector<T*> values(ranks_.size());
    const auto reports = by_rank(comm, [&](int rank) {
        rank_blocks& blocks = ranks_[as_size(rank)];
        const auto& device = layout.comm.handle(rank);
        if (there_ && blocks.spare.size() != blocks.values.size()) {
            blocks.spare = {device, blocks.values.size(), precond_item};
            blocks.spare.zero();
        }
        values[as_size(rank)] = there_ ? blocks.spare.data() : blocks.values.data();
        buffer<inversion_report> report(device, 1, precond_item);
        report.zero();
        const device_csr_view<T> block = a.block(rank).view();
        visit_rows(*device, blocks.rows, 1,
                   gather_blocks_step<T>{{},
                                         aggregation::rows_of(a, rank),
                                         block.values,
                                         view_of(blocks, values[as_size(rank)])});
        return report;
    });
    join_divided(layout, values);
    for (const int rank : layout.comm.local()) {
        rank_blocks& blocks = ranks_[as_size(rank)];
        const block_list list{blocks.first.data(), static_cast<std::int64_t>(blocks.first.size()),
                              largest_};
        if (list.count != 0)
            KRYLITH_ON(layout.comm[rank], invert_blocks(layout.comm[rank], list,
                                                        view_of(blocks, values[as_size(rank)]),
                                                        reports[as_size(rank)].data()));
        for (const divided_block& b : blocks.divided)
            visit_rows(layout.comm[rank], b.rows, 1,
                       take_rows_step<T>{
                           {}, view_of(blocks, values[as_size(rank)]), b.whole + b.first, b.own});
    }
    struct outcome {
        std::uint64_t exponent;
        block_rows bad; ///< the first without an inverse; behind all rows where there is none
    };
    const block_rows none{layout.size(), 0};
    std::vector<outcome> outcomes(ranks_.size(), {0, none});
    for (const int rank : comm.local()) {
        const inversion_report report = reports[as_size(rank)].download().front();
        outcomes[as_size(rank)] = {
            report.exponent,
            report.bad == 0 ? none : ranks_[as_size(rank)].listed[as_size(~report.bad)]};
    }
    comm.all_gather(outcomes);
    const block_rows bad =
        std::ranges::min_element(outcomes, {}, [](const outcome& o) { return o.bad.begin; })->bad;
    if (bad.begin != layout.size()) refuse(layout, bad);
    const std::uint64_t exponent =
        std::ranges::max_element(outcomes, {}, &outcome::exponent)->exponent;
    if (there_) accept(layout, values);
    there_ = true;
    exponent_ = exponent == 0 ? 0
                              : static_cast<int>(static_cast<std::int64_t>(exponent) -
                                                 inversion_report::exponent_bias);
}

/// Puts together the blocks of which devices have parts.
template <class T>
void block_inverses<T>::join_divided(const layout& layout, const std::vector<T*>& values) {
    constexpr std::size_t block_numbers = as_size(largest_block) * largest_block;
    struct packed_row {
        std::int64_t begin; ///< of its block
        std::int64_t place; ///< there
        T entries[largest_block];
    };
    auto packed = by_rank(layout.comm, [&](int rank) {
        const rank_blocks& blocks = ranks_[as_size(rank)];
        std::vector<packed_row> all;
        for (const divided_block& b : blocks.divided) {
            const buffer<T> rows(layout.comm.handle(rank), block_numbers, precond_item);
            visit_rows(
                layout.comm[rank], b.rows, 1,
                pack_rows_step<T>{{}, view_of(blocks, values[as_size(rank)]), b.own, rows.data()});
            const std::vector<T> entries = rows.download();
            for (std::int64_t i = 0; i < b.rows; ++i) {
                packed_row& row = all.emplace_back(packed_row{b.begin, b.first + i, {}});
                std::copy_n(entries.data() + i * largest_block, largest_block, row.entries);
            }
        }
        return all;
    });
    layout.comm.all_gather_lists(packed);
    std::map<std::int64_t, std::vector<T>> whole; // by first row
    for (const auto& of_rank : packed)
        for (const packed_row& row : of_rank) {
            std::vector<T>& to = whole[row.begin];
            to.resize(block_numbers);
            std::copy_n(row.entries, largest_block, to.data() + row.place * largest_block);
        }
    for (const int rank : layout.comm.local()) {
        const rank_blocks& blocks = ranks_[as_size(rank)];
        for (const divided_block& b : blocks.divided) {
            const buffer<T> rows(layout.comm.handle(rank), std::span<const T>(whole[b.begin]),
                                 precond_item);
            visit_rows(layout.comm[rank], b.size, 1,
                       unpack_rows_step<T>{
                           {}, view_of(blocks, values[as_size(rank)]), b.whole, rows.data()});
        }
    }
}

/// Recorded loops read the inverses where they are.
template <class T>
void block_inverses<T>::accept(const layout& layout, const std::vector<T*>& values) {
    for (const int rank : layout.comm.local()) {
        const rank_blocks& blocks = ranks_[as_size(rank)];
        if (blocks.values.size() != 0)
            layout.comm[rank].copy(blocks.values.data(), values[as_size(rank)],
                                   blocks.values.size() * sizeof(T));
    }
}

template <class T>
void block_inverses<T>::refuse(const layout& layout, const block_rows& block) {
    const auto [begin, size] = block;
    std::string rows = "row " + std::to_string(layout.row_of_caller(begin));
    if (size > 1) {
        rows = "rows ";
        if (!layout.order)
            rows += std::to_string(begin) + " to " + std::to_string(begin + size - 1);
        for (int i = 0; layout.order && i < size; ++i)
            rows += (i == 0 ? "" : ", ") + std::to_string(layout.row_of_caller(begin + i));
    }
    throw input_error("block-jacobi: the block of " + rows +
                      " (counted from 0) has no finite inverse: it is singular, or its entries are "
                      "not finite, too small or too large; take other blocks, or another "
                      "preconditioner");
}

template <class T>
index_map block_inverses<T>::map(const layout& layout) const {
    auto local = by_rank(layout.comm, [&](int rank) {
        const rank_blocks& blocks = ranks_[as_size(rank)];
        const row_range owned = layout.rows.owned(rank);
        std::vector<std::int64_t> ghosts;
        for (const divided_block& b : blocks.divided) {
            if (blocks.columns.replicated) break;
            for (std::int64_t row = b.begin; row < b.begin + b.size; ++row)
                if (!owned.contains(row)) ghosts.push_back(row);
        }
        return local_indices(owned, std::move(ghosts));
    });
    return {layout.comm, layout.rows, std::move(local)};
}

template <class T>
std::int64_t block_inverses<T>::bytes_read(int rank) const {
    const rank_blocks& blocks = ranks_[as_size(rank)];
    return static_cast<std::int64_t>(blocks.values.size() * sizeof(T) +
                                     blocks.places.size() * sizeof(block_place) +
                                     blocks.begin.size() * sizeof(std::uint32_t));
}

template <class T>
std::int64_t block_inverses<T>::bytes(int rank) const {
    const rank_blocks& blocks = ranks_[as_size(rank)];
    return bytes_read(rank) + static_cast<std::int64_t>(blocks.spare.size() * sizeof(T) +
                                                        blocks.first.size() * sizeof(std::int32_t));
}

#define KRYLITH_INSTANTIATE(T) template class block_inverses<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail

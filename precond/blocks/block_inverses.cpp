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
    for (const int rank : layout.comm.local()) add_rank(layout, rank, places);
    layout.comm.synchronize();
}

template <class T>
void block_inverses<T>::add_rank(const layout& layout, int rank,
                                 const std::vector<block_place>& places) {
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
        blocks.begins.push_back(begin);
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
    ranks_.push_back(std::move(blocks));
}

template <class T>
block_view<T> block_inverses<T>::view(int rank) const {
    const rank_blocks& blocks = ranks_[as_size(rank)];
    return view_of(blocks, blocks.values.data());
}

template <class T>
void block_inverses<T>::take(const layout& layout, const distributed_csr<T>& a) {
    std::vector<T*> values;
    std::vector<buffer<inversion_report>> reports;
    for (const int rank : layout.comm.local()) {
        rank_blocks& blocks = ranks_[as_size(rank)];
        const auto& device = layout.comm.handle(rank);
        if (there_ && blocks.spare.size() != blocks.values.size()) {
            blocks.spare = {device, blocks.values.size(), precond_item};
            blocks.spare.zero();
        }
        values.push_back(there_ ? blocks.spare.data() : blocks.values.data());
        reports.emplace_back(device, 1, precond_item);
        reports.back().zero();
        const device_csr_view<T> block = a.block(rank).view();
        visit_rows(
            *device, blocks.rows, 1,
            gather_blocks_step<T>{
                {}, aggregation::rows_of(a, rank), block.values, view_of(blocks, values.back())});
    }
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
    std::int64_t bad = layout.size();
    std::uint64_t exponent = 0;
    for (const int rank : layout.comm.local()) {
        const inversion_report report = reports[as_size(rank)].download().front();
        exponent = std::max(exponent, report.exponent);
        if (report.bad != 0)
            bad = std::min(bad, ranks_[as_size(rank)].begins[as_size(~report.bad)]);
    }
    if (bad != layout.size()) refuse(layout, bad);
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
    std::map<std::int64_t, std::vector<T>> whole; // by first row
    for (const int rank : layout.comm.local()) {
        const rank_blocks& blocks = ranks_[as_size(rank)];
        for (const divided_block& b : blocks.divided) {
            const buffer<T> rows(layout.comm.handle(rank), block_numbers, precond_item);
            visit_rows(
                layout.comm[rank], b.rows, 1,
                pack_rows_step<T>{{}, view_of(blocks, values[as_size(rank)]), b.own, rows.data()});
            std::vector<T>& to = whole[b.begin];
            to.resize(block_numbers);
            layout.comm[rank].download(to.data() + b.first * largest_block, rows.data(),
                                       as_size(b.rows * largest_block) * sizeof(T));
        }
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
void block_inverses<T>::refuse(const layout& layout, std::int64_t begin) const {
    const int rank = layout.rows.owner(begin);
    const row_range owned = layout.rows.owned(rank);
    const block_place place = ranks_[as_size(rank)].places.download()[as_size(begin - owned.begin)];
    std::string rows = "row " + std::to_string(layout.row_of_caller(begin));
    if (place.size > 1) {
        rows = "rows ";
        if (!layout.order)
            rows += std::to_string(begin) + " to " + std::to_string(begin + place.size - 1);
        for (int i = 0; layout.order && i < place.size; ++i)
            rows += (i == 0 ? "" : ", ") + std::to_string(layout.row_of_caller(begin + i));
    }
    throw input_error("block-jacobi: the block of " + rows +
                      " (counted from 0) has no finite inverse: it is singular, or its entries are "
                      "not finite, too small or too large; take other blocks, or another "
                      "preconditioner");
}

template <class T>
index_map block_inverses<T>::map(const layout& layout) const {
    std::vector<local_indices> local;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        const rank_blocks& blocks = ranks_[rank];
        const row_range owned = layout.rows.owned(static_cast<int>(rank));
        std::vector<std::int64_t> ghosts;
        for (const divided_block& b : blocks.divided) {
            if (blocks.columns.replicated) break;
            for (std::int64_t row = b.begin; row < b.begin + b.size; ++row)
                if (!owned.contains(row)) ghosts.push_back(row);
        }
        local.emplace_back(owned, std::move(ghosts));
    }
    return {layout.rows, std::move(local)};
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

#include <krylith/spmv/streaming/streamed_range.hpp>

#include <algorithm>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/merge/merge_product.hpp>
#include <krylith/spmv/streaming/streamed_kernels.hpp>
#include <krylith/spmv/tuning/stream_interval.cuh>

namespace krylith::cuda {

template <class T>
void streamed_range<T>::reserve(const streamed_matrix<T>& a, const major_range& all,
                                std::span<const major_range> cut, std::int64_t results,
                                std::int64_t from_peers) {
    form = a.form;
    whole = all;
    rows_of_matrix = a.rows;
    check_index_size("streamed_product: entries of a part", whole.entries());
    ranges.clear();
    range next{{}, 0, 0, 0, 0};
    for (const major_range& range : cut) {
        constexpr std::size_t aligned = 256;
        next.majors = range;
        next.rows = by_rows(form) ? range.majors() : a.rows;
        ranges.push_back(next);
        next.first_row += next.rows;
        next.first_pointer += next.rows + 1;
        const std::size_t scratch = merge_scratch_bytes<T>(next.rows, next.majors.entries());
        next.first_tile += (scratch + aligned - 1) / aligned * aligned;
    }
    const std::size_t count = as_size(whole.entries());
    const std::size_t major_size = as_size(whole.majors()) + 1;
    if (compressed(form)) grow(offsets, major_size);
    if (form == streamed_form::csc) grow(column_pointers, major_size);
    grow(pointers, as_size(next.first_pointer));
    if (form != streamed_form::csr) grow(rows, count);
    grow(columns, count);
    grow(values, count);
    grow(tiles, next.first_tile);
    grow(sums, as_size(next.first_row));
    grow(y, as_size(results));
    grow(own_slots, as_size(from_peers));
    if (by_rows(form)) return;
    grow(sorted_rows, count);
    grow(order, count);
    grow(products, count);
    if (grow(positions, count)) number(*device, positions.data(), entries());
    if (grow(ones, count)) fill_ones(*device, ones.data(), entries());
    grow(sorting, sort_by_row_bytes(*device, entries(), rows_of_matrix));
}

template <class T>
std::vector<std::pair<std::int32_t, std::int32_t>> streamed_range<T>::batches() const {
    std::vector<std::pair<std::int32_t, std::int32_t>> result;
    if (by_rows(form)) {
        for (const range& p : ranges)
            result.emplace_back(static_cast<std::int32_t>(p.majors.start_idx - whole.start_idx),
                                static_cast<std::int32_t>(p.majors.end_idx - whole.start_idx));
        return result;
    }
    constexpr std::int64_t usual = std::int64_t{1} << 20;
    const std::int64_t all = whole.entries();
    const std::int64_t count = std::clamp<std::int64_t>(all / usual, 1, most_streamed_ranges);
    for (std::int64_t i = 0; i < count; ++i)
        result.emplace_back(static_cast<std::int32_t>(all * i / count),
                            static_cast<std::int32_t>(all * (i + 1) / count));
    return result;
}

template <class T>
void streamed_range<T>::make_pointers() {
    if (form == streamed_form::csc)
        return part_pointers(*device, offsets.data(), whole, column_pointers.data());
    for (const range& p : ranges)
        part_pointers(*device, offsets.data() + (p.majors.start_major - whole.start_major),
                      p.majors, pointers.data() + p.first_pointer);
}

template <class T>
void streamed_range<T>::find_rows() {
    for (const range& p : ranges)
        pointers_of_sorted(*device, rows.data() + (p.majors.start_idx - whole.start_idx),
                           static_cast<std::int32_t>(p.majors.entries()),
                           static_cast<std::int32_t>(p.majors.start_major),
                           static_cast<std::int32_t>(p.rows), pointers.data() + p.first_pointer);
}

template <class T>
void streamed_range<T>::expand_columns() {
    majors_of_pointers(*device, column_pointers.data(), static_cast<std::int32_t>(whole.majors()),
                       entries(), static_cast<std::int32_t>(whole.start_major), columns.data());
}

template <class T>
void streamed_range<T>::sort() {
    sort_by_row(*device, rows.data(), sorted_rows.data(), positions.data(), order.data(), entries(),
                rows_of_matrix, sorting.data(), sorting.size());
    pointers_of_sorted(*device, sorted_rows.data(), entries(), 0,
                       static_cast<std::int32_t>(rows_of_matrix), pointers.data());
}

template <class T>
void streamed_range<T>::make_ready(stream_interval& conversion) {
    if (form == streamed_form::csc) expand_columns();
    if (form == streamed_form::coo_by_rows) find_rows();
    if (!by_rows(form)) {
        conversion.begin();
        sort();
        conversion.end();
    }
    find_tiles();
}

template <class T>
void streamed_range<T>::find_tiles() {
    for (const range& p : ranges) {
        const std::int32_t* const from = pointers.data() + p.first_pointer;
        if (p.rows > 0)
            find_merge_tiles<T>(*device, from, p.rows, p.majors.entries(),
                                tiles.data() + p.first_tile);
    }
}

template <class T>
void streamed_range<T>::multiply_entries(std::int32_t begin, std::int32_t end) {
    entry_products(*device, values.data(), columns.data(), x.data(), products.data(), begin, end);
}

template <class T>
void streamed_range<T>::multiply_range(std::size_t j) {
    const range& p = ranges[j];
    if (p.rows == 0) return;
    merge_product<T, std::int32_t> product{};
    product.offsets = pointers.data() + p.first_pointer;
    product.rows = p.rows;
    product.nonzeros = p.majors.entries();
    product.y = sums.data() + p.first_row;
    product.alpha = T(1);
    if (by_rows(form)) {
        const std::int64_t first = p.majors.start_idx - whole.start_idx;
        product.columns = columns.data() + first;
        product.values = values.data() + first;
        product.x = x.data();
    } else {
        product.columns = order.data();
        product.values = ones.data();
        product.x = products.data();
    }
    multiply(*device, product, tiles.data() + p.first_tile);
}

template <class T>
void streamed_range<T>::multiply_all() {
    if (!by_rows(form)) multiply_entries(0, entries());
    for (std::size_t j = 0; j < ranges.size(); ++j) multiply_range(j);
}

#define KRYLITH_INSTANTIATE(T) template struct streamed_range<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda

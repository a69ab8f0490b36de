// Loads of parts of SELL slices, and of one entry at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/sparse/device_matrix/sell_view.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>
#include <krylith/sparse/storage/load_once.cuh>

namespace krylith::cuda {

/// The row at a place; -1: none.
template <class T>
__device__ inline std::int32_t row_at(const sell_view<T>& m, std::int64_t place) {
    if (m.rows != nullptr) return m.rows[place];
    return place < m.row_count ? static_cast<std::int32_t>(place) : -1;
}

__device__ inline slice_head load_head(const slice_head* from) {
    const int4 word = __ldg(reinterpret_cast<const int4*>(from));
    return {static_cast<std::uint32_t>(word.x), static_cast<std::uint32_t>(word.y),
            static_cast<std::uint32_t>(word.z), static_cast<std::uint32_t>(word.w)};
}

__device__ inline slice_step load_step(const slice_step* from) {
    const int2 word = __ldcs(reinterpret_cast<const int2*>(from));
    return {word.x, static_cast<std::uint32_t>(word.y)};
}

__device__ inline uniform_entry<double> load_entry(const uniform_entry<double>* from) {
    const int4 word = __ldg(reinterpret_cast<const int4*>(from));
    return {__hiloint2double(word.y, word.x), {word.z, static_cast<std::uint32_t>(word.w)}};
}
__device__ inline uniform_entry<float> load_entry(const uniform_entry<float>* from) {
    const int4 word = __ldg(reinterpret_cast<const int4*>(from));
    return {__int_as_float(word.x), {word.z, static_cast<std::uint32_t>(word.w)}};
}

/// The entries of one lane, in any order. The pointers are those of the slice; they may point to
/// copies of it in shared memory.
template <class T>
struct slice_reader {
    const T* values;         ///< [32 * length]
    const slice_step* steps; ///< [length] unless the code is wide
    const std::byte* columns;
    std::int32_t length;
    std::int32_t row; ///< row of the lane, -1: none
    column_code code;
    int lane;

    /// The column of the k-th entry, k < length; -1: none, and the value is 0.
    [[nodiscard]] __device__ std::int32_t column(std::int32_t k) const {
        const std::int64_t at = std::int64_t{k} * slice_rows + lane;
        if (code == column_code::wide) return reinterpret_cast<const std::int32_t*>(columns)[at];
        if (code == column_code::triples) return column_of_triple(k / 3, k % 3);
        const slice_step step = steps[k];
        if ((step.lanes >> lane & 1) == 0) return -1;
        if (code == column_code::diagonal) return step.base + row;
        return step.base + reinterpret_cast<const std::uint16_t*>(columns)[at];
    }
    [[nodiscard]] __device__ T value(std::int32_t k) const {
        return values[std::int64_t{k} * slice_rows + lane];
    }

private:
    [[nodiscard]] __device__ std::int32_t column_of_triple(std::int32_t triple,
                                                           std::int32_t which) const {
        const slice_step step = steps[triple];
        if ((step.lanes >> lane & 1) == 0) return -1;
        const auto* const offsets = reinterpret_cast<const std::uint16_t*>(columns);
        return step.base + offsets[std::int64_t{triple} * slice_rows + lane] + which;
    }
};

template <class T>
__device__ inline slice_reader<T> read_slice(const sell_view<T>& m, const slice_head& head,
                                             std::int32_t row, int lane) {
    return {m.values + std::int64_t{head.first} * slice_rows,
            m.steps + head.first,
            m.columns + std::int64_t{head.columns} * column_chunk,
            head.length(),
            row,
            head.code(),
            lane};
}

template <class T>
__device__ inline slice_reader<T> read_slice(const sell_view<T>& m, std::int32_t slice, int lane) {
    return read_slice(m, load_head(m.heads + slice),
                      row_at(m, std::int64_t{slice} * slice_rows + lane), lane);
}

} // namespace krylith::cuda

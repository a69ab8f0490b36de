// The product of a SELL slice whose codes the kernel knows: entries are loaded while those before
// them are multiplied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <krylith/sparse/sell/halved_values.cuh>
#include <krylith/sparse/sell/sell_loads.cuh>

namespace krylith::cuda {

/// The slice-columns that are loaded at once: whole words of codes, and whole triples.
template <value_code Form, column_code Code>
inline constexpr int coded_at_once = Code != column_code::triples
                                         ? 8
                                         : (Form == value_code::table ? 12 : 6);

/// Full values of a lane in flight.
template <class T, value_code Form, int Count>
struct stored_values {
    const T* from;
    T value[Count];

    __device__ stored_values(const sell_view<T>& m, const slice_head& head, std::int32_t, int lane)
        : from(m.values + std::int64_t{head.first} * slice_rows + lane) {}
    __device__ void load(std::int32_t k, std::int32_t length) {
#pragma unroll
        for (int u = 0; u < Count; ++u)
            value[u] = k + u < length ? load_once(from + u * slice_rows) : T(0);
        from += Count * slice_rows;
    }
    [[nodiscard]] __device__ T get(int u, const T*) const {
        return value[u];
    }
};

/// Words of a lane in flight, each with what `OfWord` values have.
template <int OfWord, int Count>
struct stored_words {
    static_assert(Count % OfWord == 0);
    static constexpr int words = Count / OfWord;
    static constexpr int bits = 32 / OfWord;
    const std::uint32_t* from;
    std::uint32_t word[words];

    __device__ stored_words(const std::uint32_t* all, const slice_head& head, std::int32_t slice,
                            int lane)
        : from(all + std::int64_t{words_before(head.first, slice, OfWord)} * slice_rows + lane) {}
    __device__ void load(std::int32_t k, std::int32_t length) {
#pragma unroll
        for (int w = 0; w < words; ++w)
            word[w] = k + OfWord * w < length ? load_once(from + w * slice_rows) : 0;
        from += words * slice_rows;
    }
    [[nodiscard]] __device__ std::uint32_t part(int u) const {
        return word[u / OfWord] >> (bits * (u % OfWord)) & (~std::uint32_t{0} >> (32 - bits));
    }
};

template <class T, int Count>
struct stored_values<T, value_code::table, Count> : stored_words<codes_of_word, Count> {
    __device__ stored_values(const sell_view<T>& m, const slice_head& head, std::int32_t slice,
                             int lane)
        : stored_words<codes_of_word, Count>(m.codes, head, slice, lane) {}
    [[nodiscard]] __device__ T get(int u, const T* table) const { return table[this->part(u)]; }
};

template <int Count>
struct stored_values<double, value_code::halved, Count> : stored_words<1, Count> {
    __device__ stored_values(const sell_view<double>& m, const slice_head& head, std::int32_t slice,
                             int lane)
        : stored_words<1, Count>(m.halved, head, slice, lane) {}
    [[nodiscard]] __device__ double get(int u, const double*) const {
        return static_cast<double>(__uint_as_float(this->part(u)));
    }
};

template <int Count>
struct stored_values<float, value_code::halved, Count> : stored_words<2, Count> {
    float apart;

    __device__ stored_values(const sell_view<float>& m, const slice_head& head, std::int32_t slice,
                             int lane)
        : stored_words<2, Count>(m.halved, head, slice, lane),
          apart(load_once(m.apart + std::int64_t{slice} * slice_rows + lane)) {}
    [[nodiscard]] __device__ float get(int u, const float*) const {
        const std::uint32_t bits = this->part(u);
        return bits == apart_bits ? apart : of_sixteen_bits(bits);
    }
};

/// Columns of a lane in flight: those of `Count` steps.
template <column_code Code, int Count>
struct stored_columns {
    static constexpr bool has_steps = Code != column_code::wide;
    static constexpr bool has_offsets = Code != column_code::diagonal;
    using stored = std::conditional_t<Code == column_code::wide, std::int32_t, std::uint16_t>;
    const slice_step* steps;
    const stored* from;
    slice_step step; ///< lane u has that of step u
    std::int32_t column[Count];
    std::int32_t row;

    template <class T>
    __device__ stored_columns(const sell_view<T>& m, const slice_head& head, std::int32_t lane_row,
                              int lane)
        : steps(m.steps + head.first + lane),
          from(reinterpret_cast<const stored*>(m.columns +
                                               std::int64_t{head.columns} * column_chunk) +
               lane),
          row(lane_row) {}

    /// Loads those of the next steps, of which `rest` are there.
    __device__ void load(std::int32_t rest, int lane) {
        if constexpr (has_steps) {
            step = {0, 0};
            if (lane < Count && lane < rest) step = load_step(steps);
            steps += Count;
        }
        if constexpr (has_offsets) {
#pragma unroll
            for (int u = 0; u < Count; ++u)
                column[u] = u < rest ? static_cast<std::int32_t>(load_once(from + u * slice_rows))
                                     : (has_steps ? 0 : -1);
            from += Count * slice_rows;
        }
    }

    /// Tells the columns that were loaded; -1: none.
    __device__ void tell(std::int32_t rest, int lane, std::int32_t (&to)[Count]) const {
        if constexpr (has_steps) {
            constexpr unsigned all = 0xffffffffu;
            std::uint32_t present = rest < Count ? (1u << rest) - 1 : all;
            const bool none_here = lane >= Count || lane >= rest;
            if (!__all_sync(all, none_here || step.lanes == all)) {
                present = 0;
#pragma unroll
                for (int u = 0; u < Count; ++u)
                    present |= (__shfl_sync(all, step.lanes, u) >> lane & 1) << u;
            }
#pragma unroll
            for (int u = 0; u < Count; ++u) {
                const std::int32_t base = __shfl_sync(all, step.base, u);
                const std::int32_t offset = has_offsets ? column[u] : row;
                to[u] = (present >> u & 1) != 0 ? base + offset : -1;
            }
        } else {
#pragma unroll
            for (int u = 0; u < Count; ++u) to[u] = column[u];
        }
    }
};

/// Returns the product of a lane's row with x, of a slice with these codes. `table` is a copy of
/// sell_view::table. All lanes call it together. Padding adds 0 times 0.
template <value_code Form, column_code Code, class T>
__device__ inline T coded_product(const sell_view<T>& m, const slice_head& head, std::int32_t slice,
                                  std::int32_t row, const T* x, const T* table, int lane) {
    constexpr int group = Code == column_code::triples ? 3 : 1; // slice-columns of a step
    constexpr int count = coded_at_once<Form, Code>;
    constexpr int steps = count / group;
    const std::int32_t length = head.length();
    stored_values<T, Form, count> values(m, head, slice, lane);
    stored_columns<Code, steps> columns(m, head, row, lane);
    values.load(0, length);
    columns.load(length / group, lane);
    T sum = 0;
    for (std::int32_t k = 0; k < length; k += count) {
        std::int32_t column[steps];
        columns.tell((length - k) / group, lane, column);
        T factor[count];
#pragma unroll
        for (int u = 0; u < count; ++u)
            factor[u] = column[u / group] >= 0 ? x[column[u / group] + u % group] : T(0);
        const auto here = values;
        if (k + count < length) {
            values.load(k + count, length);
            columns.load((length - k - count) / group, lane);
        }
#pragma unroll
        for (int u = 0; u < count; ++u) sum += here.get(u, table) * factor[u];
    }
    return sum;
}

} // namespace krylith::cuda

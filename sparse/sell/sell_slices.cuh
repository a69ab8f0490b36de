// The product of a SELL slice by a warp, whatever codes the slice has.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/sparse/sell/coded_product.cuh>
#include <krylith/sparse/sell/sell_loads.cuh>

namespace krylith::cuda {

/// Adds up `Entries` entries of a row, of which the first `rest` are there.
template <int Entries, class T>
__device__ inline void add_uniform(T& sum, const uniform_entry<T>* entry, const T* x_at_row,
                                   std::uint32_t lane_bit, std::int32_t rest) {
    T value[Entries];
    T factor[Entries];
#pragma unroll
    for (int u = 0; u < Entries; ++u) {
        value[u] = T(0);
        factor[u] = T(0);
        if (u >= rest) continue;
        const uniform_entry<T> e = load_entry(entry + u);
        value[u] = e.value;
        if ((e.step.lanes & lane_bit) != 0) factor[u] = x_at_row[e.step.base];
    }
#pragma unroll
    for (int u = 0; u < Entries; ++u) sum += value[u] * factor[u];
}

/// The product of a row of a uniform diagonal slice with x. What all its lanes read is mostly in
/// the first-level cache, since many slices have the same.
template <class T>
__device__ inline T uniform_product(const sell_view<T>& m, const slice_head& head, std::int32_t row,
                                    const T* x, int lane) {
    constexpr int in_flight = 7;
    const uniform_entry<T>* entry = m.uniform + head.read;
    const T* const x_at_row = x + row;
    const std::uint32_t lane_bit = std::uint32_t{1} << lane;
    T sum = 0;
    std::int32_t rest = head.length();
    for (; rest >= in_flight; rest -= in_flight, entry += in_flight)
        add_uniform<in_flight>(sum, entry, x_at_row, lane_bit, in_flight);
    if (rest > 0) add_uniform<in_flight>(sum, entry, x_at_row, lane_bit, rest);
    return sum;
}

/// The product of a lane's row of a slice of triples. It is a function of its own, so that its
/// registers don't add to those of a kernel.
template <class T>
__device__ __noinline__ T triples_product(const sell_view<T>& m, const slice_head& head,
                                          std::int32_t row, const T* x, int lane) {
    const T* const no_table = nullptr;
    return coded_product<value_code::full, column_code::triples>(m, head, 0, row, x, no_table,
                                                                 lane);
}

/// A slice that a warp multiplies, its first entries in flight. All lanes call its functions.
///
/// One load of the warp fetches the steps, lane u having that of entry u: a load for each step
/// would take 14 registers, which spill. Values are loaded `Ahead`, with the steps; or else beside
/// x, and those of uniform diagonal slices by uniform_product(), which needs no steps either.
/// Slices with triples are none of its.
template <class T, bool Ahead>
struct warp_slice {
    /// The number of loads in flight of a thread: enough for a whole 7-point row.
    static constexpr int in_flight = 7;

    T value[Ahead ? in_flight : 1];
    std::int32_t column[in_flight]; ///< without the step's base until tell_columns()
    slice_step step;
    std::int32_t row;

    __device__ void start(const sell_view<T>& m, const slice_head& head, std::int32_t lane_row,
                          int lane) {
        row = lane_row;
        head_ = head;
        if (!easy()) load(m, lane);
    }

    /// The product of the lane's row with x. It is called once. Padding reads no x and adds a
    /// finite number times 0, which changes no sum but -0, a result of underflow only: that is
    /// cheaper than to skip it.
    __device__ T product(const sell_view<T>& m, const T* x, int lane) {
        if (easy()) return uniform_product(m, head_, row, x, lane);
        T sum = 0;
        while (head_.length() > 0) {
            if (head_.code() != column_code::wide) tell_columns(lane);
            T factor[in_flight];
#pragma unroll
            for (int u = 0; u < in_flight; ++u) factor[u] = column[u] >= 0 ? x[column[u]] : T(0);
            if constexpr (Ahead) {
                add_up(sum, value, factor);
            } else {
                T beside[in_flight];
                load_values(m, lane, beside);
                add_up(sum, beside, factor);
            }
            if (head_.length() <= in_flight) break;
            head_.read += in_flight;
            head_.columns += head_.code() == column_code::wide ? 2 * in_flight : in_flight;
            head_.shape -= slice_shape(in_flight, column_code{0});
            load(m, lane);
        }
        return sum;
    }

private:
    slice_head head_; ///< what remains of the slice

    [[nodiscard]] __device__ bool easy() const {
        return !Ahead && head_.values() == value_code::uniform &&
               head_.code() == column_code::diagonal;
    }

    static __device__ void add_up(T& sum, const T (&values)[in_flight],
                                  const T (&factors)[in_flight]) {
#pragma unroll
        for (int u = 0; u < in_flight; ++u) sum += values[u] * factors[u];
    }

    /// Values are loaded first: they depend on nothing.
    __device__ void load(const sell_view<T>& m, int lane) {
        if constexpr (Ahead) load_values(m, lane, value);
        if (head_.code() == column_code::wide)
            load_columns<std::int32_t>(m, lane, -1);
        else
            load_steps(m, lane);
    }

    /// Lanes without an entry have the value of the others of a uniform slice, and no x to
    /// multiply.
    __device__ void load_values(const sell_view<T>& m, int lane, T (&to)[in_flight]) const {
        if (head_.values() == value_code::uniform) {
            const uniform_entry<T>* const from = one_address(m.uniform + head_.read);
#pragma unroll
            for (int u = 0; u < in_flight; ++u)
                to[u] = u < head_.length() ? __ldg(&from[u].value) : T(0);
        } else {
            const T* const from =
                one_address(m.values + std::int64_t{head_.read} * slice_rows + lane);
#pragma unroll
            for (int u = 0; u < in_flight; ++u)
                to[u] = u < head_.length() ? load_once(from + u * slice_rows) : T(0);
        }
    }

    __device__ void load_steps(const sell_view<T>& m, int lane) {
        step = {0, 0};
        if (lane < in_flight && lane < head_.length())
            step = load_step(m.steps + head_.read + lane);
        if (head_.code() == column_code::narrow) {
            load_columns<std::uint16_t>(m, lane, 0);
        } else {
#pragma unroll
            for (int u = 0; u < in_flight; ++u) column[u] = row;
        }
    }

    template <class Stored>
    __device__ void load_columns(const sell_view<T>& m, int lane, std::int32_t none) {
        const std::byte* const begin = m.columns + std::int64_t{head_.columns} * column_chunk;
        const Stored* const from = one_address(reinterpret_cast<const Stored*>(begin) + lane);
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            column[u] = u < head_.length()
                            ? static_cast<std::int32_t>(load_once(from + u * slice_rows))
                            : none;
    }

    /// Keeps the compiler from recomputing the address for each load that it may skip.
    template <class V>
    static __device__ const V* one_address(const V* from) {
        asm("" : "+l"(from));
        return from;
    }

    /// Away from boundaries every lane has an entry in every slice-column, and no lane needs the
    /// masks of the others.
    __device__ void tell_columns(int lane) {
        constexpr unsigned all = 0xffffffffu;
        const std::int32_t rest = head_.length();
        std::uint32_t present = rest < in_flight ? (1u << rest) - 1 : all;
        const bool none_here = lane >= in_flight || lane >= rest;
        if (!__all_sync(all, none_here || step.lanes == all)) {
            present = 0;
#pragma unroll
            for (int u = 0; u < in_flight; ++u)
                present |= (__shfl_sync(all, step.lanes, u) >> lane & 1) << u;
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            const std::int32_t base = __shfl_sync(all, step.base, u);
            column[u] = (present >> u & 1) != 0 ? column[u] + base : -1;
        }
    }
};

/// The product of a lane's row of any slice without triples. It is a function of its own, so that
/// its registers don't add to those of a kernel.
template <class T>
__device__ __noinline__ T product_alone(const sell_view<T>& m, std::int32_t slice, std::int32_t row,
                                        const T* x, int lane) {
    warp_slice<T, false> one;
    one.start(m, load_head(m.heads + slice), row, lane);
    return one.product(m, x, lane);
}

} // namespace krylith::cuda

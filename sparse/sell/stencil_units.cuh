// Finds the stencil of a SELL matrix and the slices that have it (stencil.hpp). Included by .cu
// files only.
#pragma once

#include <cstdint>

#include <krylith/sparse/device_matrix/stencil.hpp>
#include <krylith/sparse/epilogue/row_epilogue.cuh>
#include <krylith/sparse/sell/narrow_values.hpp>
#include <krylith/sparse/sell/sell_loads.cuh>
#include <krylith/sparse/sell/uniform_slices.cuh>

namespace krylith::cuda {

/// Whether the diagonals are those of a shape.
template <class T>
__device__ inline bool has_shape(const sell_stencil<T>& s, std::int32_t entries,
                                 stencil_runs runs) {
    if (entries != runs.entries()) return false;
    for (int run = 0; run < runs.count(); ++run) {
        if (!runs.is_three(run)) continue;
        const std::int32_t middle = s.base[runs.middle(run)];
        if (s.base[runs.middle(run) - 1] != middle - 1 ||
            s.base[runs.middle(run) + 1] != middle + 1)
            return false;
    }
    return true;
}

/// Takes the stencil from the slice that uniform_tables::longest names, one thread.
template <class T>
__global__ void describe_stencil(const __grid_constant__ sell_view<T> m, uniform_tables* tables,
                                 sell_stencil<T>* to) {
    to->shape = stencil_shape::none;
    to->aligned = 0;
    tables->counts.shape = stencil_shape::none;
    if (tables->longest == 0) return;
    const slice_head head = load_head(m.heads + tables->longest_slice(m.slices));
    for (std::int32_t k = 0; k < head.length(); ++k) {
        const uniform_entry<T> e = load_entry(m.uniform + head.read + k);
        to->base[k] = e.step.base;
        to->value[k] = e.value;
    }
    for (const stencil_shape shape :
         {stencil_shape::five_points, stencil_shape::seven_points, stencil_shape::nine_points,
          stencil_shape::twenty_seven_points}) {
        const stencil_runs runs = runs_of(shape);
        if (!has_shape(*to, head.length(), runs)) continue;
        to->shape = shape;
        tables->counts.shape = shape;
        to->aligned = 1;
        for (int run = 0; run < runs.count(); ++run)
            if ((to->base[runs.middle(run)] - m.first_owned) % lane_rows<T> != 0) to->aligned = 0;
    }
}

/// The entries of a stencil that a slice has.
struct slice_stencil {
    std::uint32_t there = 0;
    std::uint32_t partial = 0; ///< entries that some row lacks
};

/// Finds the entries of a uniform slice of diagonals in the stencil, in order. Returns whether all
/// are in it, with its values.
template <class T>
__device__ inline bool find_in_stencil(const sell_stencil<T>& s, int entries,
                                       const uniform_entry<T>* in, std::int32_t length,
                                       slice_stencil& found) {
    int u = 0;
    for (std::int32_t k = 0; k < length; ++k, ++u) {
        const uniform_entry<T> e = load_entry(in + k);
        while (u < entries && s.base[u] != e.step.base) ++u;
        if (u == entries || !same_bits(s.value[u], e.value)) return false;
        found.there |= 1u << u;
        if (e.step.lanes != 0xffffffffu) found.partial |= 1u << u;
    }
    return true;
}

/// Whether rows [begin, end) may read the words of x that the runs of these entries read, lanes
/// without an entry included.
template <class T>
__device__ inline bool reads_in_range(const sell_stencil<T>& s, std::uint32_t there,
                                      std::int64_t begin, std::int64_t end,
                                      std::int64_t entries_of_x) {
    if (end > entries_of_x) return false;
    const stencil_runs runs = runs_of(s.shape);
    for (int run = 0; run < runs.count(); ++run) {
        const int middle = runs.middle(run);
        const bool three = runs.is_three(run);
        const std::uint32_t beside = three ? 5u << (middle - 1) : 0u;
        if ((there >> middle & 1) == 0) {
            if ((there & beside) != 0) return false; // they are read with the middle one
            continue;
        }
        const std::int64_t reach = three ? 1 : 0;
        const std::int64_t base = s.base[middle];
        if (begin + base - reach < 0 || end + base + reach > entries_of_x) return false;
    }
    return true;
}

/// Finds the units, one thread for each.
template <class T>
__global__ void __launch_bounds__(block_threads)
    find_units(const __grid_constant__ sell_view<T> m, std::int32_t count_of_units,
               const sell_stencil<T>* stencil, stencil_unit<T>* units, uniform_tables* tables) {
    constexpr int together = stencil_unit<T>::slices;
    constexpr std::int64_t rows = together * slice_rows;
    const std::int32_t entries = runs_of(stencil->shape).entries();
    const auto stride = static_cast<std::int32_t>(gridDim.x * block_threads);
    std::int64_t found = 0;
    for (auto i = static_cast<std::int32_t>(blockIdx.x * block_threads + threadIdx.x);
         i < count_of_units; i += stride) {
        const std::int64_t begin = i * rows;
        stencil_unit<T> unit{};
        slice_stencil first;
        bool alike = entries != 0 && begin + rows <= m.row_count;
        for (int s = 0; alike && s < together; ++s) {
            const slice_head head = load_head(m.heads + i * together + s);
            unit.read[s] = head.read;
            slice_stencil own;
            alike = head.values() == value_code::uniform && head.code() == column_code::diagonal &&
                    find_in_stencil(*stencil, entries, m.uniform + head.read, head.length(), own) &&
                    (s == 0 || own.there == first.there);
            unit.partial |= own.partial;
            first = own;
        }
        alike = alike && first.there != 0 &&
                reads_in_range(*stencil, first.there, begin, begin + rows, m.entries_of_x);
        unit.partial |= ~first.there;
        if (alike) unit.there = first.there;
        units[i] = unit;
        found += alike && unit.there != 0 ? together : 0;
    }
    found = warp_sum(found);
    if (found != 0 && (threadIdx.x & 31) == 0) count(tables->counts.in_units, found);
}

} // namespace krylith::cuda

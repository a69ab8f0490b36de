// Loads of entries of a row by lanes, one by one or by fours.
#pragma once

#include <cstdint>

#include <krylith/spmspv/kernels/row_terms.cuh>

namespace krylith::cuda {

/// The arrays of the whole matrix, which are 16-byte aligned.
template <class S>
struct row_arrays {
    const std::int32_t* columns;
    const typename S::value_type* values;
    std::uint32_t nonzeros;
};

/// Whether lanes take entries by fours, with one load. Where values are read that makes up for the
/// entries of other rows that they load at the ends of a row.
template <class S, bool Masked>
inline constexpr bool by_quads = S::reads_matrix && !Masked;

/// Entries of a row, `Count` a lane, in three steps, so that all are in flight at once.
template <class S, bool Masked, int Count>
struct row_entries {
    using T = typename S::value_type;
    static constexpr int quad = by_quads<S, Masked> ? 4 : 1;
    static_assert(Count % quad == 0);
    std::int32_t column[Count];
    T matrix[Count];
    T vector[Count];
    bool hit[Count];

    /// The place of entry i of the lane whose first is k, with so many lanes. It is unsigned, since
    /// it may go beyond the last of 2^31 - 1 entries.
    [[nodiscard]] __device__ static std::uint32_t place(std::uint32_t k, int i, int lanes) {
        return k + static_cast<unsigned>(i / quad * quad * lanes + i % quad);
    }
    /// Starts the loads; entries [begin, stop) count.
    __device__ void start(const row_arrays<S>& a, const row_terms<S, Masked>& terms,
                          std::uint32_t k, int lanes, std::uint32_t begin, std::uint32_t stop) {
#pragma unroll
        for (int i = 0; i < Count; ++i) {
            const std::uint32_t at = place(k, i, lanes);
            hit[i] = at < stop && (quad == 1 || at >= begin);
        }
        if constexpr (quad == 1) {
#pragma unroll
            for (int i = 0; i < Count; ++i) start_one(a, terms, i, place(k, i, lanes));
        } else {
#pragma unroll
            for (int i = 0; i < Count; i += quad) {
                const std::uint32_t at = place(k, i, lanes);
                start_quad(a, i, at, at < stop && at + quad <= a.nonzeros);
                if (at >= stop || at + quad <= a.nonzeros) continue;
#pragma unroll
                for (int j = i; j < i + quad; ++j) start_one(a, terms, j, place(k, j, lanes));
            }
        }
    }
    __device__ void look(const row_terms<S, Masked>& terms, std::uint32_t k, int lanes) {
#pragma unroll
        for (int i = 0; i < Count; ++i) hit[i] = terms.has(hit[i], column[i]);
#pragma unroll
        for (int i = 0; i < Count; ++i) {
            if constexpr (Masked) matrix[i] = terms.matrix_value(hit[i], place(k, i, lanes));
            vector[i] = terms.vector_value(hit[i], column[i]);
        }
    }
    __device__ void add_to(T& sum, bool& there) const {
#pragma unroll
        for (int i = 0; i < Count; ++i) {
            if (!hit[i]) continue;
            sum = S::add(sum, S::term(matrix[i], vector[i], column[i]));
            there = true;
        }
    }

private:
    __device__ void start_one(const row_arrays<S>& a, const row_terms<S, Masked>& terms, int i,
                              std::uint32_t at) {
        column[i] = hit[i] ? load_once(a.columns + at) : 0;
        if constexpr (!Masked) matrix[i] = terms.matrix_value(hit[i], at);
    }
    template <class Four, class V>
    __device__ static void spread(const Four& from, V* to) {
        to[0] = from.x;
        to[1] = from.y;
        to[2] = from.z;
        to[3] = from.w;
    }
    __device__ void start_quad(const row_arrays<S>& a, int i, std::uint32_t at, bool there) {
        int4 four = make_int4(0, 0, 0, 0);
        if (there) four = load_once(reinterpret_cast<const int4*>(a.columns + at));
        spread(four, column + i);
        if constexpr (sizeof(T) == 4) {
            float4 v = make_float4(0, 0, 0, 0);
            if (there) v = load_once(reinterpret_cast<const float4*>(a.values + at));
            spread(v, matrix + i);
        } else {
            double2 v = make_double2(0, 0);
            double2 w = make_double2(0, 0);
            if (there) v = load_once(reinterpret_cast<const double2*>(a.values + at));
            if (there) w = load_once(reinterpret_cast<const double2*>(a.values + at + 2));
            matrix[i] = v.x;
            matrix[i + 1] = v.y;
            matrix[i + 2] = w.x;
            matrix[i + 3] = w.y;
        }
    }
};

} // namespace krylith::cuda

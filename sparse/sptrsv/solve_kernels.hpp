// Launches of the kernels that solve with a triangle on a CUDA device.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/sparse/sptrsv/level_slices.hpp>
#include <krylith/sparse/sptrsv/triangle_source.hpp>

namespace krylith::cuda {

/// Counters of a solver; all 0 before the first solve. The last block of a solve sets them for the
/// next one, and so does each launch of a recording.
struct solve_counters {
    unsigned ticket;
    unsigned arrived;
    unsigned parity; ///< which of the two arrays of words this solve fills
};

/// What a solver keeps on the device beside its matrix.
template <class T>
struct solve_words {
    T* words = nullptr; ///< [2 * rows * vectors]
    solve_counters* counters = nullptr;
    int vectors = 1; ///< 1, 2 or 4, the same in every solve
};

/// How a kernel is launched. Results don't depend on it.
struct solve_launch {
    unsigned blocks = 0;    ///< 0: as many as pay
    bool one_block = false; ///< a single block whose threads wait in L1
    int steps = 4;          ///< entries of a lane: how many it loads at once
};

/// All bits of `count` words become ones.
template <class T>
void forget_words(device& device, T* words, std::int64_t count);

/// Solves by slices whose columns are places. Rows wait for each other.
template <class T>
void solve_slices(device& device, const triangle_slices<T>& a, const triangular_vectors<T>& v,
                  const solve_words<T>& words, const solve_launch& launch);

/// Solves the slices [first, last), whose columns are rows that earlier launches solved.
template <class T>
void solve_level(device& device, const triangle_slices<T>& a, const triangular_vectors<T>& v,
                 int vectors, std::int64_t first, std::int64_t last);

/// Solves by the compressed rows as they are, a lane for each chain. Rows wait for each other.
template <class T>
void solve_rows(device& device, const triangle_source<T>& a, bool unit, const std::int32_t* starts,
                std::int64_t chains, const triangular_vectors<T>& v, const solve_words<T>& words,
                const solve_launch& launch);

/// Returns the lowest row whose diagonal is 0 or missing, or -1. Waits for the device.
template <class T>
[[nodiscard]] std::int64_t find_bad_pivot(const std::shared_ptr<device>& device,
                                          const triangle_source<T>& a);

} // namespace krylith::cuda

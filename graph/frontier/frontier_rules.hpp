// The rules of graph algorithms for each row that a product has reached: whether it is an entry of
// the next x, with which value, and how the row's state changes. Rules are plain data, the same for
// host and CUDA kernels; rows are counted from the first of the device.
//
//     bool keep(row, value)      called once for a row of y; updates the row's state
//     T outgoing(row)            returns the value of the next x there; after keep()
//     void mark(row)             called for a single row that is kept
//     void mark_word(word, set)  called for 32 rows at once; no other thread has these
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#ifndef __CUDA_ARCH__
#include <atomic>
#endif

namespace krylith::spmspv {

/// Sets bits of a word in which other threads may set bits at the same time.
KRYLITH_HD inline void set_bits(std::uint32_t* word, std::uint32_t bits) {
#ifdef __CUDA_ARCH__
    atomicOr(word, bits);
#else
    std::atomic_ref(*word).fetch_or(bits, std::memory_order_relaxed);
#endif
}

/// Reads the word while other threads may set bits of it.
[[nodiscard]] KRYLITH_HD inline std::uint32_t read_bits(std::uint32_t* word) {
#ifdef __CUDA_ARCH__
    return *word;
#else
    return std::atomic_ref(*word).load(std::memory_order_relaxed);
#endif
}

/// Breadth-first search: a row that was not visited becomes visited on this level.
struct visit {
    using value_type = std::int32_t;
    std::int32_t* levels;
    std::int32_t* parents;
    std::uint32_t* visited; ///< a bit for each row
    std::int32_t level;

    [[nodiscard]] KRYLITH_HD bool keep(std::int64_t row, std::int32_t parent) const {
        if ((read_bits(visited + row / 32) >> (row % 32) & 1) != 0) return false;
        levels[row] = level;
        parents[row] = parent;
        return true;
    }
    [[nodiscard]] KRYLITH_HD std::int32_t outgoing(std::int64_t) const { return 0; }
    KRYLITH_HD void mark(std::int64_t row) const {
        set_bits(visited + row / 32, std::uint32_t{1} << (row % 32));
    }
    KRYLITH_HD void mark_word(std::int64_t word, std::uint32_t set) const { visited[word] |= set; }
};

/// Shortest paths: a row that is nearer than was known passes its distance on.
template <class T>
struct shorten {
    using value_type = T;
    T* distances;

    [[nodiscard]] KRYLITH_HD bool keep(std::int64_t row, T distance) const {
        if (!(distance < distances[row])) return false;
        distances[row] = distance;
        return true;
    }
    [[nodiscard]] KRYLITH_HD T outgoing(std::int64_t row) const { return distances[row]; }
    KRYLITH_HD void mark(std::int64_t) const {}
    KRYLITH_HD void mark_word(std::int64_t, std::uint32_t) const {}
};

/// PageRank: what a row received, damped, is added to its residual. A residual above the threshold
/// moves into the rank and is passed on in equal fractions along the edges that leave.
template <class T>
struct pass_on {
    using value_type = T;
    T* ranks;
    T* residuals;
    T* passed;                ///< what each edge of a kept row carries
    const T* inverse_degrees; ///< 1 / the number of edges that leave the row, 0 where there is
                              ///< none; read for kept rows
    T damping;
    T threshold;

    [[nodiscard]] KRYLITH_HD bool keep(std::int64_t row, T got) const {
        const T residual = residuals[row] + damping * got;
        const bool enough = residual > threshold;
        residuals[row] = enough ? T(0) : residual;
        if (!enough) return false;
        ranks[row] += residual;
        passed[row] = residual * inverse_degrees[row];
        return true;
    }
    [[nodiscard]] KRYLITH_HD T outgoing(std::int64_t row) const { return passed[row]; }
    KRYLITH_HD void mark(std::int64_t) const {}
    KRYLITH_HD void mark_word(std::int64_t, std::uint32_t) const {}
};

/// Calls instantiate(Rule) for each rule that kernels exist for.
#define KRYLITH_FOR_FRONTIER_RULES(instantiate)                                                    \
    instantiate(krylith::spmspv::visit) instantiate(krylith::spmspv::shorten<double>)              \
        instantiate(krylith::spmspv::shorten<float>) instantiate(krylith::spmspv::pass_on<double>) \
            instantiate(krylith::spmspv::pass_on<float>)

} // namespace krylith::spmspv

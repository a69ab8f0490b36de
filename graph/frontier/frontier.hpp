// From y to the next x, in one go: a rule (frontier_rules.hpp) looks at each entry of y, keeps it
// or not and updates its state; what is kept becomes x, and the host is told how many entries that
// is and how much work they will be.
//
// Bytes, k entries of y of which c stay, values of s bytes, beside the rule's own state:
//
//     filter_pairs    k (4 + s) + c (12 + 2 s)    two small kernels, one where k is small
//     filter_bits     n / 4 + k s + n s + 8 c     one kernel; without bits of y n / 8 + 2 n s + 8 c
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/device.hpp>
#include <krylith/graph/frontier/frontier_rules.hpp>
#include <krylith/graph/frontier/group_matrix.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

namespace krylith::spmspv {

/// Everything is of one device and counted from its first row. Plain data for kernels.
template <class T>
struct frontier_arguments {
    vector_arrays<T> y;
    vector_arrays<T> next; ///< not y
    column_lengths lengths;
    std::byte* scratch; ///< frontier_scratch_bytes(), zero before the first use
    /// Posts 1 + lengths.parts words: entries kept, and the sum of their columns' lengths in each
    /// part.
    post_address post;
};

} // namespace krylith::spmspv

// Enqueued. Instantiated for the rules of frontier_rules.hpp, and sums for double and float.
#define KRYLITH_FRONTIER_KERNELS                                                                   \
    /** Pairs of y, at most `bound` of them, to pairs of next, in the same order. */               \
    template <class Rule>                                                                          \
    void filter_pairs(device& device, const Rule& rule,                                            \
                      const spmspv::frontier_arguments<typename Rule::value_type>& a,              \
                      std::int64_t bound);                                                         \
    /** Bits and dense values of y to bits and dense values of next, all of them. y.bits null:     \
        entries are where the dense value isn't absent. Both null: every row is looked at, with    \
        the value absent. */                                                                       \
    template <class Rule>                                                                          \
    void filter_bits(device& device, const Rule& rule,                                             \
                     const spmspv::frontier_arguments<typename Rule::value_type>& a);              \
    [[nodiscard]] std::size_t frontier_scratch_bytes(std::int64_t rows);                           \
    /** Posts the sums of so many arrays, 1 or 3, of `count` values each, one behind the other: in \
        double, in a fixed order, as bits. `scratch` as above. */                                  \
    template <class T>                                                                             \
    void post_sums(device& device, const T* values, std::int64_t count, int arrays,                \
                   std::byte* scratch, const post_address& post);

namespace krylith::host {
KRYLITH_FRONTIER_KERNELS
} // namespace krylith::host

namespace krylith::cuda {
KRYLITH_FRONTIER_KERNELS
} // namespace krylith::cuda

#undef KRYLITH_FRONTIER_KERNELS

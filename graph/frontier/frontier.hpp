// Turns y into the next x in one pass: a rule (frontier_rules.hpp) tests each entry of y, keeps it
// or not and updates its state. The kept entries become x, and the host is told their number and
// how many nonzeros their columns have.
//
// Bytes for k entries of y, of which c are kept, with values of s bytes, beside the rule's own
// state:
//
//     filter_pairs    k (4 + s) + c (12 + 2 s)    two small kernels, one where k is small
//     filter_bits     n / 4 + k s + n s + 8 c     one kernel; without bits of y n / 8 + 2 n s + 8 c
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/graph/frontier/frontier_rules.hpp>
#include <krylith/graph/frontier/group_matrix.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

namespace krylith::spmspv {

/// The arguments of the frontier kernels, all on one device, with rows counted from its first one.
/// Plain data for kernels.
template <class T>
struct frontier_arguments {
    vector_arrays<T> y;
    vector_arrays<T> next; ///< must not be y
    column_lengths lengths;
    std::byte* scratch; ///< frontier_scratch_bytes(), zero before the first use
    /// Where 1 + lengths.parts words are posted: the entries kept, and for each part the sum of
    /// their columns' lengths.
    post_address post;
};

} // namespace krylith::spmspv

// These functions enqueue. They are instantiated for the rules of frontier_rules.hpp, post_sums for
// double and float.
namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// Filters pairs of y, at most `bound`, into pairs of next, in the same order.
    template <class Rule>
    void filter_pairs(device& device, const Rule& rule,
                      const spmspv::frontier_arguments<typename Rule::value_type>& a,
                      std::int64_t bound);
    /// Filters bits and dense values of y into bits and dense values of next. Where y.bits is
    /// null, entries are where the dense value isn't absent. Where y.dense is null too, every
    /// row is an entry with the value absent.
    template <class Rule>
    void filter_bits(device& device, const Rule& rule,
                     const spmspv::frontier_arguments<typename Rule::value_type>& a);
    [[nodiscard]] std::size_t frontier_scratch_bytes(std::int64_t rows);
    /// Posts the sums of `arrays` consecutive arrays, 1 or 3, of `count` values each, as bits of
    /// double, added in a fixed order. `scratch` is that of frontier_arguments.
    template <class T> void post_sums(device& device, const T* values, std::int64_t count,
                                      int arrays, std::byte* scratch, const post_address& post);)

} // namespace krylith

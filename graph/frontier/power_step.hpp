// A step of PageRank in which every vertex passes on: it turns y = P x into the next x, dense.
// Where most ranks still change this takes fewer bytes than deciding row by row (frontier.hpp), and
// steps may be weighted.
//
// With s the residual of the ranks r, a change of r by c leaves s - (I - d P) c. A row that
// received y therefore adds d y to what is kept of its residual, chooses its change c, and passes c
// on:
//
//     s = kept + d y     c = w s + (w - 1) c before     r += c     kept = s - c
//
// w = 1 is the power method, which keeps nothing; the solver chooses other weights.
//
// Bytes for n rows with values of s bytes, in one kernel: s n for y where it comes from memory, 4 s
// n + n / 8, and 4 s n more where residuals and changes are kept. With the product in the same
// kernel (CUDA) its entries, offsets and gather replace y: in fp32 4 nnz + 24 n, or 40 n, and what
// the gather takes beyond reading x once.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/spmspv/csr_csc_pair.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

namespace krylith::spmspv {

/// A step: arrays over the rows of the device. Plain data for kernels.
template <class T>
struct power_step {
    T* ranks;
    T* residuals; ///< what is kept of them; null: 0 before and after, and the weight must be 1
    T* changes;   ///< changes of the ranks in the step before; null: not kept, and the weight must
                  ///< be 1
    const T* inverse_degrees;
    T damping;
    T weight;
    T mean_correction; ///< added to every residual, as if surfers jumped more often by that much

    struct row {
        T rank; ///< the rank before the step
        T residual;
        T change; ///< the change in the step before
        T inverse_degree;
    };
    [[nodiscard]] KRYLITH_HD row read(std::int64_t i) const {
        return {ranks[i], residuals != nullptr ? residuals[i] : T(0),
                changes != nullptr ? changes[i] : T(0), inverse_degrees[i]};
    }
    /// Updates a row that received `got` and returns what it passes along each of its edges.
    /// Afterwards `at` has the residual of the ranks before the step, and their change.
    [[nodiscard]] KRYLITH_HD T update(std::int64_t i, row& at, T got) const {
        at.residual += damping * got + mean_correction;
        const T before = at.change;
        at.change = weight * at.residual;
        if (weight != T(1)) at.change += (weight - T(1)) * before;
        if (residuals != nullptr) residuals[i] = at.residual - at.change;
        ranks[i] = at.rank + at.change;
        if (changes != nullptr) changes[i] = at.change;
        return at.change * at.inverse_degree;
    }
    /// Returns what an updated row adds to residuals, its own and others', after the next product.
    [[nodiscard]] KRYLITH_HD double gives(const row& at) const {
        const T onward = at.inverse_degree != T(0) ? damping * at.change : T(0);
        return static_cast<double>(at.residual - at.change) + static_cast<double>(onward);
    }
};

/// The arguments of a step. Plain data for kernels.
template <class T>
struct power_step_arguments {
    const T* y; ///< null: 0 in all rows, or the kernel multiplies itself
    T* x;       ///< dense
    std::uint32_t* bits;
    std::int64_t rows;
    std::byte* scratch; ///< frontier_scratch_bytes()
    /// Null: the sums are not wanted. Else three numbers are posted, as bits of double: the sums of
    /// |residual| before the step, of residuals after the next product, and of ranks before the
    /// step. They are added in a fixed order.
    post_address post;
};

} // namespace krylith::spmspv

namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// Enqueues a step. T: double, float.
    template <class T> void step_ranks(device& device, const spmspv::power_step<T>& step,
                                       const spmspv::power_step_arguments<T>& a);)

namespace cuda {
/// Enqueues the product over plus_second and the step in one kernel, which stores no y. `rows` has
/// no values; x is dense and must not be a.x. Sums are those of balanced products.
template <class T>
void multiply_and_step(device& device, const spmspv::compressed_view<T>& rows,
                       const spmspv::row_chunks& chunks, const T* x,
                       const spmspv::power_step<T>& step, const spmspv::power_step_arguments<T>& a);
} // namespace cuda

} // namespace krylith

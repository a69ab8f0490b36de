// A step of PageRank in which every vertex passes on: from y = P x to the next x, dense. Where most
// ranks still change that takes fewer bytes than deciding row by row (frontier.hpp), and steps may
// be weighted.
//
// With s the residual of the ranks r, a change of them by c leaves s - (I - d P) c. So a row that
// got y adds d y to what is kept of its residual, chooses its change, and passes that on:
//
//     s = kept + d y     c = w s + (w - 1) c before     r += c     kept = s - c
//
// w = 1 is the power method, which keeps nothing; other weights come from the solver.
//
// Bytes, n rows of s bytes a value: s n for y where it comes from memory, 4 s n + n / 8, and 4 s n
// more where residuals and changes are kept, in one kernel. With the product in the same kernel
// (CUDA) its entries, offsets and gather come instead of y: in fp32 4 nnz + 24 n, or 40 n, and what
// the gather takes beyond reading x once.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/device.hpp>
#include <krylith/device/kernel/annotations.hpp>
#include <krylith/spmspv/csr_csc_pair.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

namespace krylith::spmspv {

/// Arrays by row of the device. Plain data for kernels.
template <class T>
struct power_step {
    T* ranks;
    T* residuals; ///< what is kept of them; null: 0 before and after, the weight must be 1
    T* changes;   ///< of the ranks, in the step before; null: not kept, the weight must be 1
    const T* shares;
    T damping;
    T weight;
    T mean_correction; ///< added to all residuals: by as much more, in all, surfers jump

    struct row {
        T rank; ///< before the step
        T residual;
        T change; ///< of the step before
        T share;
    };
    [[nodiscard]] KRYLITH_HD row read(std::int64_t i) const {
        return {ranks[i], residuals != nullptr ? residuals[i] : T(0),
                changes != nullptr ? changes[i] : T(0), shares[i]};
    }
    /// What the row passes along each of its edges. `at` then has the residual of the ranks before,
    /// and their change.
    [[nodiscard]] KRYLITH_HD T update(std::int64_t i, row& at, T got) const {
        at.residual += damping * got + mean_correction;
        const T before = at.change;
        at.change = weight * at.residual;
        if (weight != T(1)) at.change += (weight - T(1)) * before;
        if (residuals != nullptr) residuals[i] = at.residual - at.change;
        ranks[i] = at.rank + at.change;
        if (changes != nullptr) changes[i] = at.change;
        return at.change * at.share;
    }
    /// What an updated row will have given to residuals, its own and others', after the product.
    [[nodiscard]] KRYLITH_HD double gives(const row& at) const {
        const T onward = at.share != T(0) ? damping * at.change : T(0);
        return static_cast<double>(at.residual - at.change) + static_cast<double>(onward);
    }
};

/// Plain data for kernels.
template <class T>
struct power_step_arguments {
    const T* y; ///< null: 0 in all rows, or there is a product
    T* x;       ///< dense
    std::uint32_t* bits;
    std::int64_t rows;
    std::byte* scratch; ///< frontier_scratch_bytes()
    /// Null: the sums are not wanted. Else posts three numbers, as bits of double: the sums of the
    /// residuals' magnitudes before the step, of residuals after the product that follows, and of
    /// ranks before the step; added in a fixed order.
    post_address post;
};

} // namespace krylith::spmspv

// Enqueued. T: double, float.
#define KRYLITH_RANK_SWEEP                                                                         \
    template <class T>                                                                             \
    void step_ranks(device& device, const spmspv::power_step<T>& step,                             \
                    const spmspv::power_step_arguments<T>& a);

namespace krylith::host {
KRYLITH_RANK_SWEEP
} // namespace krylith::host

namespace krylith::cuda {
KRYLITH_RANK_SWEEP
/// The product over plus_second and the step in one kernel, which stores no y: rows has no values,
/// x is dense and not a.x. Sums as those of balanced products.
template <class T>
void multiply_and_step(device& device, const spmspv::compressed_view<T>& rows,
                       const spmspv::row_chunks& chunks, const T* x,
                       const spmspv::power_step<T>& step, const spmspv::power_step_arguments<T>& a);
} // namespace krylith::cuda

#undef KRYLITH_RANK_SWEEP

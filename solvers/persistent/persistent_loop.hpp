// The CG iteration as one kernel a device that stays until the loop stops: for systems so small
// that the starts of kernels cost more than their bytes.
//
// Every multiprocessor keeps its rows of r, p and q (and of x, while they are few) in registers and
// shared memory, with as much of the matrix as fits, in the manner of PERKS (Zhang, Wahib,
// Matsuoka, "PERKS: a locality-optimized execution model for iterative memory-bound GPU
// applications", ICS 2023). The direction is formed on the fly: the product gathers z_j and the old
// p_j as a pair and computes p_j = z_j + beta p_j for each nonzero. An iteration so has two phases,
// the product with p'q and the updates with r'r and r'z, as many as it has inner products that
// depend on each other. The recurrences are the textbook's, in its order, with its accuracy.
//
// Blocks and devices add up sums without atomics: each block stores {value, epoch} at every device,
// and every block adds all of them in the same order. Ghosts travel in the same way, without
// fences.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

/// Says why this operator's CG can't run in persistent kernels; empty if it can. It needs CUDA
/// devices that reach each other, vectors in owned coherence, blocks in SELL, and at most
/// persistent_rows(device) rows on each device. Collective.
template <class T>
[[nodiscard]] std::string not_persistent_because(const matrix_operator<T>& a);

/// Says why cg() doesn't run persistent kernels although it might be able to; empty if it should:
/// the mode asks for something else, or the matrix is so large that kernels of a product alone read
/// it faster. Collective.
template <class T>
[[nodiscard]] std::string persistent_not_worth_because(const matrix_operator<T>& a,
                                                       execution_mode mode);

/// Throws usage_error with the reason.
[[noreturn]] void refuse_persistent_cg(const std::string& why_not);

/// The rows that a CUDA device can keep in its multiprocessors: 4096 each (H200: 540,672), fewer
/// where shared memory is small; 0 for host devices.
[[nodiscard]] std::int64_t persistent_rows(const device& device);

/// The registers of the execution that the loop works on, besides the control registers.
struct persistent_registers {
    std::uint8_t rho;   ///< r'z
    std::uint8_t beta;  ///< the factor of the next direction; 0 starts with p = z
    std::uint8_t scale; ///< the factor of the preconditioner, or no_register
};

/// The buffers of one solve: 16 n bytes for the pairs, 32 a ghost, and 64 for sums for each pair of
/// a block and a device.
template <class T>
class persistent_loop {
public:
    /// Throws usage_error where not_persistent_because() gives a reason.
    explicit persistent_loop(const matrix_operator<T>& a);
    ~persistent_loop();

    /// Enqueues iterations of CG for (alpha A) x = b until a control register says stop. r is the
    /// residual of x; z is r where `inverse` is null, else inverse .* r times the scale. The kernel
    /// itself detects the indefinite states: p'Ap <= 0, and r'z <= 0 where there is an inverse.
    void enqueue(execution& run, T alpha, vector<T>& x, vector<T>& r, const vector<T>* inverse,
                 const persistent_registers& registers);

private:
    struct rank_state;
    const matrix_operator<T>& a_;
    std::vector<std::unique_ptr<rank_state>> ranks_; ///< [ranks], of the local ones
    std::vector<std::int32_t> blocks_;               ///< [ranks] of the kernels
};

} // namespace krylith

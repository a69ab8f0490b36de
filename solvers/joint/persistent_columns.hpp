// CG for several right-hand sides as one kernel that stays until no column goes on: for systems so
// small that the starts of kernels cost more than their bytes.
//
// As in solvers/persistent/persistent_loop.hpp a thread keeps its entries of x, r, p and q in
// registers, and the product gathers z and the old p as a pair and forms the direction z + beta p
// on the fly, so that an iteration has two phases, each of which ends in one all-reduce of all
// columns: the product with p'q, and the updates with r'r and r'z. Each block stores its sums,
// stamped, and every block adds up those of all, in the same order and without atomics.
#pragma once

#include <cstdint>
#include <string>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

/// Blocks of a persistent kernel, one a multiprocessor. A warp reads the sums of all with 5 loads a
/// lane.
inline constexpr int most_column_blocks = 160;

/// One device's rows and vectors, and what the kernel needs besides.
template <class T>
struct persistent_column_operands : column_operands<T> {
    T* pairs;                  ///< [rows][2][columns]: z, then p
    stamped_value* slots;      ///< [2][2 columns][most_column_blocks]
    std::uint64_t* last_epoch; ///< of the all-reduces so far
    std::int64_t iterations;   ///< at most so many, at least 1
    bool preconditioned;
};

/// Says why the kernel can't run on this group with so many rows and columns; empty if it can. It
/// needs one CUDA device and, for k columns, at most 4096 / k rows a multiprocessor (H200 and 8
/// columns: 67,584).
[[nodiscard]] std::string no_persistent_columns_because(const communicator& comm, std::int64_t rows,
                                                        int columns);

/// What the kernel keeps from launch to launch: 2 k numbers a row, and 80 KiB.
template <class T>
class persistent_columns {
public:
    /// no_persistent_columns_because() says nothing against it.
    persistent_columns(const communicator& comm, std::int64_t rows, int columns);

    /// Enqueues at most so many iterations from the numbers in the execution's array
    /// (column_places), r and the direction p; it leaves there what the next call goes on from.
    /// `operands` are those of the passes of cg_columns, which has M if `preconditioned`; b and q
    /// are not touched.
    void enqueue(execution& run, const column_operands<T>& operands, bool preconditioned,
                 std::int64_t iterations);

private:
    buffer<T> pairs_;
    buffer<stamped_value> slots_;
    buffer<std::uint64_t> last_epoch_;
};

namespace cuda {

/// The rows of so many columns that a device can keep in its registers.
[[nodiscard]] std::int64_t persistent_column_rows(const device& device, int columns);

template <class T>
void iterate_columns(device& device, const kernel_context& common,
                     const persistent_column_operands<T>& a);

} // namespace cuda

} // namespace krylith

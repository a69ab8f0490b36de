// The limit of a product on several devices: its slowest block, computed alone, and what the
// busiest device must receive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/common/workload.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith::bench {

/// The blocks of equal nonzeros that devices multiply, each on a device of its own with all of x
/// there and nothing sent. The vectors have an entry a rank, 0 for a device without rows.
struct lone_blocks {
    std::vector<double> seconds;
    std::vector<double> matrix_bytes; ///< bytes that a product reads of the block
    /// The nonzeros of rows that read x from other blocks over those of the block.
    std::vector<double> waiting;
};

/// Measures one block after the other, on the first device (of host devices: one with as many
/// threads as each of `devices` has, so that the memory is not shared as it will be). It costs the
/// set-up of an operator, and `effort` a block. Throws what make_operator() throws.
template <class T>
[[nodiscard]] lone_blocks measure_blocks(const device_choice& choice, const workload& w,
                                         int devices, format_kind format, execution_mode mode,
                                         const slope_effort& effort);

struct spmv_limit {
    double compute = 0;  ///< seconds of the slowest device's rows
    double transfer = 0; ///< seconds of what the busiest device receives
    /// The seconds of `compute` that can't begin before the transfer has ended: rows that read what
    /// halo and allgather send before the product. The others send results, for which nothing
    /// waits.
    double waiting = 0;

    /// Returns max(compute - waiting, transfer) + waiting.
    [[nodiscard]] double seconds() const;

    /// Returns how much of the shorter of the transfer and the computation that need not wait ran
    /// beside the longer: 1 where the product takes seconds(), 0 where it takes compute + transfer
    /// or more. Returns nothing where one of them is 0.
    [[nodiscard]] std::optional<double> hidden(double product_seconds) const;
};

/// Computes the limit of an operator whose devices compute other rows than those of the blocks
/// (more of them, in other places): a rank's time is in proportion to its matrix bytes. `link` is
/// the bytes/s into each device.
template <class T>
[[nodiscard]] spmv_limit limit_of(const matrix_operator<T>& a, const lone_blocks& blocks,
                                  double link);

} // namespace krylith::bench

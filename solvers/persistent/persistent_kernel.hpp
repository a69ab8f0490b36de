// The persistent kernel's arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/sparse/device_matrix/sell_view.hpp>
#include <krylith/vector/execution/kernel_context.hpp>
#include <krylith/vector/execution/loop_watch.hpp>

namespace krylith {

/// What the product gathers for each column: the next direction is z + beta p.
template <class T>
struct alignas(2 * sizeof(T)) direction_pair {
    T z;
    T p;
};

/// The place of a row's pair at a peer.
struct persistent_send {
    std::int32_t peer;
    std::int32_t position; ///< among the peer's ghosts
};

inline constexpr int persistent_threads = 512;
inline constexpr int persistent_warps = persistent_threads / 32;
inline constexpr int most_persistent_slices = 8; ///< slices of a warp
inline constexpr int register_slices = 2; ///< up to so many, registers hold a thread's rows of x
                                          ///< and r
/// Blocks of a device, one a multiprocessor. A warp reads the sums of all with 5 loads a lane.
inline constexpr int most_persistent_blocks = 160;
inline constexpr int persistent_sums = 2; ///< values of one all-reduce

/// Shared memory of a block for its rows' q, the places to send them to, and r if registers don't
/// hold it.
[[nodiscard]] KRYLITH_HD constexpr std::int32_t persistent_row_bytes(int slices_a_warp,
                                                                     std::size_t value_size) {
    const std::size_t values = slices_a_warp > register_slices ? 2 : 1;
    return slices_a_warp * persistent_threads *
           static_cast<std::int32_t>(values * value_size + sizeof(std::uint32_t));
}

inline constexpr std::uint8_t no_scale = 255;

/// The number of registers that the kernel leaves new values of.
inline constexpr int persistent_results = 8;

/// The kernel reads the host's word to stop once in so many iterations, a power of two.
inline constexpr int persistent_trip = 16;

/// The arguments of the kernel, as plain data.
template <class T>
struct persistent_arguments {
    sell_view<T> matrix;
    T alpha;
    T* x;
    T* r;
    const T* inverse;         ///< 1 / diagonal, or null
    direction_pair<T>* pairs; ///< [rows], kept from launch to launch
    stamped_value* ghosts;    ///< [ghosts][2]: z and p, written by the peers
    stamped_value* const* peer_ghosts;
    const std::int32_t* first_send; ///< [rows + 1]; null: nothing is sent
    const persistent_send* sends;
    stamped_value* own_slots;         ///< [2][ranks][persistent_sums][most_persistent_blocks]
    stamped_value* const* peer_slots; ///< [ranks]
    std::uint64_t* last_epoch;        ///< of the all-reduces so far; the same on all ranks
    loop_watch* watch;                ///< of this rank
    std::int32_t blocks[max_gpus];
    std::int32_t rows;
    std::int32_t pool_bytes; ///< shared memory for the block's rows, pairs and matrix
    std::uint8_t rho;        ///< a register, as the next two
    std::uint8_t beta;
    std::uint8_t scale;                     ///< or no_scale
    std::uint8_t slots[persistent_results]; ///< for state, iteration, residual, best, best_at, rho,
                                            ///< beta, posted

    /// Whether a local column is one of this rank's rows.
    [[nodiscard]] KRYLITH_HD bool owns(std::int32_t column) const {
        return column >= matrix.first_owned && column - matrix.first_owned < rows;
    }
    /// The two values of a local column that another rank owns.
    [[nodiscard]] KRYLITH_HD const stamped_value* ghost(std::int32_t column) const {
        return ghosts + 2 * std::int64_t{column < matrix.first_owned ? column : column - rows};
    }
};

/// The index of a value in the slots.
[[nodiscard]] KRYLITH_HD inline std::int64_t slot_of(std::uint64_t epoch, int ranks, int rank,
                                                     int value, int block) {
    return ((static_cast<std::int64_t>(epoch & 1) * ranks + rank) * persistent_sums + value) *
               most_persistent_blocks +
           block;
}

namespace cuda {

/// The launch shape of a persistent kernel.
struct persistent_shape {
    std::int32_t blocks = 0;
    std::int32_t slices_a_warp = 0; ///< 1, 2, 4 or 8
    std::int32_t pool_bytes = 0;    ///< shared memory for rows, pairs and matrix
};

/// The number of slices that a warp can have on this device: most_persistent_slices or fewer, where
/// a block has little shared memory; 0: none.
[[nodiscard]] std::int32_t persistent_slices(const device& device);

/// Returns the shape for a matrix block of `matrix_bytes` bytes with pairs of `pair_bytes` bytes
/// and at most persistent_slices() * persistent_warps slices a multiprocessor.
[[nodiscard]] persistent_shape shape_of_persistent(const device& device, std::int64_t slices,
                                                   std::int64_t matrix_bytes,
                                                   std::int64_t pair_bytes);

template <class T>
void persistent_cg(device& device, const kernel_context& common, const persistent_arguments<T>& a,
                   const persistent_shape& shape);

} // namespace cuda

} // namespace krylith

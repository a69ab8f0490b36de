// Gauss-Seidel steps for rows that are not coupled with one another.
#pragma once

#include <cstdint>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith::detail {

/// Rows of one colour, and their entries in columns of earlier colours, or of later ones, times
/// -omega / a_ii. Entries of consecutive rows are consecutive.
template <class T>
struct colour_rows_view {
    std::int64_t count = 0;                ///< rows
    const std::int32_t* rows = nullptr;    ///< [count] of the device
    const std::int64_t* offsets = nullptr; ///< [count + 1]
    const std::int32_t* columns = nullptr; ///< places in the vector
    const T* values = nullptr;
    std::int64_t mean = 0; ///< entries of a row
};

} // namespace krylith::detail

namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// Enqueues v_i += sum_j values_ij v_j for the rows, where a.x and a.y are v. Waits for ghosts,
    /// gives credit for them, and does nothing after the loop has stopped, as a product does.
    template <class T> void sweep_rows(device& device, const detail::colour_rows_view<T>& rows,
                                       const spmv_arguments<T>& a);)

} // namespace krylith

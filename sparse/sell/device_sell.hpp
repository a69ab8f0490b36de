// A block's slices, made on its CUDA device from its pattern there: bit for bit what
// make_sell_layout() and make_sell_columns() make on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_matrix/sell_view.hpp>
#include <krylith/sparse/pattern/device_pattern.hpp>

namespace krylith {

/// All of SELL but the values.
struct device_sell {
    buffer<slice_head> heads;
    buffer<slice_step> steps;   ///< none if all slices are wide
    buffer<std::byte> stored;   ///< columns of narrow and wide slices
    buffer<std::int32_t> rows;  ///< sell_layout::rows
    std::int64_t slice_columns; ///< the values are 32 times as many
    std::int64_t used_steps;    ///< of slices that are not wide
    std::int64_t triples;       ///< slice-columns of slices with triples

    /// The bytes that a product reads of a matrix with values of `value_bytes`, padding included.
    [[nodiscard]] std::int64_t bytes(std::int64_t value_bytes) const;
};

namespace cuda {

/// Makes the slices. Reads the columns twice, and waits for the device. Needs no memory besides the
/// result. Throws input_error where slice-columns or chunks don't fit into 32 bits.
[[nodiscard]] device_sell make_device_sell(const std::shared_ptr<device>& device,
                                           const device_pattern& pattern);

} // namespace cuda

} // namespace krylith

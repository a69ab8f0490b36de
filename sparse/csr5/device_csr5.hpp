// A block's CSR5, made on its CUDA device from its pattern there: bit for bit what
// make_csr5_layout() makes on the host.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/csr5/csr5_layout.hpp>
#include <krylith/sparse/pattern/device_pattern.hpp>

namespace krylith {

/// The arrays of csr5_layout, and the columns in the order of tiles.
struct device_csr5 {
    csr5_shape shape;
    std::int64_t nonzeros = 0;
    std::int64_t tiles = 0;
    buffer<std::uint32_t> tile_rows;
    buffer<std::uint32_t> lanes;
    buffer<std::uint32_t> empty_begin;
    buffer<std::int32_t> empty_offsets;
    buffer<std::int32_t> empty_rows;
    buffer<std::int32_t> columns;
};

namespace cuda {

/// Makes the arrays with 32 lanes. Reads the offsets four times and the columns once, and waits for
/// the device. Needs no memory besides the result. Throws input_error for 2^31 tiles and more.
[[nodiscard]] device_csr5 make_device_csr5(const std::shared_ptr<device>& device,
                                           const device_pattern& pattern, int sigma);

/// Enqueues to[place] = from[entry - base] for the places [first, last), which are whole tiles or
/// end with the last.
template <class V>
void order_by_tiles(device& device, csr5_shape shape, std::int64_t nonzeros, std::int64_t first,
                    std::int64_t last, const V* from, std::int64_t base, V* to);

} // namespace cuda

} // namespace krylith

// Rows of an identity matrix on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith {

/// Enqueues a block of `rows` rows, of which row i has 1 in column i, of at least as many columns.
template <class T>
[[nodiscard]] device_csr<T> identity_block(const std::shared_ptr<device>& on, std::int64_t rows,
                                           std::int64_t columns) {
    const auto count = static_cast<std::size_t>(rows);
    buffer<std::int64_t> offsets(on, count + 1, "identity");
    buffer<std::int32_t> indices(on, count, "identity");
    buffer<T> values(on, count, "identity");
    run_items(*on, identity_rows<T>{offsets.data(), indices.data(), values.data(), rows}, rows + 1);
    device_csr<T> block(on, columns, std::move(offsets), std::move(indices), std::move(values));
    block.set_ascending(true);
    return block;
}

} // namespace krylith

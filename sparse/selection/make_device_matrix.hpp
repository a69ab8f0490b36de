// Builds one device's block in a format.
#pragma once

#include <memory>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/format.hpp>

namespace krylith {

/// format_kind::automatic is what choose_format() says on CUDA devices, but for a block that
/// borrows arrays no sell, which has an order of its own; on host devices it is csr. Throws
/// usage_error for a format that the device doesn't have.
template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>>
make_device_matrix(const std::shared_ptr<device>& device, const local_csr<T>& block,
                   format_kind kind);

} // namespace krylith

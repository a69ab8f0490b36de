// The device matrix of a block, in the format asked for.
#pragma once

#include <memory>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/format.hpp>

namespace krylith {

/// Builds the block in a format. formats::automatic is what choose_format() returns on CUDA
/// devices, of a block that borrows arrays choose_borrowing_format(), since sell and csr5 have
/// orders of their own; on host devices it is csr. Throws usage_error for a format that the device
/// doesn't have.
template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>>
make_device_matrix(const std::shared_ptr<device>& device, const local_csr<T>& block,
                   format_kind kind);

} // namespace krylith

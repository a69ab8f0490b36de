// Both phases of C = A B for factors of dense blocks on a CUDA device.
#pragma once

#include <memory>

#include <krylith/sparse/spgemm/spgemm_phases.hpp>

namespace krylith::cuda {

/// The phases for A and B, or null where they do not consist of dense blocks, or where rows of C
/// have so many products that the whole GPU should take them one by one. Waits for the device.
template <class T>
[[nodiscard]] std::unique_ptr<detail::spgemm_phases<T>>
make_dense_block_phases(const device_csr<T>& a, const device_csr<T>& b);

} // namespace krylith::cuda

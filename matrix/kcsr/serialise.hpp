// A matrix as the bytes of a .kcsr file, chunk by chunk.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <krylith/matrix/csr.hpp>

namespace krylith::binary {

/// Calls put with the bytes of the file, in order. The matrix must have been validated.
/// Checksums come first, by all OpenMP threads. O(bytes).
template <class T>
void serialise(const csr_view<T>& matrix,
               const std::function<void(std::span<const std::byte>)>& put);

} // namespace krylith::binary

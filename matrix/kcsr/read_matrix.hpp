// A matrix of its own from the bytes of a .kcsr file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/kcsr/image.hpp>

namespace krylith::binary {

/// Bytes that many threads may read at once.
struct byte_source {
    std::string name; ///< the name in messages
    std::uint64_t bytes = 0;
    std::function<void(std::uint64_t begin, std::span<std::byte> place)> read;
};

/// Reads each byte once, to where it stays, by all OpenMP threads. Throws input_error for what
/// open_image refuses, where the memory can't hold the matrix, and where a value doesn't fit (see
/// read_binary_csr).
template <class T>
[[nodiscard]] csr_matrix<T> read_matrix(const byte_source& file, file_check check = {});

} // namespace krylith::binary

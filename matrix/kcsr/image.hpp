// The bytes of a .kcsr file, wherever they lie, as a matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/kcsr/head.hpp>

namespace krylith::binary {

/// The checks that are made of a file. The head, the length of the file and its own checksum are
/// always checked.
struct file_check {
    bool checksums = true; ///< all bytes are as they were written
    bool matrix = true;    ///< validate(): offsets and columns are in range
};

/// Views of the parts of a file that was accepted.
struct image {
    contents what;
    std::span<const std::int64_t> row_offsets;
    std::span<const std::int32_t> column_indices;
    std::span<const std::byte> values; ///< nnz numbers of type what.type

    /// T must be the type of the values.
    template <class T>
    [[nodiscard]] csr_view<T> view() const {
        return {what.rows,
                what.columns,
                row_offsets,
                column_indices,
                {reinterpret_cast<const T*>(values.data()), column_indices.size()}};
    }
};

/// `file` must be aligned to 8 bytes. Throws input_error, beginning with `name`.
/// O(bytes checked), by all OpenMP threads.
[[nodiscard]] image open_image(std::span<const std::byte> file, const std::string& name,
                               file_check check);

} // namespace krylith::binary

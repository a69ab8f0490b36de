// The numbers by which PETSc knows its objects in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace krylith::petsc {

inline constexpr std::int64_t matrix_class = 1211216; ///< MAT_FILE_CLASSID
inline constexpr std::int64_t vector_class = 1211214; ///< VEC_FILE_CLASSID

/// Returns the class that bytes begin with, in 4 or 8 big-endian ones (`width`), and 0 for none.
[[nodiscard]] constexpr std::int64_t class_of(std::string_view bytes, int& width) noexcept {
    for (const int candidate : {4, 8}) {
        const auto length = static_cast<std::size_t>(candidate);
        if (bytes.size() < length) {
            return 0;
        }
        std::uint64_t id = 0;
        for (const char c : bytes.substr(0, length)) {
            id = id * 256 + static_cast<unsigned char>(c);
        }
        if (id == matrix_class || id == vector_class) {
            width = candidate;
            return static_cast<std::int64_t>(id);
        }
    }
    return 0;
}

} // namespace krylith::petsc

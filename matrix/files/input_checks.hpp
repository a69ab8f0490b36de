// What readers of matrices check, before they allocate and when they are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <krylith/matrix/csr.hpp>

namespace krylith::files {

/// Throws input_error where the memory can't hold `bytes` more for what the file is read into. The
/// memory is what the machine has available, or `memory` bytes where that isn't 0.
void check_memory(const std::string& file, double bytes, std::int64_t memory = 0);

/// The objection to more rows than 2^24, than 64 an entry, and than an eighth of the memory holds:
/// rows take 8 bytes each even where they are empty, and nothing in the file vouches for them.
[[nodiscard]] std::optional<std::string> unfounded_rows(std::int64_t rows, std::int64_t entries,
                                                        std::int64_t memory);

/// Throws input_error for unfounded rows.
void check_rows(const std::string& file, std::int64_t rows, std::int64_t entries,
                std::int64_t memory);

/// Validates, and names the file in what it throws.
template <class T>
void validate_input(const std::string& file, const csr_view<T>& matrix);

/// The bytes of a CSR matrix with values of `value_bytes`.
[[nodiscard]] inline double csr_bytes(std::int64_t rows, std::int64_t nnz,
                                      std::size_t value_bytes) {
    return 8.0 * (static_cast<double>(rows) + 1) +
           static_cast<double>(sizeof(std::int32_t) + value_bytes) * static_cast<double>(nnz);
}

} // namespace krylith::files

// The files that `krylith bench read` reads: a gallery matrix as Matrix Market text in several
// orders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

enum class entry_order : std::uint8_t {
    sorted,   ///< by rows, columns ascending
    shuffled, ///< at random, the same on every machine
    symmetric ///< the lower half, sorted by columns as collections have it
};

[[nodiscard]] std::string_view name_of(entry_order order);

/// Writes the matrix, values with as few digits as give them back; returns the bytes. `symmetric`
/// writes the lower half and a symmetric header, whatever the upper half holds. Throws input_error
/// for a file that can't be written. Memory: 16 bytes an entry.
std::int64_t write_for_reading(const std::filesystem::path& path, const csr_matrix<double>& matrix,
                               entry_order order);

} // namespace krylith::bench

// Arrays of numbers in binary files, of any width and byte order, read as those of a matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/files/byte_source.hpp>

namespace krylith::files {

/// How a number is stored.
struct stored_type {
    enum class kind : std::uint8_t { real, signed_integer, unsigned_integer };
    kind what = kind::real;
    int bytes = 8; ///< real: 4 or 8; whole numbers: 1, 2, 4 or 8
    bool big_endian = false;
};

/// Where numbers lie in a file, and what messages call them.
struct stored_array {
    std::uint64_t begin = 0; ///< byte
    std::uint64_t count = 0;
    stored_type type;
    std::string name;        ///< "column indices", "indices.npy"
    std::uint64_t first = 0; ///< what messages call number 0

    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return count * static_cast<std::uint64_t>(type.bytes);
    }
};

/// Reads the numbers into `to`, which is resized, by all OpenMP threads. Reals go to double or
/// float and are rounded to the nearest; every bit stays where the types agree. Whole numbers go to
/// any type; into integers only those from 0 to `most`. Throws input_error "FILE: NAME, entry K
/// (from 0) is VALUE, allowed ..." for the first that doesn't fit: a finite number beyond the range
/// of float, a real where an index is due, an index out of range. The array must lie in the file.
template <class To>
void read_numbers(const binary::byte_source& file, const stored_array& from, std::vector<To>& to,
                  std::int64_t most = 0);

} // namespace krylith::files

// The header of NumPy's .npy arrays:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/files/byte_source.hpp>
#include <krylith/matrix/stored/stored_numbers.hpp>

namespace krylith::numpy {

/// The first bytes of every .npy file.
inline constexpr std::string_view array_magic = "\x93NUMPY";

struct array_header {
    std::string name;                         ///< of the array, for messages
    std::string type;                         ///< "<f8", "|S3"
    std::optional<files::stored_type> number; ///< of numbers, not of text
    std::uint64_t item_bytes = 0;
    bool by_columns = false;          ///< Fortran's order
    std::vector<std::uint64_t> shape; ///< empty: one number
    std::uint64_t count = 1;          ///< of items
    std::uint64_t begin = 0;          ///< byte of the first item

    /// Where its numbers lie. Throws input_error, naming `file`, for an array of something else.
    [[nodiscard]] files::stored_array numbers(const std::string& file) const;
};

/// Reads the header. Throws input_error for what is no .npy array of versions 1 to 3, for types
/// other than bool, int, uint, float32, float64 and text, and for one whose length isn't that of
/// its items: nothing needs to be allocated on its word.
[[nodiscard]] array_header read_array_header(const binary::byte_source& file, std::string name);

/// "(3, 4)", as Python writes it.
[[nodiscard]] std::string in_words(const std::vector<std::uint64_t>& shape);

} // namespace krylith::numpy

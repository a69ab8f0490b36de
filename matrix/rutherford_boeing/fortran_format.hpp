// Formats of Fortran as headers of Rutherford-Boeing files have them: (16I5), (4E20.12),
// (1P,3(1X,E25.16E3)).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace krylith::rutherford_boeing {

/// The characters of a card before those that number it, 73 to 80.
inline constexpr std::size_t number_column = 72;

/// A number of a line.
struct fortran_field {
    int begin = 0; ///< characters before it
    int width = 0;
};

/// The numbers of a line; all lines but the last of a section are full.
struct fortran_format {
    std::vector<fortran_field> fields;
    bool real = false;
    int decimals = 0; ///< of a real without a point
    int scale = 0;    ///< k of kP: a real without an exponent was multiplied by 10^k
};

/// Reads a format with its parentheses. Nothing for one that isn't understood: descriptors other
/// than I, E, D, F, G, X and P, mixed ones, a line longer than 2^16 characters.
[[nodiscard]] std::optional<fortran_format> parse_fortran_format(std::string_view text);

} // namespace krylith::rutherford_boeing

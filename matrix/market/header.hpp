// The header of a Matrix Market file: banner, comments, size line.
#pragma once

#include <cstdint>
#include <string_view>

#include <krylith/matrix/market/line_source.hpp>

namespace krylith::market {

enum class layout : std::uint8_t { coordinate, array };
enum class field : std::uint8_t { real, integer, pattern, unsigned_integer };
enum class symmetry : std::uint8_t { general, symmetric, skew_symmetric };

enum class expected_shape : std::uint8_t { matrix, vector };

struct header {
    market::layout layout = layout::coordinate;
    market::field field = field::real;
    market::symmetry symmetry = symmetry::general;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;   ///< lines to come: as declared, or as the size of an array implies
    std::int64_t size_line = 0; ///< number of the line that declares the sizes
    std::int64_t first_index = 1; ///< of rows and columns in the file; 0 where AmgX's base0 says so
    bool vectors_follow = false;  ///< behind the entries, as AmgX's rhs and solution say
};

/// The name in the banner: "coordinate", "real", "skew-symmetric" ...
[[nodiscard]] std::string_view name_of(layout l);
[[nodiscard]] std::string_view name_of(field f);
[[nodiscard]] std::string_view name_of(symmetry s);

/// Takes the header's lines from the source. Throws input_error at the first defect. Sizes are
/// checked to be possible (0 to 2^31 - 1, square where the symmetry needs it, no entries where
/// there is no place), nothing is allocated. AmgX's options in a comment ("%%AMGX 1 1 sorted base0
/// rhs") are obeyed, but diagonal is refused: it says that a part of the matrix follows the entries
/// without indices. For a vector the size line of a general array may be N
/// alone instead of N 1, and the whole header may be that line, without a banner.
[[nodiscard]] header read_header(line_source& source, expected_shape shape);

} // namespace krylith::market

// The header of a Rutherford-Boeing file (Duff, Grimes, Lewis: The Rutherford-Boeing Sparse Matrix
// Collection, 1997), or of its elder, a Harwell-Boeing file.
#pragma once

#include <cstdint>
#include <string_view>

#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/rutherford_boeing/fortran_format.hpp>

namespace krylith::rutherford_boeing {

enum class value_kind : std::uint8_t { real, integer, pattern };
enum class symmetry : std::uint8_t { unsymmetric, symmetric, skew, rectangular };

/// A run of numbers of one format, which starts on a line of its own.
struct section {
    fortran_format format;
    std::int64_t count = 0;

    [[nodiscard]] std::int64_t a_line() const {
        return static_cast<std::int64_t>(format.fields.size());
    }
    [[nodiscard]] std::int64_t lines() const { return (count + a_line() - 1) / a_line(); }
};

struct header {
    value_kind values_are = value_kind::real;
    rutherford_boeing::symmetry symmetry = symmetry::unsymmetric;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;
    section pointers; ///< columns + 1
    section indices;
    section values; ///< count 0 for a pattern
};

/// Whether a text has such a header: a type such as RSA at the begin of line 3, and formats at that
/// of line 4.
[[nodiscard]] bool has_header(std::string_view beginning);

/// Takes the lines of the header. Throws input_error "FILE:LINE: ..." for what is not understood,
/// complex and elemental matrices among it.
[[nodiscard]] header read_header(market::line_source& source);

} // namespace krylith::rutherford_boeing

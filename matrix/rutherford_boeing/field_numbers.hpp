// The numbers of one line, each in the columns that its format gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <krylith/matrix/rutherford_boeing/fortran_format.hpp>

namespace krylith::rutherford_boeing {

/// The text of a field without blanks round it; empty where the line is too short.
[[nodiscard]] inline std::string_view field_of(std::string_view line, const fortran_field& field) {
    const auto begin = static_cast<std::size_t>(field.begin);
    if (line.size() <= begin) {
        return line.substr(line.size());
    }
    std::string_view text = line.substr(begin, static_cast<std::size_t>(field.width));
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) {
        return text.substr(0, 0);
    }
    text.remove_prefix(first);
    text.remove_suffix(text.size() - 1 - text.find_last_not_of(' '));
    return text;
}

/// The texts of the first `count` fields of a line. Its columns count where each has one word and
/// cuts none, whatever follows: many files number their lines in columns 73 to 80. Else, where it
/// has as many words, these are they: some programs write other widths than their formats say. Else
/// the columns count all the same: numbers may touch each other. The views lie in the line, empty
/// ones at its end.
void split_line(std::string_view line, const fortran_format& format, std::size_t count,
                std::vector<std::string_view>& fields);

/// Reads a whole number from 1 to `most`. Returns false for anything else.
[[nodiscard]] bool read_whole(std::string_view text, std::int64_t most, std::int64_t& number);

/// Reads a finite real as Fortran does: blanks behind the sign, exponents with E, D, e, d or a sign
/// alone, a point that the format implies, and its scale. Rounds to the nearest T, magnitudes too
/// small to 0. Returns false for anything else.
template <class T>
[[nodiscard]] bool read_real(std::string_view text, const fortran_format& format, T& number);

} // namespace krylith::rutherford_boeing

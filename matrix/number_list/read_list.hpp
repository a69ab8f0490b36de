// Vectors as plain lists of numbers: text, one or several numbers a line.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include <krylith/matrix/files/file_format.hpp>

namespace krylith::number_list {

/// Reads numbers between blanks, line feeds and comments, which go from # or % to the end of the
/// line. Where the first line has a whole number alone, and as many numbers follow, it is their
/// count, unless `options.entries` counts it too. Throws input_error "FILE:LINE: ..." for anything
/// that isn't a finite decimal number. O(bytes), by up to 16 OpenMP threads.
template <class T>
[[nodiscard]] std::vector<T> read_list(files::input_file& file, const vector_options& options);

/// Writes a number a line, with as many digits as reading back the same values takes. NaN and
/// infinities are written too, as nan and inf.
template <class T>
void write_list(const std::filesystem::path& path, const vector_pieces<T>& vector,
                std::string_view comment);

} // namespace krylith::number_list

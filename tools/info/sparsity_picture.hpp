// Where the entries of a matrix lie, drawn with characters.
#pragma once

#include <string>

#include <krylith/tools/cli/terminal.hpp>
#include <krylith/tools/info/density.hpp>

namespace krylith::tool {

/// In a frame, a line of text each line. UTF-8: Braille characters of 2 x 4 dots, so that more dots
/// stand where entries are denser (ordered dither of the logarithm of the count), and no cell with
/// an entry stays blank. Else ASCII characters from '.' to '@'. Small matrices are magnified by a
/// whole number. At most `where.columns` wide and `where.lines` high; O(nnz).
template <class T>
[[nodiscard]] std::string sparsity_picture(const csr_view<T>& matrix, const terminal& screen);

} // namespace krylith::tool

// What the pictures have in common: style, lines and texts in SVG.
#pragma once

#include <cstdint>
#include <string>

namespace krylith::tool {

/// The start of a self-contained SVG: the canvas in pixels, on white, with classes title, grid and
/// frame, and those of `style`, in CSS.
[[nodiscard]] std::string svg_start(double width, double height, const std::string& style);

/// `content` is escaped; `attributes` are put into the element as they are.
[[nodiscard]] std::string svg_text(double x, double y, const std::string& attributes,
                                   const std::string& content);
[[nodiscard]] std::string svg_line(double x1, double y1, double x2, double y2, const char* kind);
[[nodiscard]] std::string svg_frame(double left, double top, double width, double height);

/// 1, 2 or 5 times a power of ten: at most seven steps to `most`.
[[nodiscard]] std::int64_t round_step(std::int64_t most);

} // namespace krylith::tool

#include <krylith/tools/cli/svg_drawing.hpp>

#include <fmt/format.h>

#include <krylith/tools/cli/printable.hpp>

namespace krylith::tool {

namespace {

constexpr const char* common_style = R"(text { font: 13px sans-serif; fill: #333 }
.title { font-size: 15px }
.grid { stroke: #ddd }
.frame { stroke: #888; fill: none }
)";

std::string svg_escaped(const std::string& text) {
    std::string result;
    for (const char c : one_line(text)) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else
            result += c;
    }
    return result;
}

} // namespace

std::string svg_start(double width, double height, const std::string& style) {
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                       "height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<style>\n{2}{3}</style>\n"
                       "<rect width=\"{0}\" height=\"{1}\" class=\"paper\" fill=\"#fff\"/>\n",
                       width, height, common_style, style);
}

std::string svg_text(double x, double y, const std::string& attributes,
                     const std::string& content) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes,
                       svg_escaped(content));
}

std::string svg_line(double x1, double y1, double x2, double y2, const char* kind) {
    return fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1,
        x2, y2, kind);
}

std::string svg_frame(double left, double top, double width, double height) {
    return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"frame\"/>\n",
                       left, top, width, height);
}

std::int64_t round_step(std::int64_t most) {
    for (std::int64_t power = 1;; power *= 10)
        for (const std::int64_t factor : {1, 2, 5})
            if (7 * factor * power >= most) return factor * power;
}

} // namespace krylith::tool

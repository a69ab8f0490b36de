#include <krylith/tools/report/html.hpp>

#include <krylith/tools/cli/printable.hpp>

namespace krylith::tool::html {

std::string text(std::string_view content) {
    std::string result;
    for (const char c : one_line(content)) {
        switch (c) {
        case '&': result += "&amp;"; break;
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        case '"': result += "&quot;"; break;
        case '\'': result += "&#39;"; break;
        default: result += c;
        }
    }
    return result;
}

std::string element(std::string_view name, std::string_view attributes, std::string_view content) {
    std::string result = "<" + std::string(name);
    if (!attributes.empty()) (result += ' ') += attributes;
    ((result += '>') += content) += "</";
    return (result += name) += ">\n";
}

std::string named_row(std::string_view name, std::string_view value) {
    return element("tr", "", "<th>" + text(name) + "</th><td>" + text(value) + "</td>");
}

} // namespace krylith::tool::html

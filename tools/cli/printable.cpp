#include <krylith/tools/cli/printable.hpp>

#include <cstddef>

#include <fmt/format.h>

namespace krylith::tool {

namespace {

std::size_t length_by_first_byte(unsigned char c) {
    if (c < 0x80) return 1;
    if (c >= 0xc2 && c < 0xe0) return 2;
    if (c >= 0xe0 && c < 0xf0) return 3;
    return c >= 0xf0 && c < 0xf5 ? 4 : 0;
}

/// Bytes of the printable character that the text starts with; 0 where that is no such one.
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    const std::size_t length = length_by_first_byte(byte(0));
    if (length == 0 || length > text.size()) return 0;
    if (length == 1) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
    for (std::size_t k = 1; k < length; ++k)
        if ((byte(k) & 0xc0) != 0x80) return 0;
    const bool c1 = byte(0) == 0xc2 && byte(1) < 0xa0;
    const bool overlong =
        (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
    const bool surrogate = byte(0) == 0xed && byte(1) >= 0xa0;
    const bool separator = text.starts_with("\xe2\x80\xa8") || text.starts_with("\xe2\x80\xa9");
    return c1 || overlong || surrogate || separator ? 0 : length;
}

std::string escaped(std::string_view text, std::string_view kept) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const char c = text.front();
        std::size_t taken = character_bytes(text);
        if (taken > 0 || kept.find(c) != std::string_view::npos) {
            taken = taken == 0 ? 1 : taken;
            out += text.substr(0, taken);
        } else {
            taken = 1;
            out += c == '\n'   ? "\\n"
                   : c == '\r' ? "\\r"
                   : c == '\t' ? "\\t"
                               : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
        text.remove_prefix(taken);
    }
    return out;
}

} // namespace

std::string one_line(std::string_view text) {
    return escaped(text, "");
}

std::string named_line(std::string_view name, std::string_view text, int width) {
    return fmt::format("{:<{}} {}\n", name, width, one_line(text));
}

std::string printable(std::string_view text) {
    return escaped(text, "\n\t");
}

std::string quoted(const std::string& text) {
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=:,./@%") == std::string::npos &&
        !text.empty())
        return text;
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

} // namespace krylith::tool

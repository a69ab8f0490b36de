#include <krylith/matrix/market/diagnosis.hpp>

#include <krylith/device/error.hpp>

namespace krylith::market {

std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 40;
    constexpr std::string_view hexadecimal = "0123456789abcdef";
    const bool shortened = text.size() > longest;
    std::string result = "\"";
    for (const char c : text.substr(0, longest)) {
        if (c >= ' ' && c <= '~') {
            result += c;
        } else {
            const auto code = static_cast<unsigned char>(c);
            result += "\\x";
            result += hexadecimal[code / 16];
            result += hexadecimal[code % 16];
        }
    }
    return result + (shortened ? "...\"" : "\"");
}

void refuse(const std::string& file, std::int64_t line, const std::string& what) {
    throw input_error(file + ":" + std::to_string(line) + ": " + what);
}

void refuse(const std::string& file, const std::string& what) {
    throw input_error(file + ": " + what);
}

} // namespace krylith::market

#include <krylith/matrix/numpy/python_literal.hpp>

#include <charconv>
#include <limits>
#include <system_error>

namespace krylith::numpy {

void literal_reader::skip_blanks() {
    const std::size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
}

bool literal_reader::take(std::string_view mark) {
    skip_blanks();
    if (!rest_.starts_with(mark)) {
        return false;
    }
    rest_.remove_prefix(mark.size());
    return true;
}

std::optional<std::string_view> literal_reader::take_string() {
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) {
        return std::nullopt;
    }
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
}

std::optional<bool> literal_reader::take_bool() {
    if (take("True")) {
        return true;
    }
    if (take("False")) {
        return false;
    }
    return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> literal_reader::take_sizes() {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    constexpr std::size_t most_dimensions = 32;
    if (!take("(")) {
        return std::nullopt;
    }
    std::vector<std::uint64_t> sizes;
    while (!take(")")) {
        skip_blanks();
        std::uint64_t size = 0;
        const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
        if (code != std::errc() || size > most || sizes.size() == most_dimensions) {
            return std::nullopt;
        }
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        static_cast<void>(take("L"));
        sizes.push_back(size);
        if (!take(",")) {
            return take(")") ? std::optional(sizes) : std::nullopt;
        }
    }
    return sizes;
}

bool literal_reader::at_end() {
    skip_blanks();
    return rest_.empty();
}

} // namespace krylith::numpy

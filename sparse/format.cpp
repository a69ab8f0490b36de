#include <krylith/sparse/format.hpp>

#include <krylith/device/messages/parse_name.hpp>

namespace krylith {

namespace {

constexpr std::array<std::string_view, 5> names = {"auto", "csr", "sell", "merge", "cusparse"};

/// The names that other libraries have for some of the formats.
constexpr std::array<name_alias, 1> aliases = {{{"sellp", "sell"}}};

} // namespace

std::span<const std::string_view> format_names() noexcept {
    return names;
}

const char* to_string(format_kind kind) noexcept {
    return names[static_cast<std::size_t>(kind)].data();
}

format_kind parse_format_kind(std::string_view name) {
    return parse_name<format_kind>(name, names, "format", aliases);
}

} // namespace krylith

#include <krylith/sparse/format.hpp>

namespace krylith {

std::span<const std::string_view> format_names() {
    static const auto names = names_of<format_method>(formats::all);
    return names;
}

format_kind parse_format_kind(std::string_view name) {
    return parse_choice<format_method>(name, formats::all);
}

} // namespace krylith

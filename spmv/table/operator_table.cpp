#include <krylith/spmv/table/operators.hpp>

namespace krylith {

std::span<const std::string_view> operator_names() {
    static const auto names = names_of<operator_method>(operators::all);
    return names;
}

operator_kind parse_operator_kind(std::string_view name) {
    return parse_choice<operator_method>(name, operators::all);
}

} // namespace krylith

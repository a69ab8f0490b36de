#include <krylith/spmv/table/operators.hpp>

namespace krylith {

std::span<const std::string_view> operator_names() {
    static const auto names = names_of<operator_method>(operators::all);
    return names;
}

operator_kind parse_operator_kind(std::string_view name) {
#if !KRYLITH_HAVE_SPMSPV
    if (name == "adaptive")
        throw usage_error(
            "operator adaptive needs products with sparse vectors, without which this "
            "krylith was built (KRYLITH_SPMSPV=OFF), allowed are the others");
#endif
    return parse_choice<operator_method>(name, operators::all);
}

} // namespace krylith

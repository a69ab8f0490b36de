#include <krylith/tools/operator_request.hpp>

#include <array>

#include <krylith/device/error.hpp>
#include <krylith/tools/name_check.hpp>

namespace krylith::tool {

operator_options operator_request::options() const {
    static constexpr std::string_view suffix = ":measured";
    const bool measure = kind.ends_with(suffix);
    const std::string_view name(kind.data(), kind.size() - (measure ? suffix.size() : 0));
    return {.kind = parse_operator_kind(name),
            .local = parse_local_kind(local),
            .measure = measure,
            .order = parse_reordering(order),
            .transfer = parse_transfer_kind(transfer),
            .long_share = long_share,
            .redundant_share = redundant_share};
}

bool operator_request::single_precision() const {
    static constexpr std::array<std::string_view, 2> precisions = {"fp64", "fp32"};
    check_name("precision", precision, precisions);
    return precision == "fp32";
}

template <class T>
void check_square(const csr_matrix<T>& matrix, std::string_view name) {
    if (matrix.rows != matrix.columns)
        throw input_error(std::string(name) + " is a matrix of " + std::to_string(matrix.rows) +
                          " x " + std::to_string(matrix.columns) + ": it must be square");
}

template void check_square(const csr_matrix<double>&, std::string_view);
template void check_square(const csr_matrix<float>&, std::string_view);

} // namespace krylith::tool

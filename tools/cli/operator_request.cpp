#include <krylith/tools/cli/operator_request.hpp>

#include <array>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tools/cli/names.hpp>

namespace krylith::tool {

operator_options operator_request::options() const {
    const bool measure = kind.ends_with(measured_suffix);
    const std::string_view name(kind.data(), kind.size() - (measure ? measured_suffix.size() : 0));
    return {.kind = parse_operator_kind(name),
            .format = parse_format_kind(format),
            .measure = measure,
            .order = parse_reordering(order),
            .transport = parse_transport_kind(transport),
            .long_fraction = long_fraction,
            .redundant_fraction = redundant_fraction};
}

bool operator_request::single_precision() const {
    check_precision(precision);
    return precision == "fp32";
}

void check_precision(std::string_view name) {
    static constexpr std::array<name_alias, 8> aliases = {{{"double", "fp64"},
                                                           {"float64", "fp64"},
                                                           {"f64", "fp64"},
                                                           {"d", "fp64"},
                                                           {"single", "fp32"},
                                                           {"float", "fp32"},
                                                           {"float32", "fp32"},
                                                           {"f32", "fp32"}}};
    check_name("precision", name, precision_names, aliases);
}

template <class T>
void check_square(const csr_matrix<T>& matrix, std::string_view name) {
    if (matrix.rows != matrix.columns)
        throw input_error(std::string(name) + " is a matrix of " + std::to_string(matrix.rows) +
                          " x " + std::to_string(matrix.columns) + ": it must be square");
}

template void check_square(const csr_matrix<double>&, std::string_view);
template void check_square(const csr_matrix<float>&, std::string_view);

template <class T>
csr_matrix<T> load_square(std::string_view name, bool spd, file_report* report,
                          bool or_rectangular) {
    csr_matrix<T> matrix = load_matrix<T>(name, {.report = report});
    if (spd || !or_rectangular) check_square(matrix, name);
    return spd ? make_spd(matrix) : std::move(matrix);
}

template csr_matrix<double> load_square(std::string_view, bool, file_report*, bool);
template csr_matrix<float> load_square(std::string_view, bool, file_report*, bool);

} // namespace krylith::tool

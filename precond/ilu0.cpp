#include <krylith/precond/ilu0.hpp>

#include <memory>

#include <krylith/precond/incomplete/device_factors.hpp>
#include <krylith/precond/incomplete/factor_parameters.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

incomplete::factor_request ilu0_request(const ilu0_options& options) {
    return {"ilu0",
            options.order,
            {false, incomplete::checked_shift("ilu0", options.shift)},
            incomplete::checked_overlap("ilu0", options.overlap)};
}

} // namespace

template <class T>
ilu0<T>::ilu0(const matrix_operator<T>& a, const matrix_ref<T>& matrix, const ilu0_options& options)
    : matrix_preconditioner<T>(a.comm(),
                               [&] {
                                   return std::make_unique<incomplete::device_factors<T>>(
                                       a, matrix, ilu0_request(options));
                               }),
      options_(options) {}

template <class T>
std::string ilu0<T>::name() const {
    std::string text = incomplete::name_of_factors("ilu0", order(), options_.shift);
    if (options_.overlap != 0) text += ":overlap=" + std::to_string(options_.overlap);
    return text;
}
template <class T>
elimination_order ilu0<T>::order() const {
    return this->template work<incomplete::device_factors<T>>().order();
}
template <class T>
std::string ilu0<T>::reason() const {
    return this->template work<incomplete::device_factors<T>>().reason();
}
template <class T>
int ilu0<T>::colours() const {
    return this->template work<incomplete::device_factors<T>>().colours();
}
template <class T>
std::int64_t ilu0<T>::nonzeros() const {
    return this->template work<incomplete::device_factors<T>>().nonzeros();
}

#define KRYLITH_INSTANTIATE(T) template class ilu0<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr parameter_rule ilu0_rules[] = {incomplete::order_rule, incomplete::shift_rule,
                                         incomplete::overlap_rule};

template <class T>
any_preconditioner<T> make_ilu0(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                const method_parameters& parameters) {
    return ilu0<T>(a, *matrix,
                   {incomplete::order_of(parameters), incomplete::shift_of(parameters),
                    incomplete::overlap_of(parameters)});
}

std::string no_ilu0_because(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    if (d.missing + d.zeros == 0) return {};
    return std::to_string(d.missing + d.zeros) + " of " + std::to_string(d.length) +
           " diagonal entries are missing or 0";
}

} // namespace

constinit const preconditioner_method preconditioner_rows::ilu0 = {
    .name = "ilu0",
    .aliases = {"ilu", "ilu(0)", "spilu0"},
    .help = "incomplete LU without fill of each device's block",
    .parameters = std::span<const parameter_rule>(ilu0_rules),
    .needs_spd = false,
    .needs_matrix = true,
    .listed = true,
    .chosen_from = 0, // before the factors with fill, which the host makes
    .no_use_because = no_ilu0_because,
    .kept_bytes = no_kept_bytes, // what solves keep depends on the lengths of rows
    .moved_bytes = incomplete::moved_by_factors,
    .make = preconditioner_makers{make_ilu0<double>, make_ilu0<float>},
};

} // namespace krylith

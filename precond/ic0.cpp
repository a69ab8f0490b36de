#include <krylith/precond/ic0.hpp>

#include <memory>

#include <krylith/precond/incomplete/device_factors.hpp>
#include <krylith/precond/incomplete/factor_parameters.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

incomplete::factor_request ic0_request(const ic0_options& options) {
    return {"ic0", options.order, {true, incomplete::checked_shift("ic0", options.shift)}};
}

} // namespace

template <class T>
ic0<T>::ic0(const matrix_operator<T>& a, const matrix_ref<T>& matrix, const ic0_options& options)
    : matrix_preconditioner<T>(a.comm(),
                               [&] {
                                   return std::make_unique<incomplete::device_factors<T>>(
                                       a, matrix, ic0_request(options));
                               }),
      options_(options) {}

template <class T>
std::string ic0<T>::name() const {
    return incomplete::name_of_factors("ic0", order(), options_.shift);
}
template <class T>
elimination_order ic0<T>::order() const {
    return this->template work<incomplete::device_factors<T>>().order();
}
template <class T>
std::string ic0<T>::reason() const {
    return this->template work<incomplete::device_factors<T>>().reason();
}
template <class T>
int ic0<T>::colours() const {
    return this->template work<incomplete::device_factors<T>>().colours();
}
template <class T>
std::int64_t ic0<T>::nonzeros() const {
    return this->template work<incomplete::device_factors<T>>().nonzeros();
}

#define KRYLITH_INSTANTIATE(T) template class ic0<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr parameter_rule ic0_rules[] = {incomplete::order_rule, incomplete::shift_rule};

template <class T>
any_preconditioner<T> make_ic0(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                               const method_parameters& parameters) {
    return ic0<T>(a, *matrix, {incomplete::order_of(parameters), incomplete::shift_of(parameters)});
}

std::string no_ic0_because(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    if (d.missing + d.zeros + d.negative == 0) return {};
    return std::to_string(d.missing + d.zeros + d.negative) + " of " + std::to_string(d.length) +
           " diagonal entries are not positive";
}

} // namespace

constinit const preconditioner_method preconditioner_rows::ic0 = {
    .name = "ic0",
    .aliases = {"ic", "ic(0)", "icc", "ichol"},
    .help = "incomplete Cholesky without fill of each device's block",
    .parameters = std::span<const parameter_rule>(ic0_rules),
    .needs_spd = true,
    .needs_matrix = true,
    .listed = true,
    .chosen_from = std::nullopt, // fsai is faster on GPUs where multigrid is no help
    .no_use_because = no_ic0_because,
    .kept_bytes = no_kept_bytes, // what solves keep depends on the lengths of rows
    .moved_bytes = incomplete::moved_by_factors,
    .make = preconditioner_makers{make_ic0<double>, make_ic0<float>},
};

} // namespace krylith

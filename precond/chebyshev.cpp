#include <krylith/precond/chebyshev.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/chebyshev/chebyshev_apply.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

/// The residual 1 - t p(t) is then at most 0.27 in the interval. Larger ratios leave fewer
/// eigenvalues below the interval and more error in it: some take up to a fifth less time on
/// Poisson problems, but a third more on jumps of coefficients, whose few small eigenvalues CG
/// finds by itself.
double usual_ratio(int degree) {
    return std::max(2.0, 1.0 * degree * degree);
}

/// At smaller ratios T_degree is above 3e7 at t = 0, and the polynomial's coefficients lose digits.
double least_ratio(int degree) {
    const double root = std::tanh(9.0 / degree);
    return 1 / (root * root);
}

constexpr int highest_chebyshev_degree = 100;
constexpr double highest_ratio = 1e8;

template <class T>
chebyshev_options checked_chebyshev(chebyshev_options options) {
    if (options.degree < 1 || options.degree > highest_chebyshev_degree)
        throw usage_error("chebyshev_options::degree is " + std::to_string(options.degree) +
                          ", allowed is 1 to " + std::to_string(highest_chebyshev_degree));
    if (options.ratio == 0) options.ratio = usual_ratio(options.degree);
    const double least = least_ratio(options.degree);
    if (!(options.ratio >= least && options.ratio <= highest_ratio))
        throw usage_error("chebyshev_options::ratio is " + number_text(options.ratio) +
                          ", allowed with degree " + std::to_string(options.degree) +
                          " is 0 for the usual one, or " + number_text(least, 4) + " to " +
                          number_text(highest_ratio));
    if (options.precision == chebyshev_precision::fp64 && std::same_as<T, float>)
        throw usage_error("chebyshev_options::precision is fp64, but the solver works in fp32: "
                          "allowed is fp32");
    return options;
}

template <class T>
std::unique_ptr<detail::chebyshev_work<T>> make_work(const matrix_operator<T>& a,
                                                     const matrix_ref<T>& matrix,
                                                     const chebyshev_options& options) {
    if constexpr (std::same_as<T, double>)
        if (options.precision == chebyshev_precision::fp64)
            return std::make_unique<detail::chebyshev_apply<T, double>>(a, matrix, options);
    return std::make_unique<detail::chebyshev_apply<T, float>>(a, matrix, options);
}

} // namespace

template <class T>
chebyshev<T>::chebyshev(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                        const chebyshev_options& options)
    : matrix_preconditioner<T>(a.comm(),
                               [&] { return make_work(a, matrix, checked_chebyshev<T>(options)); }),
      options_(checked_chebyshev<T>(options)) {}

template <class T>
double chebyshev<T>::lambda() const {
    return this->template work<detail::chebyshev_work<T>>().lambda();
}

template <class T>
std::string chebyshev<T>::name() const {
    std::string text = "chebyshev:degree=" + std::to_string(options_.degree);
    if (options_.kind == chebyshev_kind::first)
        text += ":kind=first:ratio=" + number_text(options_.ratio);
    else
        text += ":kind=fourth";
    if (options_.precision == chebyshev_precision::fp64) text += ":precision=fp64";
    return text;
}

#define KRYLITH_INSTANTIATE(T) template class chebyshev<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr std::string_view chebyshev_kinds[] = {"first", "fourth"};
constexpr std::string_view chebyshev_precisions[] = {"fp32", "fp64"};

constexpr parameter_rule chebyshev_rules[] = {
    parameter_rule::whole("degree", chebyshev_options().degree, 1, highest_chebyshev_degree,
                          "one more than the products of an application"),
    parameter_rule::word("kind", chebyshev_kinds,
                         "of polynomial: first for cg, fourth as a smoother"),
    parameter_rule::real("ratio", 0, 0, highest_ratio,
                         "upper / lower end of the interval, first kind; 0 is degree^2"),
    parameter_rule::word("precision", chebyshev_precisions, "of its matrix and vectors"),
};

chebyshev_options options_of(const method_parameters& parameters) {
    chebyshev_options options;
    options.degree = static_cast<int>(parameters.whole("degree"));
    options.ratio = parameters.real("ratio");
    if (parameters.word("kind") == "fourth") options.kind = chebyshev_kind::fourth;
    if (parameters.word("precision") == "fp64") options.precision = chebyshev_precision::fp64;
    return options;
}

template <class T>
any_preconditioner<T> make_chebyshev(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                     const method_parameters& parameters) {
    return chebyshev<T>(a, *matrix, options_of(parameters));
}

/// Says what it can't do for an unsymmetric matrix, or for one whose diagonal has no square root.
std::string no_chebyshev_because(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    if (d.missing + d.zeros != 0 || d.negative != 0)
        return std::to_string(d.missing + d.zeros + d.negative) + " of " +
               std::to_string(d.length) + " diagonal entries are not positive";
    return {};
}

/// The bytes of a value inside.
double value_bytes(const preconditioner_size& s, const method_parameters& parameters) {
    return parameters.word("precision") == "fp64" ? static_cast<double>(s.value_bytes) : 4;
}

std::optional<std::int64_t> bytes_of_chebyshev(const preconditioner_size& s,
                                               const method_parameters& parameters) {
    const double w = value_bytes(s, parameters);
    const auto nnz = static_cast<double>(s.nnz);
    const auto rows = static_cast<double>(s.rows);
    const auto ghosts = static_cast<double>(s.ghosts);
    return static_cast<std::int64_t>((w + 4) * nnz + (4 * w + 8) * rows + 2 * w * ghosts);
}

/// The norm of r, the passes in and out, the products, and a sum for every second product.
std::optional<double> moved_by_chebyshev(const preconditioner_size& s,
                                         const method_parameters& parameters) {
    const double w = value_bytes(s, parameters);
    const auto t = static_cast<double>(s.value_bytes);
    const auto products = static_cast<double>(parameters.whole("degree") - 1);
    const double product =
        (w + 4) * static_cast<double>(s.nnz) + (3 * w + 4) * static_cast<double>(s.rows);
    return products * product +
           (t + (t + 2 * w) + (2 * t + 4 * w) + 2 * w * std::max(0.0, products - 1)) *
               static_cast<double>(s.rows);
}

} // namespace

constinit const preconditioner_method preconditioner_rows::chebyshev = {
    .name = "chebyshev",
    .aliases = {"cheby", "polynomial"},
    .help = "a polynomial of A",
    .parameters = std::span<const parameter_rule>(chebyshev_rules),
    .needs_spd = true,
    .needs_matrix = true,
    .listed = false,
    .chosen_from = std::nullopt,
    .no_use_because = no_chebyshev_because,
    .kept_bytes = bytes_of_chebyshev,
    .moved_bytes = moved_by_chebyshev,
    .make = preconditioner_makers{make_chebyshev<double>, make_chebyshev<float>},
    .takes_columns = true,
};

} // namespace krylith

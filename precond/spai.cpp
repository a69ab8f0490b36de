#include <krylith/precond/spai.hpp>

#include <optional>

#include <krylith/precond/approximate/inverse_work.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

detail::inverse_request spai_request(const spai_options& o) {
    return {"spai", detail::inverse_kind::whole, o.power, o.threshold};
}

} // namespace

template <class T>
spai<T>::spai(const matrix_operator<T>& a, const matrix_ref<T>& matrix, const spai_options& options)
    : matrix_preconditioner<T>(a.comm(),
                               [&] {
                                   return std::make_unique<detail::inverse_work<T>>(
                                       spai_request(options), a, matrix);
                               }),
      options_(options) {}

template <class T>
std::int64_t spai<T>::nonzeros() const {
    return this->template work<detail::inverse_work<T>>().nonzeros();
}

template <class T>
std::string spai<T>::name() const {
    return spai_request(options_).name();
}

#define KRYLITH_INSTANTIATE(T) template class spai<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr parameter_rule spai_rules[] = {
    detail::power_rule(spai_options().power, "of A whose pattern M has"),
    detail::threshold_rule(spai_options().threshold),
};

template <class T>
any_preconditioner<T> make_spai(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                const method_parameters& parameters) {
    spai_options options;
    options.power = static_cast<int>(parameters.whole("power"));
    options.threshold = parameters.real("threshold");
    return spai<T>(a, *matrix, options);
}

/// A zero diagonal is no hindrance.
std::string no_spai_because(const matrix_statistics&) {
    return {};
}

/// The bytes of a product by M with the pattern of A. Where rows of A are longer than rows of M can
/// be, it moves fewer.
std::optional<double> moved_by_spai(const preconditioner_size& s,
                                    const method_parameters& parameters) {
    if (parameters.whole("power") != 1) return std::nullopt;
    const auto w = static_cast<double>(s.value_bytes);
    return (w + 4) * static_cast<double>(s.nnz) + (2 * w + 4) * static_cast<double>(s.rows);
}

} // namespace

constinit const preconditioner_method preconditioner_rows::spai = {
    .name = "spai",
    .aliases = {"sparse-approximate-inverse", "sai", "isai"},
    .help = "a sparse M near the inverse, also of unsymmetric matrices",
    .parameters = std::span<const parameter_rule>(spai_rules),
    .needs_spd = false,
    .needs_matrix = true,
    .listed = false,
    .chosen_from = std::nullopt,
    .no_use_because = no_spai_because,
    .kept_bytes = no_kept_bytes, // longer rows keep some of their entries
    .moved_bytes = moved_by_spai,
    .make = preconditioner_makers{make_spai<double>, make_spai<float>},
    .takes_columns = true,
};

} // namespace krylith

#include <krylith/precond/fsai.hpp>

#include <optional>

#include <krylith/precond/approximate/inverse_work.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

detail::inverse_request fsai_request(const fsai_options& o) {
    return {"fsai", detail::inverse_kind::factor, o.power, o.threshold};
}

} // namespace

template <class T>
fsai<T>::fsai(const matrix_operator<T>& a, const matrix_ref<T>& matrix, const fsai_options& options)
    : matrix_preconditioner<T>(a.comm(),
                               [&] {
                                   return std::make_unique<detail::inverse_work<T>>(
                                       fsai_request(options), a, matrix);
                               }),
      options_(options) {}

template <class T>
std::int64_t fsai<T>::nonzeros() const {
    return this->template work<detail::inverse_work<T>>().nonzeros();
}

template <class T>
std::string fsai<T>::name() const {
    return fsai_request(options_).name();
}

#define KRYLITH_INSTANTIATE(T) template class fsai<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr parameter_rule fsai_rules[] = {
    detail::power_rule(fsai_options().power, "of A whose pattern G has"),
    detail::threshold_rule(fsai_options().threshold),
};

template <class T>
any_preconditioner<T> make_fsai(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                const method_parameters& parameters) {
    fsai_options options;
    options.power = static_cast<int>(parameters.whole("power"));
    options.threshold = parameters.real("threshold");
    return fsai<T>(a, *matrix, options);
}

std::string no_fsai_because(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    if (d.missing + d.zeros != 0 || d.negative != 0)
        return std::to_string(d.missing + d.zeros + d.negative) + " of " +
               std::to_string(d.length) + " diagonal entries are not positive";
    return {};
}

/// The entries of G where rows have no more than there is room for.
double factor_entries(const preconditioner_size& s) {
    return (static_cast<double>(s.nnz) + static_cast<double>(s.rows)) / 2;
}

std::optional<double> moved_by_fsai(const preconditioner_size& s,
                                    const method_parameters& parameters) {
    if (parameters.whole("power") != 1) return std::nullopt;
    const auto w = static_cast<double>(s.value_bytes);
    return 2 * (w + 4) * factor_entries(s) + (4 * w + 8) * static_cast<double>(s.rows);
}

} // namespace

constinit const preconditioner_method preconditioner_rows::fsai = {
    .name = "fsai",
    .aliases = {"afsai", "factorized-sparse-approximate-inverse"},
    .help = "a sparse G'G near the inverse",
    .parameters = std::span<const parameter_rule>(fsai_rules),
    .needs_spd = true,
    .needs_matrix = true,
    .listed = true,
    .chosen_from = never_first, // where multigrid is no help: half the iterations of Jacobi
    .no_use_because = no_fsai_because,
    .kept_bytes = no_kept_bytes, // entries of A^2 are not known
    .moved_bytes = moved_by_fsai,
    .make = preconditioner_makers{make_fsai<double>, make_fsai<float>},
    .takes_columns = true,
};

} // namespace krylith

#include <krylith/precond/equilibration.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/precond/matrix/canonical_matrix.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

namespace {

/// Each pass halves the distance from 1, in logarithms.
constexpr int passes = 12;

/// log2 of S. Logarithms have no range to leave.
template <class T>
std::vector<double> equilibrate(const csr_view<T>& a) {
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<double> s(n, 0.0);
    constexpr double nothing = -std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < passes; ++pass) {
        std::vector<double> largest(n, nothing);
        for (std::size_t i = 0; i < n; ++i)
            for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
                 k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
                const auto j = static_cast<std::size_t>(a.column_indices[k]);
                const double size = std::fabs(static_cast<double>(a.values[k]));
                if (!(size > 0) || !std::isfinite(size)) continue;
                const double scaled = s[i] + std::log2(size) + s[j];
                largest[i] = std::max(largest[i], scaled);
                largest[j] = std::max(largest[j], scaled);
            }
        for (std::size_t i = 0; i < n; ++i)
            if (largest[i] != nothing) s[i] -= largest[i] / 2;
    }
    return s;
}

/// S^2, or 2^k of it, which changes no method's iterates: solvers form products such as r'M^-1 r.
/// k is even, so that the square root takes a power of two.
template <class T>
std::vector<T> squares(const std::vector<double>& s) {
    constexpr bool wide = sizeof(T) == 8;
    constexpr double usual = wide ? 130 : 40;
    constexpr double span = wide ? 400 : 60;
    constexpr double least = wide ? -500 : -63; // the square of it is in range, too
    const double largest = s.empty() ? 0 : 2 * *std::ranges::max_element(s);
    const double k = std::fabs(largest) <= usual ? 0 : -2 * std::round(largest / 2);
    const double floor = std::max(largest + k - span, least);
    std::vector<T> values;
    values.reserve(s.size());
    for (const double log : s)
        values.push_back(static_cast<T>(std::exp2(std::max(2 * log + k, floor))));
    return values;
}

} // namespace

template <class T>
equilibration<T>::equilibration(layout_handle layout)
    : inverse_(std::make_unique<vector<T>>(std::move(layout), "preconditioner")) {}

template <class T>
equilibration<T>::equilibration(const matrix_operator<T>& a, const csr_view<T>& matrix)
    : equilibration(square_layout(a.layouts(), "equilibration")) {
    update(matrix);
}

template <class T>
void equilibration<T>::update(const csr_view<T>& matrix) {
    detail::check_size("equilibration", *inverse_->layout(), matrix.rows, matrix.columns);
    const detail::canonical_matrix<T> canonical(matrix, nullptr);
    inverse_->upload(squares<T>(equilibrate(canonical.view())));
}

template <class T>
void equilibration<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                             std::span<const reduction_into<T>> dots) const {
    fused(run, z = *pointwise(r), dots);
}

template <class T>
std::int64_t equilibration<T>::bytes() const {
    const layout& layout = *inverse_->layout();
    std::int64_t most = 0;
    for (int rank = 0; rank < layout.group.size(); ++rank) most = std::max(most, layout.held(rank));
    return most * static_cast<std::int64_t>(sizeof(T));
}

template <class T>
equilibration<T> equilibration<T>::square_root() const {
    std::vector<T> roots(static_cast<std::size_t>(inverse_->size()));
    inverse_->download(roots);
    for (T& v : roots) v = std::sqrt(v);
    equilibration result(inverse_->layout());
    result.inverse_->upload(roots);
    return result;
}

#define KRYLITH_INSTANTIATE(T) template class equilibration<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

template <class T>
any_preconditioner<T> make_equilibration(const matrix_operator<T>& a, const csr_view<T>* matrix,
                                         const method_parameters&) {
    return equilibration<T>(a, *matrix);
}

} // namespace

constinit const preconditioner_method preconditioner_rows::equilibration = {
    .name = "equilibration",
    .aliases = {"equilibrate", "scaling", "ruiz"},
    .help = "scales rows and columns to one size",
    .parameters = std::span<const parameter_rule>(),
    .needs_spd = false,
    .needs_matrix = true,
    .pointwise = true,
    .scales_both_sides = true,
    .listed = true,
    .chosen_from = 0,
    .no_use_because = [](const matrix_statistics&) { return std::string(); },
    .kept_bytes = [](const preconditioner_size& s,
                     const method_parameters&) { return std::optional(s.value_bytes * s.rows); },
    .moved_bytes =
        [](const preconditioner_size& s, const method_parameters&) {
            return std::optional(static_cast<double>(s.value_bytes * s.rows));
        },
    .make = preconditioner_makers{make_equilibration<double>, make_equilibration<float>},
};

} // namespace krylith

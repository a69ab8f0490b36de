#include <krylith/matrix/gallery/diffusion.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/portable_angle.hpp>
#include <krylith/matrix/gallery/stencil_rules.hpp>

namespace krylith {
namespace {

/// The shift (wave_number h)^2, checked.
double shift(const char* name, std::int64_t n, double wave_number) {
    check_argument(name, "wave_number", wave_number, 0.0, 1e9);
    const double phase = wave_number / static_cast<double>(n + 1);
    return phase * phase;
}

} // namespace

template <class T>
csr_matrix<T> anisotropic_diffusion(std::int64_t n, double epsilon, double degrees,
                                    std::optional<random_scaling> scaling) {
    const grid g = checked_grid("anisotropic_diffusion", {n, n, 1});
    check_argument("anisotropic_diffusion", "epsilon", epsilon, 1e-12, 1e12);
    check_argument("anisotropic_diffusion", "degrees", degrees, -360.0, 360.0);
    const auto [cosine, sine] = direction_of(degrees);
    const double a = cosine * cosine + epsilon * (sine * sine);
    const double b = (1 - epsilon) * (cosine * sine);
    const double c = sine * sine + epsilon * (cosine * cosine);
    const double along_x = (c - 2 * a) / 3;
    const double along_y = (a - 2 * c) / 3;
    const double corner = -(a + c) / 6;
    const std::array<double, 9> stencil{corner - b / 2, along_y,         corner + b / 2,
                                        along_x,        4 * (a + c) / 3, along_x,
                                        corner + b / 2, along_y,         corner - b / 2};
    const auto coefficient = [stencil](std::int64_t dx, std::int64_t dy, std::int64_t /*dz*/) {
        return stencil[static_cast<std::size_t>(3 * (dy + 1) + dx + 1)];
    };
    return box_stencil<T>(g, coefficient, scaling);
}

template <class T>
csr_matrix<T> anisotropic3d(std::int64_t n, double epsilon, std::optional<random_scaling> scaling) {
    const grid g = checked_grid("anisotropic3d", {n, n, n});
    check_argument("anisotropic3d", "epsilon", epsilon, 1e-12, 1e12);
    return star_stencil<T>(g, {4 + 2 * epsilon, -1, -1, epsilon}, scaling);
}

template <class T>
csr_matrix<T> convection_diffusion(std::int64_t n, double peclet,
                                   std::optional<random_scaling> scaling) {
    if (!std::isfinite(peclet) || peclet < 0) {
        throw usage_error("convection_diffusion: peclet is " + std::to_string(peclet) +
                          ", allowed are finite numbers from 0 on");
    }
    const grid g = checked_grid("convection_diffusion", {n, n, n});
    const double p = peclet / static_cast<double>(n + 1);
    return star_stencil<T>(g, {6 + 3 * p, -(1 + p), -1}, scaling);
}

template <class T>
csr_matrix<T> helmholtz2d(std::int64_t n, double wave_number,
                          std::optional<random_scaling> scaling) {
    const grid g = checked_grid("helmholtz2d", {n, n, 1});
    return star_stencil<T>(g, {4 - shift("helmholtz2d", n, wave_number), -1, -1}, scaling);
}

template <class T>
csr_matrix<T> helmholtz3d(std::int64_t n, double wave_number,
                          std::optional<random_scaling> scaling) {
    const grid g = checked_grid("helmholtz3d", {n, n, n});
    return star_stencil<T>(g, {6 - shift("helmholtz3d", n, wave_number), -1, -1}, scaling);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> anisotropic_diffusion(std::int64_t, double, double,                     \
                                                 std::optional<random_scaling>);                   \
    template csr_matrix<T> anisotropic3d(std::int64_t, double, std::optional<random_scaling>);     \
    template csr_matrix<T> convection_diffusion(std::int64_t, double,                              \
                                                std::optional<random_scaling>);                    \
    template csr_matrix<T> helmholtz2d(std::int64_t, double, std::optional<random_scaling>);       \
    template csr_matrix<T> helmholtz3d(std::int64_t, double, std::optional<random_scaling>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

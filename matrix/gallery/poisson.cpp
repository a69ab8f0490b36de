#include <krylith/matrix/gallery/poisson.hpp>

#include <krylith/matrix/gallery/stencil_rules.hpp>

namespace krylith {

template <class T>
csr_matrix<T> poisson1d(std::int64_t n, std::optional<random_scaling> scaling) {
    return star_stencil<T>(checked_grid("poisson1d", {n, 1, 1}), {2, -1, -1}, scaling);
}

template <class T>
csr_matrix<T> poisson2d(std::int64_t nx, std::int64_t ny, std::optional<random_scaling> scaling) {
    return star_stencil<T>(checked_grid("poisson2d", {nx, ny, 1}), {4, -1, -1}, scaling);
}

template <class T>
csr_matrix<T> poisson2d_9point(std::int64_t nx, std::int64_t ny,
                               std::optional<random_scaling> scaling) {
    const auto coefficient = [](std::int64_t dx, std::int64_t dy, std::int64_t /*dz*/) {
        return dx == 0 && dy == 0 ? 20.0 : dx == 0 || dy == 0 ? -4.0 : -1.0;
    };
    return box_stencil<T>(checked_grid("poisson2d_9point", {nx, ny, 1}), coefficient, scaling);
}

template <class T>
csr_matrix<T> poisson3d(std::int64_t nx, std::int64_t ny, std::int64_t nz,
                        std::optional<random_scaling> scaling) {
    return star_stencil<T>(checked_grid("poisson3d", {nx, ny, nz}), {6, -1, -1}, scaling);
}

template <class T>
csr_matrix<T> poisson3d_27point(std::int64_t nx, std::int64_t ny, std::int64_t nz,
                                std::optional<random_scaling> scaling) {
    const auto coefficient = [](std::int64_t dx, std::int64_t dy, std::int64_t dz) {
        return dx == 0 && dy == 0 && dz == 0 ? 26.0 : -1.0;
    };
    return box_stencil<T>(checked_grid("poisson3d_27point", {nx, ny, nz}), coefficient, scaling);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> poisson1d(std::int64_t, std::optional<random_scaling>);                 \
    template csr_matrix<T> poisson2d(std::int64_t, std::int64_t, std::optional<random_scaling>);   \
    template csr_matrix<T> poisson2d_9point(std::int64_t, std::int64_t,                            \
                                            std::optional<random_scaling>);                        \
    template csr_matrix<T> poisson3d(std::int64_t, std::int64_t, std::int64_t,                     \
                                     std::optional<random_scaling>);                               \
    template csr_matrix<T> poisson3d_27point(std::int64_t, std::int64_t, std::int64_t,             \
                                             std::optional<random_scaling>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

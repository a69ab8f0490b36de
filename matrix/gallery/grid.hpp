// The box of grid points that the stencils of the gallery live on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/random_scaling.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

struct grid_point {
    std::int64_t x;
    std::int64_t y;
    std::int64_t z;
};

/// nx by ny by nz points, x fastest.
struct grid {
    std::int64_t nx;
    std::int64_t ny;
    std::int64_t nz;

    [[nodiscard]] std::int64_t points() const noexcept { return nx * ny * nz; }

    [[nodiscard]] grid_point point(std::int64_t row) const noexcept {
        const std::int64_t line = row / nx;
        return {row - line * nx, line % ny, line / ny};
    }
};

/// Throws usage_error unless every size is positive and 32 bits can number the points.
inline grid checked_grid(const char* name, grid g) {
    const auto fits = [](std::int64_t n, std::int64_t limit) { return n >= 1 && n <= limit; };
    if (!fits(g.nx, index_limit) || !fits(g.ny, index_limit / g.nx) ||
        !fits(g.nz, index_limit / g.nx / g.ny)) {
        throw usage_error(std::string(name) + ": the grid is " + std::to_string(g.nx) + " x " +
                          std::to_string(g.ny) + " x " + std::to_string(g.nz) +
                          ", allowed are sizes from 1 on with at most " +
                          std::to_string(index_limit) + " points");
    }
    return g;
}

/// The factor d(row) d(column) of an entry, exactly symmetric; 1 without a scaling.
class entry_scaling {
public:
    explicit entry_scaling(std::optional<random_scaling> scaling)
        : random_(scaling.has_value()), seed_(scaling.value_or(random_scaling{}).seed) {}

    [[nodiscard]] double operator()(std::int64_t row, std::int64_t column) const noexcept {
        return random_ ? diagonal(row) * diagonal(column) : 1.0;
    }

private:
    [[nodiscard]] double diagonal(std::int64_t row) const noexcept {
        return 0.5 + unit_interval(counter_hash(seed_, static_cast<std::uint64_t>(row)));
    }

    bool random_;
    std::uint64_t seed_;
};

} // namespace krylith

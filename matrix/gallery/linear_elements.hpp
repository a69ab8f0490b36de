// Linear finite elements on a line: their assembled integrals are the factors of those of bilinear
// and trilinear elements on a grid.
#pragma once

#include <cstdint>

namespace krylith {

/// Nodes 0..last at distance 1. Each integral is over the hat functions of nodes p and q, or their
/// derivatives, |p - q| <= 1. The two-point Gauss rule on each element gives the same.
struct linear_elements {
    std::int64_t last;

    /// The integral of p q.
    [[nodiscard]] double mass(std::int64_t p, std::int64_t q) const {
        return p != q ? 1.0 / 6 : elements_at(p) * (1.0 / 3);
    }
    /// The integral of p' q'.
    [[nodiscard]] double stiffness(std::int64_t p, std::int64_t q) const {
        return p != q ? -1 : elements_at(p);
    }
    /// The integral of p' q.
    [[nodiscard]] double slope(std::int64_t p, std::int64_t q) const {
        if (p != q) {
            return p < q ? -0.5 : 0.5;
        }
        return p == 0 ? -0.5 : p == last ? 0.5 : 0.0;
    }
    /// The mass matrix' row sum: the length that belongs to p.
    [[nodiscard]] double lumped_mass(std::int64_t p) const { return elements_at(p) * 0.5; }

private:
    [[nodiscard]] double elements_at(std::int64_t p) const { return p == 0 || p == last ? 1 : 2; }
};

} // namespace krylith

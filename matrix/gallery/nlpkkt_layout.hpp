// The places of the unknowns of nlpkkt, and the lengths of its rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <krylith/matrix/gallery/stencil_rules.hpp>

namespace krylith {

/// The order of the rows: 0..n^3-1 are states; then n^2 controls on each face (x = 0, x = n - 1, y
/// = 0, ...), the lower of the two other axes fastest; then n^3 adjoints.
struct nlpkkt_layout {
    std::int64_t n;

    static constexpr int faces = 6;

    [[nodiscard]] std::int64_t nodes() const { return n * n * n; }
    [[nodiscard]] std::int64_t controls() const { return faces * n * n; }
    [[nodiscard]] std::int64_t first_adjoint() const { return nodes() + controls(); }
    [[nodiscard]] std::int64_t rows() const { return 2 * nodes() + controls(); }
    [[nodiscard]] grid points() const { return {n, n, n}; }

    /// A place on a face: its coordinates along the two axes that span it.
    struct face_point {
        std::int64_t s;
        std::int64_t t;
    };

    [[nodiscard]] bool on_face(int face, const grid_point& p) const {
        return across(face, p) == (face % 2 == 0 ? 0 : n - 1);
    }
    [[nodiscard]] face_point on(int face, const grid_point& p) const {
        return {face < 2 ? p.y : p.x, face < 4 ? p.z : p.y};
    }
    [[nodiscard]] std::int64_t node(const grid_point& p) const { return (p.z * n + p.y) * n + p.x; }
    [[nodiscard]] std::int64_t node_at(int face, const face_point& f) const {
        const std::int64_t depth = face % 2 == 0 ? 0 : n - 1;
        return face < 2   ? node({depth, f.s, f.t})
               : face < 4 ? node({f.s, depth, f.t})
                          : node({f.s, f.t, depth});
    }
    [[nodiscard]] std::int64_t control_at(int face, const face_point& f) const {
        return nodes() + (face * n + f.t) * n + f.s;
    }

    /// The number of entries of a row.
    [[nodiscard]] std::int64_t length(std::int64_t row) const {
        if (row >= nodes() && row < first_adjoint()) {
            const std::int64_t place = (row - nodes()) % (n * n);
            return 1 + around({place % n, place / n});
        }
        const grid_point p = points().point(row < nodes() ? row : row - first_adjoint());
        const std::int64_t box =
            reach(p.x, n).length() * reach(p.y, n).length() * reach(p.z, n).length();
        if (row < nodes()) {
            return 1 + box;
        }
        std::int64_t length = box;
        for (int face = 0; face < faces; ++face) {
            length += on_face(face, p) ? around(on(face, p)) : 0;
        }
        return length;
    }

private:
    [[nodiscard]] static std::int64_t across(int face, const grid_point& p) {
        return face < 2 ? p.x : face < 4 ? p.y : p.z;
    }
    [[nodiscard]] std::int64_t around(const face_point& f) const {
        return reach(f.s, n).length() * reach(f.t, n).length();
    }
};

} // namespace krylith

// Optimality conditions of boundary control in three dimensions.
#include <krylith/matrix/gallery/systems.hpp>

#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/linear_elements.hpp>
#include <krylith/matrix/gallery/nlpkkt_layout.hpp>

namespace krylith {
namespace {

/// The rows of the blocks, one method a block; each writes columns and values and moves on.
template <class T>
class row_writer {
public:
    row_writer(const nlpkkt_layout& layout, std::int32_t* columns, T* values)
        : at_(layout),
          line_{layout.n - 1},
          h_(1.0 / static_cast<double>(layout.n - 1)),
          columns_(columns),
          values_(values) {}

    /// Writes a row of W.
    void state_mass(const grid_point& p) {
        put(at_.node(p),
            h_ * h_ * (line_.lumped_mass(p.x) * line_.lumped_mass(p.y) * line_.lumped_mass(p.z)));
    }

    /// Writes a row of V.
    void control_mass(int face, const nlpkkt_layout::face_point& f) {
        constexpr double alpha = 0.01;
        put(at_.control_at(face, f),
            alpha * h_ * (line_.lumped_mass(f.s) * line_.lumped_mass(f.t)));
    }

    /// Writes a row of K or its transpose, which is the same; the block's columns begin at
    /// `offset`.
    void equation(const grid_point& p, std::int64_t offset) {
        const reach xs(p.x, at_.n);
        const reach ys(p.y, at_.n);
        const reach zs(p.z, at_.n);
        for (std::int64_t z = zs.first; z <= zs.last; ++z) {
            const double mass_z = line_.mass(p.z, z);
            const double stiffness_z = line_.stiffness(p.z, z);
            for (std::int64_t y = ys.first; y <= ys.last; ++y) {
                const double mass = line_.mass(p.y, y) * mass_z;
                const double rest = line_.stiffness(p.y, y) * mass_z +
                                    line_.mass(p.y, y) * stiffness_z + h_ * h_ * mass;
                for (std::int64_t x = xs.first; x <= xs.last; ++x) {
                    put(offset + at_.node({x, y, z}),
                        line_.stiffness(p.x, x) * mass + line_.mass(p.x, x) * rest);
                }
            }
        }
    }

    /// Writes a row of B or its transpose; `place(f)` is the column that belongs to a place on the
    /// face.
    template <class Place>
    void face_mass(const nlpkkt_layout::face_point& f, const Place& place) {
        const reach ss(f.s, at_.n);
        const reach ts(f.t, at_.n);
        for (std::int64_t t = ts.first; t <= ts.last; ++t) {
            for (std::int64_t s = ss.first; s <= ss.last; ++s) {
                put(place({s, t}), -h_ * (line_.mass(f.s, s) * line_.mass(f.t, t)));
            }
        }
    }

private:
    void put(std::int64_t column, double value) {
        *columns_++ = static_cast<std::int32_t>(column);
        *values_++ = static_cast<T>(value);
    }

    nlpkkt_layout at_;
    linear_elements line_;
    double h_;
    std::int32_t* columns_;
    T* values_;
};

} // namespace

template <class T>
csr_matrix<T> nlpkkt(std::int64_t n) {
    check_argument<std::int64_t>("nlpkkt", "n", n, 2, 1023);
    const nlpkkt_layout at{n};
    const auto length = [=](std::int64_t row) { return at.length(row); };
    const auto fill = [=](std::int64_t row, std::int32_t* columns, T* values) {
        using face_point = nlpkkt_layout::face_point;
        row_writer<T> write(at, columns, values);
        if (row < at.nodes()) {
            const grid_point p = at.points().point(row);
            write.state_mass(p);
            write.equation(p, at.first_adjoint());
        } else if (row < at.first_adjoint()) {
            const std::int64_t place = row - at.nodes();
            const auto face = static_cast<int>(place / (n * n));
            const face_point f{place % n, place / n % n};
            write.control_mass(face, f);
            write.face_mass(
                f, [&](const face_point& g) { return at.first_adjoint() + at.node_at(face, g); });
        } else {
            const grid_point p = at.points().point(row - at.first_adjoint());
            write.equation(p, 0);
            for (int face = 0; face < nlpkkt_layout::faces; ++face) {
                if (at.on_face(face, p)) {
                    write.face_mass(at.on(face, p),
                                    [&](const face_point& g) { return at.control_at(face, g); });
                }
            }
        }
    };
    return build_by_rows<T>(at.rows(), at.rows(), length, fill);
}

#define KRYLITH_INSTANTIATE(T) template csr_matrix<T> nlpkkt(std::int64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

// Elasticity, optimal control and Stokes against integrals, kernels and inertia known otherwise.
#include <krylith/matrix/gallery.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery/nlpkkt_layout.hpp>
#include <krylith/tests/matrix/support/dense.hpp>
#include <krylith/tests/matrix/support/facts.hpp>
#include <krylith/tests/support/dense.hpp>

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using krylith::test::eigenvalues;
using krylith::test::to_eigen;

/// The stiffness matrix of a unit cube by 2 x 2 x 2 Gauss points, the textbook's B' D B.
MatrixXd cube_stiffness(double nu) {
    const double factor = 1 / ((1 + nu) * (1 - 2 * nu));
    MatrixXd d = MatrixXd::Zero(6, 6);
    d.topLeftCorner(3, 3).setConstant(nu * factor);
    for (int k = 0; k < 3; ++k) {
        d(k, k) = (1 - nu) * factor;
        d(k + 3, k + 3) = (1 - 2 * nu) / 2 * factor;
    }
    MatrixXd stiffness = MatrixXd::Zero(24, 24);
    const double g = 0.5 / std::sqrt(3.0);
    for (int point = 0; point < 8; ++point) {
        const std::array<double, 3> at{0.5 + (point & 1 ? g : -g), 0.5 + (point & 2 ? g : -g),
                                       0.5 + (point & 4 ? g : -g)};
        MatrixXd b = MatrixXd::Zero(6, 24);
        for (int node = 0; node < 8; ++node) {
            std::array<double, 3> gradient{1, 1, 1};
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const bool upper = (node >> axis & 1) != 0;
                for (std::size_t k = 0; k < 3; ++k) {
                    gradient[k] *= k == axis ? (upper ? 1 : -1) : (upper ? at[axis] : 1 - at[axis]);
                }
            }
            const auto [x, y, z] = gradient;
            const int c = 3 * node;
            b(0, c) = b(3, c + 1) = b(5, c + 2) = x;
            b(1, c + 1) = b(3, c) = b(4, c + 2) = y;
            b(2, c + 2) = b(4, c + 1) = b(5, c) = z;
        }
        stiffness += b.transpose() * d * b / 8;
    }
    return stiffness;
}

/// The beam assembled element by element, clamped nodes taken out.
MatrixXd assembled_beam(int nx, int ny, int nz, double nu) {
    const MatrixXd element = cube_stiffness(nu);
    const int rows = 3 * nx * (ny + 1) * (nz + 1);
    MatrixXd result = MatrixXd::Zero(rows, rows);
    const auto row_of = [&](int x, int y, int z, int node, int k) {
        const int px = x + (node & 1);
        const int py = y + (node >> 1 & 1);
        const int pz = z + (node >> 2);
        return px == 0 ? -1 : 3 * ((pz * (ny + 1) + py) * nx + px - 1) + k;
    };
    for (int e = 0; e < nx * ny * nz; ++e) {
        const int x = e % nx;
        const int y = e / nx % ny;
        const int z = e / nx / ny;
        for (int p = 0; p < 24; ++p) {
            for (int q = 0; q < 24; ++q) {
                const int i = row_of(x, y, z, p / 3, p % 3);
                const int j = row_of(x, y, z, q / 3, q % 3);
                if (i >= 0 && j >= 0) {
                    result(i, j) += element(p, q);
                }
            }
        }
    }
    return result;
}

std::int64_t negative(const VectorXd& values) {
    return (values.array() < 0).count();
}

} // namespace

TEST_CASE("elasticity3d is what assembling Gauss-integrated elements gives") {
    for (const double nu : {0.0, 0.3, 0.45}) {
        const MatrixXd a = to_eigen(krylith::elasticity3d<double>(3, 2, 1, nu));
        const MatrixXd expected = assembled_beam(3, 2, 1, nu);
        REQUIRE(a.rows() == expected.rows());
        CHECK((a - expected).cwiseAbs().maxCoeff() < 1e-13);
    }
}

TEST_CASE("elasticity3d: counts, definiteness, rigid motions") {
    const auto matrix = krylith::elasticity3d<double>(3, 2, 4);
    CHECK(matrix.rows == 3 * 3 * 3 * 5);
    CHECK(matrix.nnz() == 9 * 7 * 7 * 13);
    CHECK(krylith::elasticity3d<double>(1, 1, 1).rows == 12);
    CHECK(eigenvalues(matrix)[0] > 0);
    // A rotation about z is (x, y) -> (-y, x). There is no force away from the clamped end.
    VectorXd turn(matrix.rows);
    for (int node = 0; node < matrix.rows / 3; ++node) {
        turn[3 * node] = -(node / 3 % 3);
        turn[3 * node + 1] = node % 3 + 1;
        turn[3 * node + 2] = 0;
    }
    const VectorXd force = to_eigen(matrix) * turn;
    double free = 0;
    double clamped = 0;
    for (int row = 0; row < matrix.rows; ++row) {
        double& worst = row / 3 % 3 == 0 ? clamped : free;
        worst = std::max(worst, std::abs(force[row]));
    }
    CHECK(free < 1e-13);
    CHECK(clamped > 0.1);
}

TEST_CASE("nlpkkt has SuiteSparse's numbers of rows and nonzeros") {
    const auto rows = [](std::int64_t n) { return 2 * n * n * n + 6 * n * n; };
    const auto nnz = [](std::int64_t n) {
        const std::int64_t line = 3 * n - 2;
        return 2 * line * line * line + n * n * n + 6 * n * n + 12 * line * line;
    };
    for (const std::int64_t n : {2, 3, 5, 11}) {
        CAPTURE(n);
        const auto matrix = krylith::nlpkkt<double>(n);
        CHECK(matrix.rows == rows(n));
        CHECK(matrix.nnz() == nnz(n));
        CHECK(krylith::test::symmetric(matrix));
    }
    // This is N = 200 without its 5 GB of entries: the lengths that the generator itself asks for.
    const krylith::nlpkkt_layout layout{200};
    std::int64_t counted = 0;
    for (std::int64_t row = 0; row < layout.rows(); ++row) {
        counted += layout.length(row);
    }
    CHECK(layout.rows() == 16240000);
    CHECK(counted == 440225632);
    CHECK(nnz(200) == 440225632);
    CHECK(rows(80) == 1062400); // nlpkkt80
    CHECK(nnz(80) == 28192672);
}

TEST_CASE("nlpkkt is a saddle point: inertia, blocks, and constants in the state equation") {
    for (const int n : {2, 3, 4}) {
        CAPTURE(n);
        const VectorXd values = eigenvalues(krylith::nlpkkt<double>(n));
        CHECK(negative(values) == n * n * n);
        CHECK(values.cwiseAbs().minCoeff() > 1e-6);
    }
    const int n = 4;
    const int nodes = n * n * n;
    const int controls = 6 * n * n;
    const MatrixXd a = to_eigen(krylith::nlpkkt<double>(n));
    const auto equation = a.block(nodes + controls, 0, nodes, nodes);
    const auto steering = a.block(nodes + controls, nodes, nodes, controls);
    CHECK(a.block(0, nodes, nodes, controls).isZero());
    CHECK(a.bottomRightCorner(nodes, nodes).isZero());
    CHECK((equation - equation.transpose()).isZero());
    // The stiffness of constants vanishes: what is left are volumes over h and areas over h, so
    // that, summed over the cube, h times them is 1 and 6.
    const double h = 1.0 / (n - 1);
    CHECK(equation.sum() * h == doctest::Approx(1));
    CHECK(-steering.sum() * h == doctest::Approx(6));
    CHECK(a.topLeftCorner(nodes, nodes).trace() * h == doctest::Approx(1));
    CHECK(a.block(nodes, nodes, controls, controls).trace() * h == doctest::Approx(0.06));
    // y = x, u = dy/dn solves -Laplace y = 0: what remains of K y + B u is the mass of y.
    VectorXd y(nodes);
    VectorXd u = VectorXd::Zero(controls);
    for (int k = 0; k < nodes; ++k) {
        y[k] = (k % n) * h;
    }
    u.head(n * n).setConstant(-1);
    u.segment(n * n, n * n).setConstant(1);
    const VectorXd rest = equation * y + steering * u;
    CHECK(rest.sum() * h == doctest::Approx(0.5)); // the integral of x
}

TEST_CASE("stokes2d: counts, inertia, and no pressure that is constant") {
    for (const auto& size : {std::array{2, 2}, std::array{5, 4}, std::array{2, 7}}) {
        const int nx = size[0];
        const int ny = size[1];
        CAPTURE(nx);
        CAPTURE(ny);
        const auto matrix = krylith::stokes2d<double>(nx, ny);
        const int velocities = 2 * nx * ny - nx - ny;
        CHECK(matrix.rows == velocities + nx * ny - 1);
        CHECK(matrix.nnz() == 18 * nx * ny - 13 * (nx + ny));
        CHECK(krylith::test::symmetric(matrix));
        const VectorXd values = eigenvalues(matrix);
        CHECK(negative(values) == nx * ny - 1);
        CHECK(values.cwiseAbs().minCoeff() > 1e-3); // regular
        const MatrixXd a = to_eigen(matrix);
        CHECK(a.bottomRightCorner(nx * ny - 1, nx * ny - 1).isZero());
        // This is the gradient of a constant pressure, but for the two faces of the cell that is
        // left out.
        const VectorXd gradient = a.topRightCorner(velocities, nx * ny - 1).rowwise().sum();
        CHECK(gradient.cwiseAbs().sum() == 2);
        CHECK(gradient[(nx - 1) * ny - 1] == -1);
        CHECK(gradient[velocities - 1] == -1);
    }
    // A parallel wall is half a cell away: 5 beside one, 6 between two.
    const auto a = to_eigen(krylith::stokes2d<double>(3, 3));
    CHECK(a(0, 0) == 5);
    CHECK(a(2, 2) == 4);
    CHECK(to_eigen(krylith::stokes2d<double>(2, 3))(6, 6) == 5); // v beside the left wall
}

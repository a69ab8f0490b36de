// Anisotropic, jumping and oscillating problems: values by hand, eigenvalues by formula.
#include <krylith/matrix/gallery.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery/portable_angle.hpp>
#include <krylith/tests/matrix/support/dense.hpp>
#include <krylith/tests/matrix/support/facts.hpp>
#include <krylith/tests/support/dense.hpp>

namespace {

using krylith::test::dense;
using krylith::test::eigenvalues;
using krylith::test::to_dense;
using krylith::test::to_eigen;

double cosine(int mode, int n) {
    return std::cos(mode * std::numbers::pi / (n + 1));
}

void check_spectrum(const krylith::csr_matrix<double>& matrix, std::vector<double> expected) {
    std::ranges::sort(expected);
    const Eigen::VectorXd found = eigenvalues(matrix);
    REQUIRE(found.size() == static_cast<Eigen::Index>(expected.size()));
    double worst = 0;
    for (Eigen::Index k = 0; k < found.size(); ++k) {
        worst = std::max(worst, std::abs(found[k] - expected[static_cast<std::size_t>(k)]));
    }
    CHECK(worst < 1e-12 * std::abs(expected.back()));
}

/// The matrix of the outer product of two axes of n points each.
template <class Value>
std::vector<double> spectrum(int n, const Value& value) {
    std::vector<double> result;
    for (int i = 1; i <= n; ++i) {
        for (int j = 1; j <= n; ++j) {
            result.push_back(value(cosine(i, n), cosine(j, n)));
        }
    }
    return result;
}

} // namespace

TEST_CASE("poisson1d and the compact 9-point Laplacian") {
    CHECK(to_dense(krylith::poisson1d<double>(3)) == dense{{2, -1, 0}, {-1, 2, -1}, {0, -1, 2}});
    CHECK(to_dense(krylith::poisson1d<float>(1)) == dense{{2}});
    CHECK(to_dense(krylith::poisson2d_9point<double>(2, 2)) ==
          dense{{20, -4, -4, -1}, {-4, 20, -1, -4}, {-4, -1, 20, -4}, {-1, -4, -4, 20}});
    CHECK(krylith::poisson1d<double>(100).nnz() == 298);
    CHECK(krylith::poisson2d_9point<double>(7, 5).nnz() == 19 * 13);
    check_spectrum(krylith::poisson2d_9point<double>(5, 5),
                   spectrum(5, [](double p, double q) { return 36 - (4 + 2 * p) * (4 + 2 * q); }));
}

TEST_CASE("the portable cosine and sine are right to the last bits") {
    for (double degrees = -360; degrees <= 360; degrees += 0.37) {
        const auto [c, s] = krylith::direction_of(degrees);
        const double angle = degrees * std::numbers::pi / 180;
        // The angle itself is rounded, by up to 4e-16, twice.
        CHECK(std::abs(c - std::cos(angle)) < 2e-15);
        CHECK(std::abs(s - std::sin(angle)) < 2e-15);
    }
    for (const double turns : {-4, -3, -2, -1, 0, 1, 2, 3, 4}) {
        const auto [c, s] = krylith::direction_of(90 * turns);
        CHECK(std::abs(c) + std::abs(s) == 1);
    }
    CHECK(krylith::direction_of(90).sine == 1);
    CHECK(krylith::direction_of(-90).sine == -1);
    CHECK(krylith::direction_of(180).cosine == -1);
}

TEST_CASE("anisotropic_diffusion: element integrals, eigenvalues, turns") {
    const double epsilon = 0.01;
    check_spectrum(
        krylith::anisotropic_diffusion<double>(6, epsilon), spectrum(6, [&](double p, double q) {
            return (2 - 2 * p) * (4 + 2 * q) / 6 + epsilon * (2 - 2 * q) * (4 + 2 * p) / 6;
        }));
    // All directions are the same in the isotropic case: the stencil is 8/3, -1/3.
    const auto isotropic = krylith::anisotropic_diffusion<double>(4, 1, 33);
    for (std::size_t row = 0; row < 16; ++row) {
        for (auto k = isotropic.row_offsets[row]; k < isotropic.row_offsets[row + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            const bool centre = isotropic.column_indices[place] == static_cast<std::int32_t>(row);
            CHECK(isotropic.values[place] == doctest::Approx(centre ? 8.0 / 3 : -1.0 / 3));
        }
    }
    // The strong direction at 45 degrees is (1, 1): that neighbour is the strongest.
    const auto turned = to_eigen(krylith::anisotropic_diffusion<double>(3, 0.001, 45));
    CHECK(turned(4, 8) == doctest::Approx(-(1.001) / 6 - 0.999 / 4));
    CHECK(turned(4, 2) == doctest::Approx(-(1.001) / 6 + 0.999 / 4));
    CHECK(turned.row(4).sum() == doctest::Approx(0)); // constants are in the kernel
    // 90 degrees swap x and y.
    const auto along_y = to_eigen(krylith::anisotropic_diffusion<double>(3, 0.001, 90));
    CHECK(along_y(4, 7) == doctest::Approx((0.001 - 2) / 3));
    CHECK(along_y(4, 5) == doctest::Approx((1 - 0.002) / 3));
    for (const double degrees : {0.0, 20.0, 45.0, 71.0, 135.0}) {
        CHECK(eigenvalues(krylith::anisotropic_diffusion<double>(7, 1e-4, degrees))[0] > 0);
    }
}

TEST_CASE("helmholtz is the shifted Laplacian, indefinite as documented") {
    const int n = 7;
    const double k = 12;
    const double shift = k / 8 * (k / 8);
    check_spectrum(krylith::helmholtz2d<double>(n, k),
                   spectrum(n, [&](double p, double q) { return 4 - 2 * p - 2 * q - shift; }));
    CHECK(krylith::helmholtz2d<double>(n, 0) == krylith::poisson2d<double>(n));
    CHECK(krylith::helmholtz3d<double>(4, 0) == krylith::poisson3d<double>(4));
    CHECK(krylith::helmholtz3d<double>(4, 5).values[0] == 5); // 6 - (5 / 5)^2
    // pi sqrt(2) = 4.44 and pi sqrt(3) = 5.44, up to discretisation.
    CHECK(eigenvalues(krylith::helmholtz2d<double>(15, 4.3))[0] > 0);
    CHECK(eigenvalues(krylith::helmholtz2d<double>(15, 4.5))[0] < 0);
    CHECK(eigenvalues(krylith::helmholtz3d<double>(7, 5.3))[0] > 0);
    CHECK(eigenvalues(krylith::helmholtz3d<double>(7, 5.5))[0] < 0);
}

TEST_CASE("jump_diffusion with one material is the cell-centred Laplacian") {
    const int n = 4;
    std::vector<double> expected;
    const auto one = [&](int i) { return 2 - 2 * std::cos(i * std::numbers::pi / n); };
    for (int i = 1; i <= n; ++i) {
        for (int j = 1; j <= n; ++j) {
            for (int k = 1; k <= n; ++k) {
                expected.push_back(one(i) + one(j) + one(k));
            }
        }
    }
    check_spectrum(krylith::jump_diffusion<double>(n, 1, 1), expected);
    CHECK(krylith::jump_diffusion<double>(n, 1, 2, 9) == krylith::jump_diffusion<double>(n, 1, 1));
}

TEST_CASE("jump_diffusion: harmonic means between blocks, positive definite") {
    // Cells 0, 1 | 2, 3 along x in blocks of 2: 1 and 3, mean 2 * 3 / 4.
    const auto matrix = krylith::jump_diffusion<double>(4, 3, 2);
    const Eigen::MatrixXd a = to_eigen(matrix);
    CHECK(a(0, 1) == -1);
    CHECK(a(1, 2) == -1.5);
    CHECK(a(2, 3) == -3);
    CHECK(a(0, 0) == 3 * 2 + 3); // three surfaces, three neighbours of the same material
    CHECK(a(2, 2) == 1.5 + 3 + 2 * 6 + 2 * 3);
    // Inside nothing is lost: rows that touch no surface sum to 0.
    CHECK(a.row(21).sum() == doctest::Approx(0));
    CHECK(matrix.nnz() == krylith::poisson3d<double>(4).nnz());
    CHECK(eigenvalues(krylith::jump_diffusion<double>(6, 1e4, 2))[0] > 0);
    CHECK(eigenvalues(krylith::jump_diffusion<double>(6, 1e-4, 1, 3))[0] > 0);
    // About half the blocks are of the second kind.
    const auto random = diagonal(krylith::jump_diffusion<double>(20, 1e6, 2, 5));
    const auto hard = std::ranges::count_if(random, [](double d) { return d > 1e5; });
    CHECK(hard > 3000);
    CHECK(hard < 5000);
}

TEST_CASE("rough_diffusion: a coefficient for each cell, within the contrast, positive definite") {
    const auto matrix = krylith::rough_diffusion<double>(12, 1e6, 7);
    const auto same = krylith::rough_diffusion<double>(12, 1e6, 7);
    CHECK(matrix == same);
    CHECK(matrix != krylith::rough_diffusion<double>(12, 1e6, 8));
    CHECK(matrix.nnz() == krylith::poisson3d<double>(12).nnz());
    CHECK(to_eigen(matrix) == to_eigen(matrix).transpose());
    // Harmonic means lie between the coefficients, which are in [1, 2^19).
    double least = 1e300;
    double most = 0;
    for (const double v : matrix.values)
        if (v < 0) {
            least = std::min(least, -v);
            most = std::max(most, -v);
        }
    CHECK(least >= 1);
    CHECK(least < 8);
    CHECK(most < 0x1p19);
    CHECK(most > 0x1p16);
    CHECK(eigenvalues(krylith::rough_diffusion<double>(6, 1e4, 3))[0] > 0);
    CHECK_THROWS_AS((void)krylith::rough_diffusion<double>(6, 1.5, 3), krylith::usage_error);
}

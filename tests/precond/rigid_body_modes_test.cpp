// Rigid body modes against free bodies, and amg that is given them.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/rigid_body_modes.hpp>

#include <doctest/doctest.h>
#include <krylith/tests/support/dense.hpp>

namespace krylith {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

/// Springs between all pairs of nodes: a free body, whose null space is that of rigid motions.
MatrixXd springs(const std::vector<double>& x, Index axes) {
    const Index n = static_cast<Index>(x.size());
    MatrixXd a = MatrixXd::Zero(n, n);
    const Eigen::VectorXd all = Eigen::Map<const Eigen::VectorXd>(x.data(), n);
    for (Index p = 0; p < n; p += axes)
        for (Index q = p + axes; q < n; q += axes) {
            const Eigen::VectorXd d = (all.segment(p, axes) - all.segment(q, axes)).normalized();
            Eigen::VectorXd strain = Eigen::VectorXd::Zero(n);
            strain.segment(p, axes) = d;
            strain.segment(q, axes) = -d;
            a += strain * strain.transpose();
        }
    return a;
}

MatrixXd dense_modes(const std::vector<double>& x, int dimension) {
    const std::vector<double> modes = rigid_body_modes(x, dimension);
    const auto n = static_cast<Index>(x.size());
    REQUIRE(modes.size() % x.size() == 0);
    return Eigen::Map<const MatrixXd>(modes.data(), n, static_cast<Index>(modes.size()) / n);
}

} // namespace

TEST_CASE("rigid body modes are the null space of a free body, orthonormal") {
    for (const double unit : {1.0, 1e-150, 1e200}) {
        std::vector<double> plane;
        for (const double c : {0.0, 0.0, 3.0, 1.0, 1.5, 4.0, -2.0, 2.5, 100.0, 7.0})
            plane.push_back(unit * c);
        std::vector<double> space;
        for (const double c : {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 5, 4, 3, 2, 7, 1})
            space.push_back(unit * c);
        const MatrixXd in_plane = dense_modes(plane, 2);
        const MatrixXd in_space = dense_modes(space, 3);
        REQUIRE(in_plane.cols() == 3);
        REQUIRE(in_space.cols() == 6);
        for (auto* c : {&plane, &space})
            for (double& x : *c) x /= unit;
        CHECK((springs(plane, 2) * in_plane).cwiseAbs().maxCoeff() <= 1e-12);
        CHECK((springs(space, 3) * in_space).cwiseAbs().maxCoeff() <= 1e-12);
        for (const MatrixXd& v : {in_plane, in_space})
            CHECK((v.transpose() * v - MatrixXd::Identity(v.cols(), v.cols()))
                      .cwiseAbs()
                      .maxCoeff() <= 1e-14);
    }
}

TEST_CASE("rigid body modes: turns that move no node are left out") {
    CHECK(dense_modes({1, 2, 3}, 3).cols() == 3);                   // a point
    CHECK(dense_modes({1, 1, 1, 2, 2, 2, 5, 5, 5}, 3).cols() == 5); // a line
    CHECK(dense_modes({4, 4}, 2).cols() == 2);
    CHECK(dense_modes({1, 2, 3}, 1).cols() == 1);
    CHECK(rigid_body_modes({}, 3).empty());
}

TEST_CASE("rigid body modes refuse what are no coordinates") {
    const std::vector<double> four = {1, 2, 3, 4};
    CHECK_THROWS_WITH_AS((void)rigid_body_modes(four, 4),
                         "rigid_body_modes: the dimension is 4; allowed are 1 to 3", usage_error);
    CHECK_THROWS_WITH_AS((void)rigid_body_modes(four, 3),
                         "rigid_body_modes: there are 4 coordinates; must be 3 for each node",
                         usage_error);
    const std::vector<double> infinite = {1, 2, 3, std::numeric_limits<double>::infinity()};
    CHECK_THROWS_WITH_AS((void)rigid_body_modes(infinite, 2),
                         "rigid_body_modes: coordinate 1 of node 1 (counted from 0) is inf; it "
                         "must be finite",
                         usage_error);
}

TEST_CASE("gallery coordinates: A times a rigid motion vanishes off the clamped end") {
    const auto a = make_gallery<double>("elasticity3d:4:2:3");
    const node_coordinates nodes = gallery_coordinates("elasticity3d:4:2:3");
    REQUIRE(nodes.dimension == 3);
    REQUIRE(static_cast<std::int64_t>(nodes.values.size()) == a.rows);
    const MatrixXd strains = testing::to_eigen(a) * dense_modes(nodes.values, 3);
    for (Index row = 0; row < strains.rows(); ++row)
        if (nodes.values[static_cast<std::size_t>(row / 3 * 3)] > 1)
            CHECK(strains.row(row).cwiseAbs().maxCoeff() <= 1e-14);
    CHECK(gallery_coordinates("poisson3d:3").values.empty());
    CHECK_THROWS_AS((void)gallery_coordinates("elasticity3d"), usage_error);
}

} // namespace krylith

// What preconditioners do with nodes: amg takes rows and vectors, block-jacobi rows, others
// nothing.
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/rigid_body_modes.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::problem;

TEST_CASE("matrix nodes: sizes that don't suit the matrix are refused") {
    const std::vector<double> values(24, 1);
    matrix_nodes{}.check(0);
    matrix_nodes{}.check(7);
    matrix_nodes{.block_size = 3, .near_null = values}.check(12);
    CHECK_FALSE(matrix_nodes{}.known());
    CHECK(matrix_nodes{.block_size = 2}.known());
    CHECK(matrix_nodes{.near_null = values}.known());
    for (const int size : {-1, 0, 5, 13})
        CHECK_THROWS_WITH_AS((matrix_nodes{.block_size = size}.check(12)),
                             doctest::Contains("matrix_nodes::block_size is "), usage_error);
    for (const std::int64_t rows : {0, 1, 7, 48}) {
        CAPTURE(rows);
        CHECK_THROWS_WITH_AS((matrix_nodes{.near_null = values}.check(rows)),
                             doctest::Contains("matrix_nodes::near_null has 24 entries"),
                             usage_error);
    }
}

KRYLITH_GROUP_TEST("matrix nodes: amg and block-jacobi take them, others are the same") {
    const auto matrix = make_gallery<double>("elasticity3d:5:3:3");
    const auto nodes = gallery_coordinates("elasticity3d:5:3:3");
    const std::vector<double> modes = rigid_body_modes(nodes.values, nodes.dimension);
    const matrix_nodes known{.block_size = 3, .near_null = modes};
    problem<double> p(group, matrix, testing::random_values<double>(matrix.rows, 1),
                      {.block_size = 3});
    const csr_view<double> view(matrix);
    const auto name = [&](const std::string& text, const matrix_nodes& with) {
        return make_preconditioner(text, *p.a, view, with).name();
    };
    CHECK(name("amg", known).ends_with(":block_size=3"));
    CHECK(name("amg:block_size=1", known).find("block_size") == std::string::npos);
    CHECK(name("amg", {}).ends_with(":block_size=3")); // found
    CHECK(name("block-jacobi", known) == "block-jacobi:block_size=3");
    CHECK(name("block-jacobi:block_size=6", known) == "block-jacobi:block_size=6");
    CHECK(name("jacobi", known) == "jacobi");
    CHECK(name("none", known) == "none");
    const auto iterations = [&](const matrix_nodes& with) {
        const auto result = cg(*p.a, p.b, p.x, {}, make_preconditioner("amg", *p.a, view, with));
        CHECK(result.converged());
        return result.iterations;
    };
    CHECK(iterations(known) < iterations({.block_size = 3}));
    CHECK_THROWS_AS((void)name("jacobi", {.block_size = 7}), usage_error);
    CHECK_THROWS_AS((void)name("nonsense", known), usage_error);
    std::vector<double> bad = modes;
    bad[5] = std::numeric_limits<double>::infinity();
    CHECK_THROWS_AS((void)name("amg", {.block_size = 3, .near_null = bad}), usage_error);
}

} // namespace krylith

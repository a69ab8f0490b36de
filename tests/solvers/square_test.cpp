// Solvers need a square matrix, and say so by name.
#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/solvers/gmres/gmres_cgs2.hpp>
#include <krylith/solvers/persistent_cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

TEST_CASE("solvers refuse a matrix that is not square, by name and sizes") {
    const csr_matrix<double> matrix{2, 3, {0, 2, 3}, {0, 2, 1}, {1, 2, 3}};
    const auto group = device_group::host(2);
    for (const operator_kind kind : {operators::halo, operators::nz}) {
        const auto a = make_operator(group, matrix, {.kind = kind});
        const auto b = a->make_range_vector();
        auto x = a->make_domain_vector();
        CHECK_THROWS_WITH_AS((void)cg(*a, b, x), "cg needs a square matrix; A is 2 x 3",
                             usage_error);
        CHECK_THROWS_WITH_AS((void)launched_cg(*a, b, x), "cg needs a square matrix; A is 2 x 3",
                             usage_error);
        CHECK_THROWS_WITH_AS((void)persistent_cg(*a, b, x),
                             "persistent_cg needs a square matrix; A is 2 x 3", usage_error);
        CHECK_THROWS_WITH_AS((void)gmres(*a, b, x), "gmres needs a square matrix; A is 2 x 3",
                             usage_error);
        CHECK_THROWS_WITH_AS((void)gmres_cgs2(*a, b, x),
                             "gmres_cgs2 needs a square matrix; A is 2 x 3", usage_error);
        CHECK_THROWS_WITH_AS((void)bicgstab(*a, b, x), "bicgstab needs a square matrix; A is 2 x 3",
                             usage_error);
        CHECK(not_persistent_because(*a) != "");
    }
}

TEST_CASE("solvers of square systems refuse damping by name") {
    const csr_matrix<double> matrix{2, 2, {0, 1, 2}, {0, 1}, {1, 2}};
    const auto a = make_operator(device_group::host(2), matrix);
    const auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    CHECK_THROWS_WITH_AS((void)gmres(*a, b, x, {.damping = 1}),
                         "gmres takes no damping, and was given 1: allowed is 0; lsqr takes others",
                         usage_error);
}

} // namespace krylith

// Kernels whose rows wait for each other, launched with one block and with far more than the
// device holds: no order of blocks may deadlock.
#include <krylith/config.hpp>

#if KRYLITH_HAVE_CUDA

#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/sptrsv/triangle_solve_cuda.hpp>

#include <krylith/tests/sparse/sptrsv/triangular_cases.hpp>
#include <krylith/tests/spmspv/one_device.hpp>

namespace krylith {

TEST_CASE("triangular solver: any number of blocks gives the same bits [cuda]") {
    const auto device = testing::cuda_groups().front().handle(0);
    for (const testing::triangular_case& c : testing::triangular_cases()) {
        if (c.matrix.rows == 0) continue;
        CAPTURE(c.name);
        const device_csr<double> a(device, c.matrix);
        const auto b = testing::right_hand_side(c.matrix.rows, 6);
        const buffer<double> from(device, std::span<const double>(b), "b");
        for (const auto part : {triangle_part::lower, triangle_part::upper})
            for (const auto method : {triangular_method::rows, triangular_method::levels}) {
                const auto exact =
                    testing::substitute(c.matrix, part, triangle_diagonal::stored, b);
                std::vector<double> first;
                for (const unsigned blocks : {1u, 7u, 10000u}) {
                    CAPTURE(blocks);
                    const auto solver =
                        cuda::make_triangle_solve(a, {.part = part, .method = method}, blocks);
                    CHECK(solver->update() == -1);
                    const buffer<double> x(device, b.size(), "x");
                    for (int again = 0; again < 3; ++again)
                        solver->solve({from.data(), x.data(), 0, 0}, 1);
                    const std::vector<double> found = x.download();
                    if (first.empty()) first = found;
                    CHECK(found == first);
                    for (std::size_t i = 0; i < found.size(); ++i)
                        CHECK(found[i] == doctest::Approx(exact[i]).epsilon(1e-11));
                }
            }
    }
}

TEST_CASE("triangular solver: many solves in flight, chains of many levels [cuda]") {
    const auto device = testing::cuda_groups().front().handle(0);
    const csr_matrix<double> matrix = testing::chain(50'000, 1);
    const device_csr<double> a(device, matrix);
    const auto b = testing::right_hand_side(matrix.rows, 2);
    const auto exact =
        testing::substitute(matrix, triangle_part::lower, triangle_diagonal::stored, b);
    for (const unsigned blocks : {0u, 1u, 10000u}) {
        const auto solver =
            cuda::make_triangle_solve(a, {.method = triangular_method::levels}, blocks);
        CHECK(solver->update() == -1);
        const buffer<double> from(device, std::span<const double>(b), "b");
        const buffer<double> x(device, b.size(), "x");
        for (int i = 0; i < 7; ++i) solver->solve({from.data(), x.data(), 0, 0}, 1);
        const std::vector<double> found = x.download();
        for (std::size_t i = 0; i < found.size(); i += 997)
            CHECK(found[i] == doctest::Approx(exact[i]).epsilon(1e-11));
    }
}

} // namespace krylith

#endif

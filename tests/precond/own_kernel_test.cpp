// A user's own CUDA kernel as a preconditioner: with and without ghosts, in any layout, recorded.
// The kernel is in own_kernel_test.cu.
#include <krylith/config.hpp>

#if KRYLITH_HAVE_CUDA

#include <cmath>
#include <cstdint>
#include <vector>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/precond/own_kernel_test.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::name_of;
using testing::problem;
using testing::values_of;

namespace {

constexpr operator_kind kinds_with_kernels[] = {operators::halo, operators::allgather,
                                                operators::nz, operators::pcsr};

preconditioner_function<double> quarter_and_ghosts(const halo_plan* plan) {
    return [columns = plan != nullptr ? plan->columns
                                      : index_map()](const preconditioner_call<double>& call) {
        const local_indices here =
            columns.ranks() != 0 ? columns.local(call.rank) : local_indices(call.rows);
        testing::enqueue_quarter(call, here.first_owned(), here.ghost_count() - here.first_owned());
    };
}

} // namespace

TEST_CASE("own preconditioner: a kernel of the user's [cuda]") {
    testing::on_groups(testing::cuda_groups(), [](const device_group& group) {
        const auto matrix = poisson2d<double>(17, 19);
        const auto r0 = testing::random_values<double>(matrix.rows, 91);
        for (const auto kind : kinds_with_kernels)
            for (const bool with_ghosts : {false, true}) {
                CAPTURE(name_of(kind));
                CAPTURE(with_ghosts);
                problem<double> p(group, matrix, r0, {.kind = kind});
                const auto& rows = p.a->layout()->rows;
                const auto plan = make_halo_plan(matrix.row_offsets, matrix.column_indices, rows);
                const auto m = with_ghosts
                                   ? make_preconditioner(*p.a, plan, quarter_and_ghosts(&plan))
                                   : make_preconditioner(*p.a, quarter_and_ghosts(nullptr));
                std::vector<double> expected(r0.size());
                for (int rank = 0; rank < group.size(); ++rank)
                    for (std::int64_t row = rows.owned(rank).begin; row < rows.owned(rank).end;
                         ++row) {
                        double sum = r0[static_cast<std::size_t>(row)] / 4;
                        if (with_ghosts)
                            for (const std::int64_t ghost : plan.columns.local(rank).ghosts())
                                sum += r0[static_cast<std::size_t>(ghost)];
                        expected[static_cast<std::size_t>(row)] = sum;
                    }
                execution run(group, {.mode = execution_mode::eager});
                auto z = p.a->make_domain_vector();
                scalar zz(run);
                precondition<double>(run, m, p.b, z, zz = dot(z, z));
                run.flush();
                CHECK(values_of(z) == expected);
                CHECK(testing::copies_agree(z));
                double sum = 0;
                for (const double v : expected) sum += v * v;
                CHECK(run.get(zz.number()) == doctest::Approx(sum).epsilon(1e-13));

                if (with_ghosts) continue; // no preconditioner of this matrix
                const auto plain = p.solve(testing::method::cg);
                for (const auto mode : testing::modes_of(*p.a)) {
                    const auto result =
                        testing::solve(testing::method::cg, *p.a, p.b, p.x, {.mode = mode}, m);
                    INFO(describe(result));
                    CHECK(result.converged());
                    CHECK(std::abs(result.iterations - plain.iterations) <= 1);
                    CHECK(result.recorded == (mode == execution_mode::recorded));
                    CHECK(p.relative_residual() <= 1.01e-8);
                }
            }
    });
}

} // namespace krylith

#endif

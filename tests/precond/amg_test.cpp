// Algebraic multigrid: iterations that stay, hierarchies that are the same on any devices, and what
// it refuses.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/cg.hpp>

#include <krylith/tests/precond/amg_solves.hpp>
#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/precond/device_parts.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::amg_solve;
using testing::applied;
using testing::check_same_hierarchy;
using testing::one_device_like;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::solve_with_amg;
using testing::to_eigen;
using testing::values_of;

KRYLITH_GROUP_TEST("amg: iterations are few, and the same on any devices") {
    struct goal {
        const char* name;
        std::int64_t most;
        double complexity;
        amg_options options;
    };
    for (const goal& g :
         {goal{"poisson3d:24", 12, 1.5, {}}, goal{"poisson3d:24", 10, 2.2, {.aggressive = 0}},
          goal{"poisson2d:60", 16, 1.6, {}}, goal{"poisson3d_27point:20", 10, 1.2, {}},
          goal{"poisson3d:16:random=3", 12, 1.6, {}}, goal{"anisotropic3d:20:1e-3", 15, 2.2, {}},
          goal{"jump_diffusion:20:1e6:5:seed=1", 30, 2.2, {.cycle = multigrid_cycle::w}}}) {
        CAPTURE(g.name);
        const auto matrix = make_gallery<double>(g.name);
        const amg_solve alone = solve_with_amg(one_device_like(group), matrix, g.options);
        CHECK(alone.iterations <= g.most);
        CHECK(alone.complexity <= g.complexity);
        // Coarse levels on all devices, some of them, and all of them on one device.
        for (const std::int64_t gathered : {0, 10'000, 1'000'000}) {
            CAPTURE(gathered);
            amg_options options = g.options;
            options.gathered_nonzeros = gathered;
            check_same_hierarchy(alone, solve_with_amg(group, matrix, options));
        }
    }
}

KRYLITH_GROUP_TEST("amg: the cycle is symmetric and positive") {
    for (const char* const name : {"poisson3d:9", "jump_diffusion:10:1e4:3:seed=2"})
        for (const amg_options& o :
             {amg_options{.precision = multigrid_precision::fp64},
              amg_options{.degree = 1, .precision = multigrid_precision::fp64},
              amg_options{.degree = 3, .precision = multigrid_precision::fp64},
              amg_options{.cycle = multigrid_cycle::w, .precision = multigrid_precision::fp64},
              amg_options{.max_levels = 1, .precision = multigrid_precision::fp64},
              amg_options{}}) {
            CAPTURE(name);
            const auto matrix = make_gallery<double>(name);
            const auto a = make_operator(group, matrix);
            const amg<double> m(*a, matrix, o);
            CAPTURE(m.name());
            const auto x = random_values<double>(matrix.rows, 1);
            const auto y = random_values<double>(matrix.rows, 2);
            const auto mx = applied(*a, m, x);
            const auto my = applied(*a, m, y);
            const double size = to_eigen(x).dot(to_eigen(mx));
            CHECK(size > 0);
            const double bound = o.precision == multigrid_precision::fp64 ? 1e-11 : 1e-5;
            CHECK(std::fabs(to_eigen(y).dot(to_eigen(mx)) - to_eigen(x).dot(to_eigen(my))) <=
                  bound * size);
        }
}

KRYLITH_GROUP_TEST("amg: the program of its header") {
    const auto matrix = make_gallery<double>("poisson2d:40");
    const auto a = make_operator(group, matrix);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(random_values<double>(matrix.rows, 3));
    const amg<double> m(*a, matrix);
    const solve_result result = cg(*a, b, x, {}, m);
    CHECK(result.converged());
}

KRYLITH_GROUP_TEST("amg: rows on the devices are not needed after the set-up") {
    const auto matrix = make_gallery<double>("poisson3d_27point:14");
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 11));
    std::optional<amg<double>> m;
    {
        const testing::device_parts<double> parts(group, matrix, p.a->layout()->rows);
        m.emplace(*p.a, parts.parts());
    }
    const solve_result result = cg(*p.a, p.b, p.x, {}, *m);
    CHECK(result.converged());
    const amg_solve of_host = solve_with_amg(group, matrix, {});
    check_same_hierarchy({result.iterations, m->levels(), m->operator_complexity()}, of_host);
}

KRYLITH_GROUP_TEST("amg: columns in any order, entries in parts") {
    const auto matrix = make_gallery<double>("poisson3d:10:random=1");
    csr_matrix<double> shuffled{matrix.rows, matrix.columns, {0}, {}, {}};
    for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows); ++row) {
        for (auto k = matrix.row_offsets[row + 1]; k-- > matrix.row_offsets[row];) {
            const auto at = static_cast<std::size_t>(k);
            for (int part = 0; part < 2; ++part) { // halves of each entry
                shuffled.column_indices.push_back(matrix.column_indices[at]);
                shuffled.values.push_back(matrix.values[at] / 2);
            }
        }
        shuffled.row_offsets.push_back(static_cast<std::int64_t>(shuffled.values.size()));
    }
    check_same_hierarchy(solve_with_amg(group, shuffled, {}), solve_with_amg(group, matrix, {}));
}

KRYLITH_GROUP_TEST("amg: small, diagonal, decoupled and empty systems") {
    for (const char* const name : {"poisson1d:1", "poisson1d:2", "poisson1d:3", "poisson1d:300"})
        (void)solve_with_amg(group, make_gallery<double>(name), {}, {}, 1e-10);
    csr_matrix<double> diagonal{300, 300, std::vector<std::int64_t>(301), {}, {}}; // no neighbours
    for (int i = 0; i < 300; ++i) {
        diagonal.row_offsets[static_cast<std::size_t>(i) + 1] = i + 1;
        diagonal.column_indices.push_back(i);
        diagonal.values.push_back(1.0 + i);
    }
    (void)solve_with_amg(group, diagonal, {}, {}, 1e-10);
    const csr_matrix<double> empty{0, 0, {0}, {}, {}};
    problem<double> p(group, empty, {});
    const amg<double> m(*p.a, empty);
    CHECK(cg(*p.a, p.b, p.x, {}, m).converged());
}

KRYLITH_GROUP_TEST("amg: a constant null space") {
    csr_matrix<double> matrix = make_gallery<double>("poisson2d:30"); // less its boundary
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        double others = 0;
        std::size_t own = 0;
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row) + 1]);
             ++k) {
            if (matrix.column_indices[k] == row)
                own = k;
            else
                others += matrix.values[k];
        }
        matrix.values[own] = -others;
    }
    std::vector<double> b = random_values<double>(matrix.rows, 5);
    double mean = 0;
    for (const double v : b) mean += v / static_cast<double>(b.size());
    for (double& v : b) v -= mean;
    problem<double> p(group, matrix, b);
    const amg<double> m(*p.a, matrix);
    const auto result = cg(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(result.iterations <= 20);
}

KRYLITH_GROUP_TEST("amg: new values give what a new hierarchy would") {
    const auto matrix = make_gallery<double>("poisson3d:14:random=3");
    auto changed = matrix;
    for (double& v : changed.values) v *= 3; // aggregates stay
    for (const auto reuse : {multigrid_reuse::automatic, multigrid_reuse::values,
                             multigrid_reuse::transfer, multigrid_reuse::none}) {
        CAPTURE(static_cast<int>(reuse));
        const amg_options options{.reuse = reuse};
        const auto a = make_operator(group, matrix);
        amg<double> m(*a, matrix, options);
        const auto r = random_values<double>(matrix.rows, 6);
        const auto before = applied(*a, m, r);
        auto bad = matrix;
        bad.values.front() = -1;
        CHECK_THROWS_AS(m.update(csr_view<double>(bad)), input_error);
        CHECK_THROWS_AS(m.update(csr_view<double>(testing::laplace_1d(5))), usage_error);
        CHECK(same_bits(applied(*a, m, r), before));
        m.update(csr_view<double>(changed));
        const amg<double> fresh(*a, changed, options);
        const auto found = applied(*a, m, r);
        const auto expected = applied(*a, fresh, r);
        if (reuse == multigrid_reuse::values) {
            double difference = 0;
            for (std::size_t i = 0; i < found.size(); ++i)
                difference = std::max(difference, std::fabs(found[i] - expected[i]));
            CHECK(difference <= 1e-4 * to_eigen(expected).norm());
        } else {
            CHECK(same_bits(found, expected));
        }
    }
}

KRYLITH_GROUP_TEST("amg: what updates need is kept from the first update on") {
    const auto matrix = make_gallery<double>("poisson3d:14:random=3");
    auto changed = matrix;
    for (double& v : changed.values) v *= 3;
    const auto a = make_operator(group, matrix);
    amg<double> m(*a, matrix);
    amg<double> none(*a, matrix, {.reuse = multigrid_reuse::none});
    amg<double> all(*a, matrix, {.reuse = multigrid_reuse::transfer});
    CHECK(m.bytes() == none.bytes());
    CHECK(10 * m.bytes() < 9 * all.bytes());
    const auto r = random_values<double>(matrix.rows, 6);
    const auto expected = applied(*a, m, r);
    CHECK(same_bits(applied(*a, all, r), expected));
    for (int i = 0; i < 2; ++i) {
        m.update(csr_view<double>(changed));
        none.update(csr_view<double>(changed));
        all.update(csr_view<double>(changed));
        CHECK(same_bits(applied(*a, m, r), applied(*a, all, r)));
        CHECK(m.bytes() == all.bytes());
        CHECK(none.bytes() < m.bytes());
    }
    CHECK(m.rebuilds() == 0);
    amg<double> aged(*a, matrix);
    aged.solved(10);
    aged.update(csr_view<double>(changed)); // all anew: the next solve is the measure
    aged.solved(16);
    CHECK(!aged.rebuild_due());
    aged.solved(25);
    CHECK(aged.rebuild_due());
    CHECK(m.options().reuse == multigrid_reuse::automatic);
    CHECK(m.name().find("reuse") == std::string::npos);
}

// Operators on one host device read arrays of the hierarchy where rows are not alike, those on two
// never.
TEST_CASE("amg: rows become alike by new values, and stop being so") {
    const auto alike = make_gallery<double>("poisson3d:32");
    const auto other = make_gallery<double>("poisson3d:32:random=3");
    const auto r = random_values<double>(alike.rows, 8);
    for (const auto* const first : {&alike, &other}) {
        std::vector<std::vector<double>> found[2];
        for (const int devices : {1, 2}) {
            const auto group = device_group::host(devices, {.host_threads = 2});
            const auto a = make_operator(group, alike);
            amg<double> m(*a, *first, {.reuse = multigrid_reuse::transfer});
            for (const auto* const now : {&other, &alike, &other}) {
                m.update(csr_view<double>(*now));
                CHECK(m.bytes() > 0);
                found[devices - 1].push_back(applied(*a, m, r));
            }
            CHECK(m.rebuilds() == 0);
        }
        for (std::size_t k = 0; k < 3; ++k) CHECK(same_bits(found[0][k], found[1][k]));
    }
}

/// Diffusion on 40 x 40 points by a coefficient that is 1e4 in stripes left of `front`.
csr_matrix<double> striped(int front) {
    auto matrix = make_gallery<double>("poisson2d:40");
    const auto at = [&](std::int64_t p) { return p % 40 < front && p / 40 % 4 < 2 ? 1e4 : 1.0; };
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        double sum = at(row) * 1e-2; // of what leaves through the boundary
        std::size_t own = 0;
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row) + 1]);
             ++k) {
            const std::int64_t column = matrix.column_indices[k];
            if (column == row) {
                own = k;
                continue;
            }
            matrix.values[k] = -std::sqrt(at(row) * at(column));
            sum -= matrix.values[k];
        }
        matrix.values[own] = sum;
    }
    return matrix;
}

KRYLITH_GROUP_TEST("amg: values that drift away bring a rebuild") {
    const auto start = striped(0);
    problem<double> p(group, start, random_values<double>(start.rows, 12));
    amg<double> m(*p.a, start);
    std::int64_t first = 0;
    int worse = 0;
    for (int front = 0; front <= 40; front += 8) {
        CAPTURE(front);
        const auto matrix = striped(front);
        const bool due = m.rebuild_due();
        const int before = m.rebuilds();
        p.a->update(matrix.values);
        m.update(matrix);
        CHECK(m.rebuilds() == before + (due ? 1 : 0));
        CHECK_FALSE(m.rebuild_due());
        const auto result = cg(*p.a, p.b, p.x, {}, m); // also by the recordings that it keeps
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK(testing::residual_norm(matrix, values_of(p.b), p.solution()) <=
              1.01e-8 * testing::norm(values_of(p.b)));
        if (due || front == 0) {
            const amg<double> fresh(*p.a, matrix);
            CHECK(
                same_bits(applied(*p.a, m, values_of(p.b)), applied(*p.a, fresh, values_of(p.b))));
            first = result.iterations;
        }
        m.solved(result.iterations);
        const bool slow = static_cast<double>(result.iterations) > 1.5 * static_cast<double>(first);
        CHECK(m.rebuild_due() == slow);
        worse += slow ? 1 : 0;
    }
    CHECK(worse >= 1);
    CHECK(m.rebuilds() >= 1);
}

KRYLITH_GROUP_TEST("amg: it is told what solves take, also as any preconditioner") {
    const auto matrix = striped(8);
    const auto a = make_operator(group, matrix);
    amg<double> m(*a, matrix);
    any_preconditioner<double> any(std::ref(m));
    for (const int iterations : {0, 10, 4, 15}) {
        any.solved(iterations);
        CHECK_FALSE(m.rebuild_due());
    }
    any.solved(16);
    CHECK(m.rebuild_due());
    any.update(csr_view<double>(matrix));
    CHECK_FALSE(m.rebuild_due());
    CHECK(m.rebuilds() == 1);
    any.solved(16); // the measure begins anew
    CHECK_FALSE(m.rebuild_due());
    any_preconditioner<double>().solved(3);
}

KRYLITH_GROUP_TEST("amg: rows on the devices, any operator, an order of rows, fp32") {
    const auto matrix = make_gallery<double>("poisson3d:15:random=2");
    const std::int64_t usual = solve_with_amg(group, matrix, {}).iterations;
    for (const operator_options& how :
         {operator_options{.kind = operators::nz}, operator_options{.kind = operators::lra_rc},
          operator_options{.kind = operators::allgather}, operator_options{.order = orders::rcm}}) {
        const auto a = make_operator(group, matrix, how);
        const amg<double> m(*a, matrix);
        auto b = a->make_range_vector();
        b.upload(random_values<double>(matrix.rows, 11));
        auto x = a->make_range_vector();
        const auto result = cg(*a, b, x, {.rtol = 1e-8}, m);
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK(std::abs(result.iterations - usual) <= (how.order == orders::none ? 0 : 3));
    }
    const auto single = testing::converted<float>(matrix);
    problem<float> p(group, single, random_values<float>(matrix.rows, 11));
    const amg<float> m(*p.a, single);
    const auto result = cg(*p.a, p.b, p.x, {.rtol = 1e-5}, m);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(result.iterations <= usual);
}

TEST_CASE("amg: what it can't do is refused with what is allowed") {
    const auto group = device_group::host(2);
    const auto matrix = make_gallery<double>("poisson3d:6");
    const auto a = make_operator(group, matrix);
    const auto refuses = [&](const amg_options& o, const char* words) {
        CHECK_THROWS_WITH_AS((amg<double>(*a, matrix, o)), doctest::Contains(words), usage_error);
    };
    refuses({.theta = -1}, "amg_options::theta is -1; allowed is 0 <= theta < 1");
    refuses({.theta = std::nan("")}, "theta is nan");
    refuses({.degree = 0}, "amg_options::degree is 0; allowed is 1 to 16");
    refuses({.max_levels = 0}, "max_levels is 0");
    refuses({.gathered_nonzeros = -1}, "gathered_nonzeros is -1");
    const auto other = testing::laplace_1d(4);
    CHECK_THROWS_WITH_AS((amg<double>(*a, other)),
                         doctest::Contains("a matrix of 4 x 4 for an operator of 216 rows"),
                         usage_error);
    auto bad = matrix;
    for (std::int64_t k = bad.row_offsets[200]; k < bad.row_offsets[201]; ++k)
        if (bad.column_indices[static_cast<std::size_t>(k)] == 200)
            bad.values[static_cast<std::size_t>(k)] = -2;
    CHECK_THROWS_WITH_AS((amg<double>(*a, bad)),
                         doctest::Contains("the diagonal entry of row 200 (counted from 0) is -2"),
                         input_error);
    const auto text = [&](const char* name, const char* words) {
        CHECK_THROWS_WITH_AS((void)make_preconditioner(name, *a, csr_view<double>(matrix)),
                             doctest::Contains(words), usage_error);
    };
    CHECK(amg<double>(*a, matrix, {.max_levels = 3, .reuse = multigrid_reuse::values}).name() ==
          "amg:theta=0.02:degree=2:cycle=v:levels=3:reuse=values");
    text("amg:degree=0", "amg: degree=0 is not allowed: allowed is 1 to 16");
    text("amg:cycle=f", "cycle=f is not allowed: allowed is v|w");
}

} // namespace krylith

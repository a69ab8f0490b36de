// Algebraic multigrid for matrices that are not symmetric: few iterations, the same on any devices,
// and the right kind chosen or refused.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/amg/dense_inverse.hpp>
#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::one_device_like;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::values_of;

namespace {

/// Upwind differences of a flow that turns in n x n points: the pattern is symmetric, values are
/// not, and no direction is the upwind one everywhere.
csr_matrix<double> recirculating(std::int64_t n, double peclet) {
    csr_matrix<double> a{n * n, n * n, {0}, {}, {}};
    const double h = 1.0 / static_cast<double>(n + 1);
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
            const double x = static_cast<double>(i + 1) * h;
            const double y = static_cast<double>(j + 1) * h;
            const double p = peclet * h * 4 * x * (1 - x) * (1 - 2 * y);
            const double q = -peclet * h * 4 * y * (1 - y) * (1 - 2 * x);
            const auto put = [&](bool there, std::int64_t column, double value) {
                if (!there) return;
                a.column_indices.push_back(static_cast<std::int32_t>(column));
                a.values.push_back(value);
            };
            const std::int64_t row = j * n + i;
            put(j > 0, row - n, -1 - std::max(q, 0.0));
            put(i > 0, row - 1, -1 - std::max(p, 0.0));
            put(true, row, 4 + std::fabs(p) + std::fabs(q));
            put(i + 1 < n, row + 1, -1 - std::max(-p, 0.0));
            put(j + 1 < n, row + n, -1 - std::max(-q, 0.0));
            a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
        }
    return a;
}

/// Entries of one triangle are taken out where a hash of the place says so: an unsymmetric pattern.
csr_matrix<double> with_gaps(const csr_matrix<double>& full) {
    csr_matrix<double> a{full.rows, full.columns, {0}, {}, {}};
    for (std::int64_t row = 0; row < full.rows; ++row) {
        for (auto k = full.row_offsets[static_cast<std::size_t>(row)];
             k < full.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
            const std::int64_t column = full.column_indices[static_cast<std::size_t>(k)];
            if (column > row && (row * 7 + column * 13) % 5 == 0) continue;
            a.column_indices.push_back(static_cast<std::int32_t>(column));
            a.values.push_back(full.values[static_cast<std::size_t>(k)]);
        }
        a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
    }
    return a;
}

/// Every so many-th row only has its diagonal entry, as where a value is prescribed.
csr_matrix<double> with_prescribed(const csr_matrix<double>& full, std::int64_t every) {
    csr_matrix<double> a{full.rows, full.columns, {0}, {}, {}};
    for (std::int64_t row = 0; row < full.rows; ++row) {
        for (auto k = static_cast<std::size_t>(full.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(full.row_offsets[static_cast<std::size_t>(row) + 1]);
             ++k) {
            if (row % every == 0 && full.column_indices[k] != row) continue;
            a.column_indices.push_back(full.column_indices[k]);
            a.values.push_back(full.values[k]);
        }
        a.row_offsets.push_back(a.nnz());
    }
    return a;
}

struct unsymmetric_outcome {
    std::int64_t gmres;
    std::int64_t bicgstab;
    std::vector<multigrid_level_facts> levels;
    std::vector<double> z; ///< M^-1 of a fixed vector
};

unsymmetric_outcome solved_both_ways(const device_group& group, const csr_matrix<double>& matrix,
                                     const amg_options& options) {
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 11));
    const amg<double> m(*p.a, matrix, options);
    CHECK(!m.symmetric());
    CAPTURE(m.name());
    unsymmetric_outcome found;
    const auto by_gmres = gmres(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
    INFO(testing::describe(by_gmres));
    CHECK(by_gmres.converged());
    CHECK(p.relative_residual() <= 1e-8);
    const auto by_bicgstab = bicgstab(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
    INFO(testing::describe(by_bicgstab));
    CHECK(by_bicgstab.converged());
    CHECK(p.relative_residual() <= 1e-8);
    const auto r = testing::make_range_vector(p.a->layout(), random_values<double>(matrix.rows, 4));
    auto z = p.a->make_range_vector();
    execution run(group, {});
    m.apply(run, r, z);
    return {by_gmres.iterations, by_bicgstab.iterations, m.levels(), values_of(z)};
}

/// The matrix of an operator in dense rows.
std::vector<double> dense_of(const matrix_operator<double>& of) {
    auto x = of.make_domain_vector();
    vector<double> source(x.layout());
    auto y = of.make_range_vector();
    execution run(of.comm(), {});
    const auto rows = static_cast<std::size_t>(y.size());
    const auto columns = static_cast<std::size_t>(x.size());
    std::vector<double> all(rows * columns);
    for (std::size_t j = 0; j < columns; ++j) {
        std::vector<double> unit(columns, 0.0);
        unit[j] = 1;
        source.upload(unit);
        fused(run, x = source); // which sends what others need
        of.apply(run, 1, x, 0, y);
        const std::vector<double> column = values_of(y);
        for (std::size_t i = 0; i < rows; ++i) all[i * columns + j] = column[i];
    }
    return all;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b,
                            std::size_t rows, std::size_t inner, std::size_t columns) {
    std::vector<double> c(rows * columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < inner; ++k)
            for (std::size_t j = 0; j < columns; ++j)
                c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    return c;
}

} // namespace

KRYLITH_GROUP_TEST("unsymmetric amg: iterations are few, and the same on any devices") {
    struct goal {
        csr_matrix<double> matrix;
        std::int64_t most;
    };
    const goal goals[] = {
        {make_gallery<double>("convection_diffusion:16:100"), 18},
        {make_gallery<double>("convection_diffusion:16:1000"), 18},
        {recirculating(40, 1000), 40},
        {with_gaps(make_gallery<double>("convection_diffusion:12:50")), 18},
        {with_prescribed(make_gallery<double>("anisotropic_diffusion:40:0.001"), 40), 28}};
    for (const goal& g : goals) {
        CAPTURE(g.matrix.rows);
        const unsymmetric_outcome found = solved_both_ways(group, g.matrix, {});
        CHECK(found.gmres <= g.most);
        CHECK(found.bicgstab <= g.most);
        const unsymmetric_outcome one = solved_both_ways(one_device_like(group), g.matrix, {});
        CHECK(found.gmres == one.gmres);
        CHECK(found.bicgstab == one.bicgstab);
        REQUIRE(found.levels.size() == one.levels.size());
        CHECK(found.levels.size() > 1);
        for (std::size_t k = 0; k < one.levels.size(); ++k) {
            CHECK(found.levels[k].rows == one.levels[k].rows);
            CHECK(found.levels[k].nonzeros == one.levels[k].nonzeros);
            CHECK(found.levels[k].bound == one.levels[k].bound); // the same bits
        }
    }
}

KRYLITH_GROUP_TEST("unsymmetric amg: R B P is the coarse matrix, P is T and R the smoothed one") {
    const auto matrix = make_gallery<double>("convection_diffusion:7:40");
    const auto a = make_operator(group, matrix);
    distributed_csr<double> fine(group, csr_view<double>(matrix), a->layout()->rows,
                                 a->layout()->rows);
    const auto home =
        std::make_shared<const layout>(layout{group, a->layout()->rows, coherence::owned});
    const amg_options options{.precision = multigrid_precision::fp64, .block_size = 1};
    const detail::hierarchy<double> h(home, std::move(fine), options,
                                      detail::make_near_null_space<double>(*home, options));
    REQUIRE(h.unsymmetric());
    REQUIRE(h.levels().size() == 2);
    const auto& level = h.levels()[0];
    const auto n = static_cast<std::size_t>(level.facts.rows);
    const auto c = static_cast<std::size_t>(h.levels()[1].facts.rows);
    const auto b = dense_of(*level.b);
    const auto p = dense_of(*level.prolong);  // P S
    const auto r = dense_of(*level.restrict); // S R / rho
    // S R B P S / rho is the next level's B, which is inverted.
    const auto coarse = product(r, product(b, p, n, n, c), c, n, c);
    const auto inverse = dense_of(*h.levels()[1].inverse);
    const auto one = product(coarse, inverse, c, c, c);
    for (std::size_t i = 0; i < c * c; ++i)
        CHECK(one[i] == doctest::Approx(i % (c + 1) == 0 ? 1 : 0).epsilon(1e-8));
    // Rows of P have one entry; R' = (I - omega D^-1 B') P but for S and rho. All entries off the
    // diagonal are strong here, the diagonal of B is 1 / rho, and omega = 4 / (3 lambda).
    double lambda = 0;
    const double rho = level.facts.bound;
    for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        std::size_t entries = 0;
        for (std::size_t i = 0; i < n; ++i) sum += std::fabs(b[i * n + j]) * rho;
        for (std::size_t g = 0; g < c; ++g) entries += p[j * c + g] != 0 ? 1 : 0;
        CHECK(entries <= 1);
        lambda = std::max(lambda, sum);
    }
    const double omega = 4 / (3 * lambda);
    const double scale = h.levels()[1].facts.bound;
    for (std::size_t g = 0; g < c; ++g)
        for (std::size_t j = 0; j < n; ++j) {
            double smoothed = p[j * c + g];
            for (std::size_t i = 0; i < n; ++i)
                smoothed -= omega * rho * b[i * n + j] * p[i * c + g];
            CHECK(r[g * n + j] == doctest::Approx(smoothed / scale).epsilon(1e-6));
        }
}

KRYLITH_GROUP_TEST("unsymmetric amg: new values give what a new hierarchy would") {
    const auto matrix = make_gallery<double>("convection_diffusion:10:60");
    auto changed = matrix;
    for (double& v : changed.values) v *= 3;
    for (const auto reuse :
         {multigrid_reuse::values, multigrid_reuse::transfer, multigrid_reuse::none}) {
        CAPTURE(static_cast<int>(reuse));
        problem<double> p(group, changed, random_values<double>(matrix.rows, 6));
        amg<double> m(*p.a, matrix, {.reuse = reuse});
        m.update(csr_view<double>(changed));
        const amg<double> fresh(*p.a, changed, {.reuse = reuse});
        auto z = p.a->make_range_vector();
        auto expected = p.a->make_range_vector();
        execution run(group, {});
        m.apply(run, p.b, z);
        fresh.apply(run, p.b, expected);
        if (reuse != multigrid_reuse::values) CHECK(same_bits(values_of(z), values_of(expected)));
        const auto updated = gmres(*p.a, p.b, p.x, {}, m).iterations;
        const auto anew = gmres(*p.a, p.b, p.x, {}, fresh).iterations;
        if (reuse == multigrid_reuse::values) // P is rounded once more
            CHECK(std::abs(updated - anew) <= 1);
        else
            CHECK(updated == anew);
    }
    // By values that are another kind of matrix where all is made anew.
    const auto a = make_operator(group, matrix);
    auto symmetric = matrix;
    for (double& v : symmetric.values) v = v > 0 ? 6 : -1;
    amg<double> m(*a, matrix, {.reuse = multigrid_reuse::none});
    CHECK(!m.symmetric());
    m.update(csr_view<double>(symmetric));
    CHECK(m.symmetric());
}

KRYLITH_GROUP_TEST("unsymmetric amg: values that the hierarchy is not for bring another") {
    const auto matrix = make_gallery<double>("convection_diffusion:16:100");
    auto step = matrix; // of time, much smaller: the kept transfers make a negative diagonal
    auto symmetric = matrix;
    for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows); ++row)
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[row]);
             k < static_cast<std::size_t>(matrix.row_offsets[row + 1]); ++k) {
            const bool diagonal = matrix.column_indices[k] == static_cast<std::int32_t>(row);
            if (diagonal) step.values[k] += 100;
            symmetric.values[k] = diagonal ? 6 : -1;
        }
    const auto a = make_operator(group, matrix);
    const auto r = random_values<double>(matrix.rows, 7);
    const auto same = [&](const amg<double>& m, const csr_matrix<double>& of,
                          const amg_options& options) {
        return same_bits(testing::applied(*a, m, r),
                         testing::applied(*a, amg<double>(*a, of, options), r));
    };
    for (const auto precision : {multigrid_precision::fp32, multigrid_precision::fp64}) {
        const amg_options options{.reuse = multigrid_reuse::transfer, .precision = precision};
        amg<double> m(*a, matrix, options);
        m.update(csr_view<double>(step));
        CHECK(m.rebuilds() == 1);
        CHECK(same(m, step, options));
        m.update(csr_view<double>(step)); // stays for the next
        CHECK(m.rebuilds() == 1);
        CHECK(same(m, step, options));
        auto bad = step;
        bad.values[0] = -1;
        CHECK_THROWS_AS(m.update(csr_view<double>(bad)), input_error);
        CHECK(same(m, step, options));
    }
    for (const auto reuse : {multigrid_reuse::values, multigrid_reuse::transfer}) {
        const amg_options options{.reuse = reuse};
        amg<double> m(*a, matrix, options);
        m.update(csr_view<double>(symmetric));
        CHECK(m.symmetric());
        CHECK(same(m, symmetric, options));
        m.update(csr_view<double>(matrix));
        CHECK_FALSE(m.symmetric());
        CHECK(same(m, matrix, options));
        CHECK(m.rebuilds() == 2);
    }
    // What was asked for stays.
    amg<double> m(*a, matrix, {.kind = multigrid_kind::symmetric});
    m.update(csr_view<double>(symmetric));
    CHECK(m.symmetric());
    CHECK(m.rebuilds() == 0);
}

KRYLITH_GROUP_TEST("unsymmetric amg: the kind is found from the matrix, or given") {
    const auto kind_of = [&](const csr_matrix<double>& matrix, multigrid_kind kind) {
        const auto a = make_operator(group, matrix);
        const amg<double> m(*a, matrix, {.kind = kind});
        return m.symmetric();
    };
    for (const char* const name :
         {"poisson3d:9", "poisson3d:9:random=4", "jump_diffusion:8:1e6:seed=1",
          "anisotropic3d:8:1e-3", "elasticity3d:4", "random_spd:400:5"})
        CHECK(kind_of(make_gallery<double>(name), multigrid_kind::automatic));
    for (const char* const name : {"convection_diffusion:9:1", "convection_diffusion:9:1000"}) {
        CHECK(!kind_of(make_gallery<double>(name), multigrid_kind::automatic));
        CHECK(kind_of(make_gallery<double>(name), multigrid_kind::symmetric));
    }
    CHECK(!kind_of(make_gallery<double>("poisson3d:9"), multigrid_kind::unsymmetric));
    const auto beam = make_gallery<double>("elasticity3d:4");
    const auto of_beam = make_operator(group, beam, {.block_size = 3});
    CHECK_THROWS_WITH_AS(
        (amg<double>(*of_beam, beam, {.kind = multigrid_kind::unsymmetric, .block_size = 3})),
        doctest::Contains("kind is unsymmetric, for nodes of 3 rows"), usage_error);
    auto rounded = make_gallery<double>("poisson3d:9:random=4");
    for (std::size_t k = 0; k < rounded.values.size(); k += 3) rounded.values[k] *= 1 + 1e-9;
    CHECK(kind_of(rounded, multigrid_kind::automatic));
    auto one_entry = make_gallery<double>("poisson3d:9");
    one_entry.values[1] *= 1.5;
    CHECK(!kind_of(one_entry, multigrid_kind::automatic));
    const csr_matrix<double> empty{0, 0, {0}, {}, {}};
    CHECK(kind_of(empty, multigrid_kind::automatic));
}

KRYLITH_GROUP_TEST("unsymmetric amg: cg refuses it by name") {
    const auto matrix = make_gallery<double>("convection_diffusion:8:100");
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 1));
    const amg<double> m(*p.a, matrix);
    CHECK_THROWS_WITH_AS((void)cg(*p.a, p.b, p.x, {}, m),
                         "cg needs a symmetric positive definite preconditioner; "
                         "amg:theta=0.02:degree=2:cycle=v:kind=unsymmetric is not symmetric: take "
                         "gmres, fgmres or bicgstab",
                         usage_error);
    CHECK_THROWS_AS((void)launched_cg(*p.a, p.b, p.x, {}, m), usage_error);
    const auto any = make_preconditioner("amg:kind=unsymmetric", *p.a, csr_view<double>(matrix));
    CHECK(!any.symmetric());
    CHECK_THROWS_AS((void)cg(*p.a, p.b, p.x, {}, any), usage_error);
    CHECK(gmres(*p.a, p.b, p.x, {}, any).converged());
    const auto insisted = make_preconditioner("amg:kind=symmetric", *p.a, csr_view<double>(matrix));
    CHECK(insisted.symmetric());
    CHECK(insisted.name() == "amg:theta=0.02:degree=2:cycle=v:kind=symmetric");
    CHECK_THROWS_WITH_AS(
        (void)make_preconditioner("amg:kind=skew", *p.a, csr_view<double>(matrix)),
        doctest::Contains("kind=skew is not allowed: allowed is auto|symmetric|unsymmetric"),
        usage_error);
}

TEST_CASE("unsymmetric amg: the inverse of any matrix") {
    for (const std::int64_t n : {0, 1, 2, 17}) {
        auto values = random_values<double>(n * n, 8);
        const bool singular = n == 17;
        if (singular) // the last row is the sum of two others
            for (std::size_t j = 0; j < 17; ++j) values[16 * 17 + j] = values[j] + values[17 + j];
        csr_matrix<double> a{n, n, {0}, {}, values};
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j)
                a.column_indices.push_back(static_cast<std::int32_t>(j));
            a.row_offsets.push_back((i + 1) * n);
        }
        const auto g = detail::general_inverse(csr_view<double>(a));
        const auto size = static_cast<std::size_t>(n);
        const auto aga =
            product(a.values, product(g.values, a.values, size, size, size), size, size, size);
        for (std::size_t k = 0; k < aga.size(); ++k)
            CHECK(std::fabs(aga[k] - a.values[k]) <= 1e-12);
    }
}

} // namespace krylith

// Multigrid with matrices of 16 bits off the diagonal: what rounding does to a matrix, and that
// solves hardly notice.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/amg/rounded_level.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/sparse/sell/narrow_worth.hpp>
#include <krylith/sparse/sell/sixteen_bits.hpp>

#include <krylith/tests/precond/amg_solves.hpp>
#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/precond/uneven_matrix.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::one_device_like;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::solve_with_amg;
using testing::to_eigen;

namespace {

constexpr auto fp16 = multigrid_precision::fp16;

/// B rounded on the devices of a group.
csr_matrix<float> rounded(const device_group& group, const csr_matrix<float>& matrix,
                          const std::vector<float>& v) {
    const row_partition rows = equal_rows(matrix.rows, group.size());
    distributed_csr<float> b(group, csr_view<float>(matrix), rows, rows);
    std::vector<buffer<float>> parts;
    for (int rank = 0; rank < group.size(); ++rank) {
        const row_range own = rows.owned(rank);
        parts.emplace_back(group.handle(rank),
                           std::span<const float>(v).subspan(static_cast<std::size_t>(own.begin),
                                                             static_cast<std::size_t>(own.size())),
                           "a vector");
    }
    detail::round_off_diagonal(b, parts);
    return b.download();
}

/// A matrix whose diagonal is 1 and whose other entries are of any size below 1.
csr_matrix<float> with_entries_below_one(const csr_matrix<double>& a, std::uint64_t seed) {
    csr_matrix<float> b = testing::converted<float>(a);
    const auto sizes =
        random_values<double>(static_cast<std::int64_t>(a.values.size()), seed); // of -1 to 1
    for (std::int64_t row = 0; row < b.rows; ++row)
        for (auto k = static_cast<std::size_t>(b.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(b.row_offsets[static_cast<std::size_t>(row) + 1]); ++k)
            b.values[k] = b.column_indices[k] == row
                              ? 1.0f
                              : static_cast<float>(std::ldexp(sizes[k], -static_cast<int>(k % 41)));
    return b;
}

} // namespace

KRYLITH_GROUP_TEST("rounded levels: 16 bits off the diagonal, the product with v, the same bits") {
    for (const char* const name : {"poisson3d_27point:9", "poisson2d:30", "poisson1d:3"}) {
        CAPTURE(name);
        const auto b = with_entries_below_one(make_gallery<double>(name), 31);
        auto v = random_values<float>(b.rows, 32);
        for (float& x : v) x = 0.5f + std::fabs(x);
        const auto r = rounded(group, b, v);
        CHECK(r.row_offsets == b.row_offsets);
        CHECK(r.column_indices == b.column_indices);
        CHECK(r == rounded(one_device_like(group), b, v));
        std::int64_t changed = 0;
        for (std::size_t row = 0; row < static_cast<std::size_t>(b.rows); ++row) {
            double before = 0;
            double after = 0;
            for (auto k = static_cast<std::size_t>(b.row_offsets[row]);
                 k < static_cast<std::size_t>(b.row_offsets[row + 1]); ++k) {
                const auto column = static_cast<std::size_t>(b.column_indices[k]);
                before += static_cast<double>(b.values[k]) * static_cast<double>(v[column]);
                after += static_cast<double>(r.values[k]) * static_cast<double>(v[column]);
                if (column != row) REQUIRE(r.values[k] == rounded_to_sixteen_bits(b.values[k]));
                if (r.values[k] != b.values[k]) ++changed;
            }
            // The diagonal, about 1, is rounded to 24 bits, and the sum to 2^-40 for each entry.
            CHECK(std::fabs(after - before) <= 0x1p-24 * static_cast<double>(v[row]) + 0x1p-33);
        }
        CHECK(changed > static_cast<std::int64_t>(b.values.size()) / 2);
        CHECK(rounded(group, r, v) == r);
    }
}

KRYLITH_GROUP_TEST("rounded levels: rows without a diagonal, and where v is 0 or far too small") {
    const float value = 0.1f;
    const csr_matrix<float> b{
        4, 4, {0, 2, 3, 5, 7}, {0, 1, 0, 1, 2, 0, 3}, {1, value, value, value, 1, value, 0.5f}};
    const auto r = rounded(group, b, {1, 1, 0, 1e-6f});
    const float near = rounded_to_sixteen_bits(value);
    REQUIRE(near != value);
    const auto exact =
        static_cast<float>(1 + (static_cast<double>(value) - static_cast<double>(near)));
    REQUIRE(exact != 1);
    CHECK(r.values == std::vector<float>{exact, near, near, near, 1, near, 0.5f});
    const csr_matrix<float> empty{0, 0, {0}, {}, {}};
    CHECK(rounded(group, empty, {}) == empty);
}

KRYLITH_GROUP_TEST("rounded levels: long rows with many values are worth it, on any devices") {
    const auto worth = [&](const char* name, int values) {
        csr_matrix<float> matrix = testing::converted<float>(make_gallery<double>(name));
        for (std::size_t k = 0; k < matrix.values.size(); ++k)
            if (values != 0)
                matrix.values[k] = 1 / static_cast<float>(3 + k % static_cast<std::size_t>(values));
        const row_partition rows = equal_rows(matrix.rows, group.size());
        return detail::worth_rounding(
            distributed_csr<float>(group, csr_view<float>(matrix), rows, rows));
    };
    CHECK_FALSE(worth("poisson3d_27point:8", 0));
    CHECK_FALSE(worth("poisson3d_27point:8", 250));
    CHECK(worth("poisson3d_27point:8", 400));
    CHECK(worth("poisson3d_27point:41", 400)); // not all rows are looked at
    CHECK_FALSE(worth("poisson3d:8", 400));
    CHECK_FALSE(worth("poisson3d_27point:1", 0));
    const mocked_narrow_worth any_length;
    CHECK(worth("poisson3d:8", 400));
}

KRYLITH_GROUP_TEST("amg in 16 bits: iterations are those of fp32, and the same on any devices") {
    const auto check = [&](const csr_matrix<double>& matrix, amg_options options) {
        const std::int64_t usual = solve_with_amg(group, matrix, options).iterations;
        options.precision = fp16;
        const std::int64_t alone =
            solve_with_amg(one_device_like(group), matrix, options).iterations;
        CHECK(alone <= usual + 2);
        for (const std::int64_t gathered : {0, 1'000'000}) {
            options.gathered_nonzeros = gathered;
            CHECK(solve_with_amg(group, matrix, options).iterations == alone);
        }
    };
    check(testing::uneven_27point(14), {});
    check(make_gallery<double>("poisson3d:32"), {});
    const mocked_narrow_worth short_rows_too;
    struct goal {
        const char* name;
        amg_options options;
    };
    for (const goal& g : {goal{"jump_diffusion:24:1e6:seed=1", {.cycle = multigrid_cycle::w}},
                          goal{"anisotropic3d:24:1e-3", {}}, goal{"anisotropic3d:20:1e-8", {}},
                          goal{"convection_diffusion:16:100", {}}}) {
        CAPTURE(g.name);
        check(make_gallery<double>(g.name), g.options);
    }
}

KRYLITH_GROUP_TEST("amg in 16 bits: the cycle is symmetric and positive") {
    const mocked_narrow_worth short_rows_too;
    for (const auto& matrix :
         {testing::uneven_27point(8), make_gallery<double>("jump_diffusion:10:1e4:3:seed=2")})
        for (const auto cycle : {multigrid_cycle::v, multigrid_cycle::w}) {
            CAPTURE(matrix.rows);
            const auto a = make_operator(group, matrix);
            const amg<double> m(*a, matrix, {.cycle = cycle, .precision = fp16});
            const auto x = random_values<double>(matrix.rows, 1);
            const auto y = random_values<double>(matrix.rows, 2);
            const auto mx = applied(*a, m, x);
            const double size = to_eigen(x).dot(to_eigen(mx));
            CHECK(size > 0);
            CHECK(std::fabs(to_eigen(y).dot(to_eigen(mx)) -
                            to_eigen(x).dot(to_eigen(applied(*a, m, y)))) <= 1e-5 * size);
        }
}

KRYLITH_GROUP_TEST("amg in 16 bits: new values give what a new hierarchy would") {
    const auto matrix = testing::uneven_27point(9);
    auto changed = matrix;
    for (double& v : changed.values) v *= 3; // aggregates stay
    const auto a = make_operator(group, matrix);
    const auto r = random_values<double>(matrix.rows, 6);
    for (const auto reuse :
         {multigrid_reuse::values, multigrid_reuse::transfer, multigrid_reuse::none}) {
        CAPTURE(static_cast<int>(reuse));
        const amg_options options{.reuse = reuse, .precision = fp16};
        amg<double> m(*a, matrix, options);
        const auto before = applied(*a, m, r);
        CHECK_FALSE(same_bits(before, applied(*a, amg<double>(*a, matrix, {.reuse = reuse}), r)));
        m.update(csr_view<double>(changed));
        const auto found = applied(*a, m, r);
        const auto expected = applied(*a, amg<double>(*a, changed, options), r);
        if (reuse == multigrid_reuse::values) { // which scales the prolongations that it keeps
            double difference = 0;
            for (std::size_t i = 0; i < found.size(); ++i)
                difference = std::max(difference, std::fabs(found[i] - expected[i]));
            CHECK(difference <= 1e-3 * to_eigen(expected).norm());
            continue;
        }
        CHECK(same_bits(found, expected));
        m.update(csr_view<double>(matrix));
        CHECK(same_bits(applied(*a, m, r), before));
    }
}

KRYLITH_GROUP_TEST("amg in 16 bits: GPUs read less of long rows, and levels say so") {
    const auto matrix = testing::uneven_27point(20);
    const auto a = make_operator(group, matrix);
    const amg_options options{.reuse = multigrid_reuse::none, .precision = fp16};
    const bool cuda = group.kind() == backend::cuda;
    const auto said = [](const amg<double>& m) {
        return m.levels().front().format.find("of the values narrow") != std::string::npos;
    };
    const amg<double> m(*a, matrix, options);
    const amg<double> single(*a, matrix, {.reuse = multigrid_reuse::none});
    CHECK((m.bytes() < single.bytes()) == cuda);
    CHECK(said(m) == cuda);
    CHECK_FALSE(said(single));
    const auto r = random_values<double>(matrix.rows, 7);
    const auto here = applied(*a, m, r);
    const auto host = make_operator(device_group::host(1), matrix);
    const auto by_host = applied(*host, amg<double>(*host, matrix, options), r);
    double difference = 0;
    for (std::size_t i = 0; i < here.size(); ++i)
        difference = std::max(difference, std::fabs(by_host[i] - here[i]));
    CHECK(difference <= 1e-5 * to_eigen(by_host).norm());
}

KRYLITH_GROUP_TEST("amg in 16 bits: under a solver in fp32") {
    const auto matrix = testing::converted<float>(testing::uneven_27point(14));
    problem<float> p(group, matrix, random_values<float>(matrix.rows, 11));
    const amg<float> single(*p.a, matrix);
    const auto usual = cg(*p.a, p.b, p.x, {.rtol = 1e-5}, single);
    const amg<float> m(*p.a, matrix, {.precision = fp16});
    const auto result = cg(*p.a, p.b, p.x, {.rtol = 1e-5}, m);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(result.iterations <= usual.iterations + 1);
}

TEST_CASE("amg in 16 bits: it has a name, and several near-null vectors are refused by it") {
    const auto group = device_group::host(2);
    const auto matrix = make_gallery<double>("poisson3d:6");
    const auto a = make_operator(group, matrix);
    CHECK(amg<double>(*a, matrix, {.precision = fp16}).name() ==
          "amg:theta=0.02:degree=2:cycle=v:precision=fp16");
    CHECK(make_preconditioner("amg:precision=fp16", *a, csr_view<double>(matrix)).name() ==
          "amg:theta=0.02:degree=2:cycle=v:precision=fp16");
    CHECK_THROWS_WITH_AS((amg<double>(*a, matrix, {.precision = fp16, .block_size = 3})),
                         doctest::Contains("amg_options::precision is fp16, for 3 near-null "
                                           "vectors; allowed is 1, or precision fp32 or fp64"),
                         usage_error);
    CHECK_THROWS_WITH_AS(
        (void)make_preconditioner("amg:precision=fp8", *a, csr_view<double>(matrix)),
        doctest::Contains("precision=fp8 is not allowed: allowed is fp32|fp16|fp64"), usage_error);
    const auto single = testing::converted<float>(matrix);
    const auto s = make_operator(group, single);
    CHECK_THROWS_WITH_AS((amg<float>(*s, single, {.precision = multigrid_precision::fp64})),
                         doctest::Contains("allowed is fp32 or fp16 for an operator in fp32"),
                         usage_error);
}

} // namespace krylith

// Coarse matrices without their small entries: which go, what the diagonal gets, new values, and
// what they do to a hierarchy.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/amg/sparsification.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/coarsening/smoothed_aggregation.hpp>

#include <krylith/tests/precond/amg_solves.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::at;
using testing::problem;
using testing::solve_with_amg;

namespace {

constexpr double drop = 0.02;

/// A matrix whose rows have a constant diagonal, scaled to 1.
csr_matrix<float> scaled_to_one(const csr_matrix<double>& a) {
    csr_matrix<float> b = testing::converted<float>(a);
    const float diagonal = *std::ranges::max_element(b.values);
    for (float& value : b.values) value /= diagonal;
    return b;
}

/// The rows of a grid with x < `weak` are coupled by a thousandth in the direction of z.
csr_matrix<float> weak_in_part(int n, int weak) {
    csr_matrix<float> b = scaled_to_one(make_gallery<double>("poisson3d:" + std::to_string(n)));
    for (std::int64_t row = 0; row < b.rows; ++row)
        for (auto k = at(b.row_offsets[at(row)]); k < at(b.row_offsets[at(row) + 1]); ++k)
            if (row % n < weak && std::abs(b.column_indices[k] - row) == n * n)
                b.values[k] *= 1e-3f;
    return b;
}

/// A level, its coarse matrix, and that without small entries.
struct sparsified {
    distributed_csr<float> b;
    std::vector<buffer<float>> ones;
    smoothed_aggregation<float> aggregates;
    distributed_csr<float> p;
    distributed_csr<float> r;
    distributed_csr<float> between;
    distributed_spgemm<float> first;
    distributed_csr<float> coarse;
    distributed_spgemm<float> second;
    distributed_csr<float> sparse;
    detail::sparsification<float> made;

    sparsified(const device_group& group, const csr_matrix<float>& matrix)
        : b(group, csr_view<float>(matrix), equal_rows(matrix.rows, group.size()),
            equal_rows(matrix.rows, group.size())),
          ones(make_ones(group, b.row_owners())),
          aggregates(b, {.known_bound = 2}),
          p(aggregates.prolongation(b, pointers())),
          r(transpose(p)),
          first(b, p, between),
          second(r, between, coarse),
          made(b, 1, ones, r, aggregates, coarse, drop, sparse) {}

    static std::vector<buffer<float>> make_ones(const device_group& group,
                                                const row_partition& rows) {
        std::vector<buffer<float>> result;
        for (int rank = 0; rank < group.size(); ++rank) {
            const std::vector<float> own(at(rows.owned(rank).size()), 1.0f);
            result.emplace_back(group.handle(rank), std::span<const float>(own), "a vector");
        }
        return result;
    }
    [[nodiscard]] std::vector<const float*> pointers() const {
        std::vector<const float*> result;
        for (const auto& own : ones) result.push_back(own.data());
        return result;
    }
    /// The near-null vector of the coarse level.
    [[nodiscard]] std::vector<float> coarse_vector() const {
        std::vector<float> v(at(aggregates.coarse().rows()));
        for (int rank = 0; rank < b.comm().ranks(); ++rank) {
            const row_range own = aggregates.coarse().owned(rank);
            if (own.size() != 0)
                b.comm()[rank].download(v.data() + own.begin, aggregates.coarse_near_null(rank),
                                        at(own.size()) * sizeof(float));
        }
        return v;
    }
};

/// The coarse rows that restrict rows of B with small entries.
std::vector<char> protected_rows(const csr_matrix<float>& b, const csr_matrix<float>& r) {
    std::vector<char> small(at(b.rows), 0);
    for (std::int64_t row = 0; row < b.rows; ++row)
        for (auto k = at(b.row_offsets[at(row)]); k < at(b.row_offsets[at(row) + 1]); ++k)
            if (b.column_indices[k] != row && b.values[k] != 0 &&
                std::fabs(static_cast<double>(b.values[k])) < drop)
                small[at(row)] = 1;
    std::vector<char> result(at(r.rows), 0);
    for (std::int64_t row = 0; row < r.rows; ++row)
        for (auto k = at(r.row_offsets[at(row)]); k < at(r.row_offsets[at(row) + 1]); ++k)
            result[at(row)] = static_cast<char>(result[at(row)] | small[at(r.column_indices[k])]);
    return result;
}

/// The definition, on the host.
csr_matrix<double> without_small_entries(const csr_matrix<float>& a, const std::vector<float>& v,
                                         const std::vector<char>& is_protected) {
    std::vector<double> weights(at(a.rows), 0);
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (auto k = at(a.row_offsets[at(row)]); k < at(a.row_offsets[at(row) + 1]); ++k)
            if (a.column_indices[k] == row && is_protected[at(row)] == 0)
                weights[at(row)] = static_cast<double>(v[at(row)] * a.values[k]);
    csr_matrix<double> result{a.rows, a.columns, {0}, {}, {}};
    for (std::int64_t row = 0; row < a.rows; ++row) {
        double moved = 0;
        std::size_t diagonal = 0;
        for (auto k = at(a.row_offsets[at(row)]); k < at(a.row_offsets[at(row) + 1]); ++k) {
            const std::int64_t column = a.column_indices[k];
            const double size = std::fabs(static_cast<double>(a.values[k]));
            const auto v_i = static_cast<double>(v[at(row)]);
            const auto v_j = static_cast<double>(v[at(column)]);
            if (column != row && size * v_j < drop * weights[at(row)] &&
                size * v_i < drop * weights[at(column)]) {
                moved += static_cast<double>(a.values[k]) * v_j / v_i;
                continue;
            }
            if (column == row) diagonal = result.values.size();
            result.column_indices.push_back(static_cast<std::int32_t>(column));
            result.values.push_back(static_cast<double>(a.values[k]));
        }
        result.values[diagonal] += moved;
        result.row_offsets.push_back(result.nnz());
    }
    return result;
}

void check_equal(const csr_matrix<float>& found, const csr_matrix<double>& expected) {
    REQUIRE(found.row_offsets == expected.row_offsets);
    REQUIRE(found.column_indices == expected.column_indices);
    double error = 0;
    for (std::size_t k = 0; k < found.values.size(); ++k)
        error =
            std::max(error, std::fabs(static_cast<double>(found.values[k]) - expected.values[k]) /
                                (1e-6 + std::fabs(expected.values[k])));
    CHECK(error <= 1e-6);
}

std::int64_t nonzeros_of_second(const device_group& group, const csr_matrix<double>& matrix,
                                const amg_options& options) {
    const problem<double> p(group, matrix, std::vector<double>(at(matrix.rows), 1.0));
    return amg<double>(*p.a, matrix, options).levels().at(1).nonzeros;
}

} // namespace

KRYLITH_GROUP_TEST("sparsification: which entries go, the same bits on any number of devices") {
    for (const int weak : {0, 7}) {
        CAPTURE(weak);
        const csr_matrix<float> b = weak_in_part(15, weak);
        sparsified s(group, b);
        const csr_matrix<float> galerkin = s.coarse.download();
        const std::vector<char> kept = protected_rows(b, s.r.download());
        CHECK(std::ranges::count(kept, 1) < static_cast<std::int64_t>(kept.size()));
        CHECK((std::ranges::count(kept, 1) != 0) == (weak != 0));
        const csr_matrix<float> found = s.sparse.download();
        check_equal(found, without_small_entries(galerkin, s.coarse_vector(), kept));
        CHECK(found.nnz() < galerkin.nnz() * 9 / 10);
        const auto one = testing::one_device_like(group);
        CHECK(found == sparsified(one, b).sparse.download());
    }
}

KRYLITH_GROUP_TEST("sparsification: nothing goes where all rows have small entries") {
    sparsified s(group, weak_in_part(12, 12));
    CHECK(s.sparse.rows() == 0);
}

KRYLITH_GROUP_TEST("sparsification: new values on what stays, and a diagonal that stays positive") {
    const csr_matrix<float> b = weak_in_part(12, 0);
    sparsified s(group, b);
    csr_matrix<float> other = b;
    for (float& value : other.values) value *= 3;
    distributed_csr<float> tripled(group, csr_view<float>(other), s.b.row_owners(),
                                   s.b.row_owners());
    csr_matrix<float> expected = s.sparse.download();
    s.first.refresh(tripled, s.p, s.between);
    s.second.refresh(s.r, s.between, s.coarse);
    s.made.refresh(s.aggregates, s.coarse, s.sparse);
    const csr_matrix<float> found = s.sparse.download();
    REQUIRE(found.column_indices == expected.column_indices);
    for (std::size_t k = 0; k < found.values.size(); ++k)
        REQUIRE(std::fabs(found.values[k] - 3 * expected.values[k]) <=
                1e-5f * std::fabs(found.values[k]) + 1e-7f);

    // Where what went has become large, the diagonal keeps a twentieth.
    for (int rank = 0; rank < group.size(); ++rank) {
        device_csr<float>& block = s.coarse.block(rank);
        std::vector<float> values = block.download().values;
        for (float& value : values)
            if (value < 0) value = -1000;
        block.update(values);
    }
    const csr_matrix<float> galerkin = s.coarse.download();
    s.made.refresh(s.aggregates, s.coarse, s.sparse);
    const csr_matrix<float> least = s.sparse.download();
    const auto diagonal_of = [](const csr_matrix<float>& a, std::int64_t row) {
        for (auto k = at(a.row_offsets[at(row)]); k < at(a.row_offsets[at(row) + 1]); ++k)
            if (a.column_indices[k] == row) return a.values[k];
        return 0.0f;
    };
    std::int64_t reduced = 0;
    for (std::int64_t row = 0; row < least.rows; ++row) {
        const float whole = diagonal_of(galerkin, row);
        const float left = diagonal_of(least, row);
        REQUIRE(left >= 0.0499f * whole);
        if (left < 0.0501f * whole) ++reduced;
    }
    CHECK(reduced > 0);
}

KRYLITH_GROUP_TEST("amg: drop brings fewer nonzeros, and no more iterations") {
    for (const char* const name : {"poisson3d:24", "poisson3d_27point:24"}) {
        CAPTURE(name);
        const auto matrix = make_gallery<double>(name);
        amg_options all;
        all.drop = 0;
        const amg_options usual;
        CHECK(solve_with_amg(group, matrix, usual).iterations <=
              solve_with_amg(group, matrix, all).iterations);
        if (matrix.nnz() > 12 * matrix.rows) continue; // the second level has less than 1000 rows
        const auto whole = nonzeros_of_second(group, matrix, all);
        CHECK(nonzeros_of_second(group, matrix, usual) < whole * 3 / 4);
    }
}

TEST_CASE("amg: drop as a text, and its range") {
    const auto matrix = make_gallery<double>("poisson2d:20");
    const problem<double> p(device_group::host(1), matrix, std::vector<double>(400, 1.0));
    CHECK(make_preconditioner<double>("amg:drop=0.03", *p.a, matrix).name() ==
          "amg:theta=0.02:degree=2:cycle=v:drop=0.03");
    CHECK(amg<double>(*p.a, matrix).name() == "amg:theta=0.02:degree=2:cycle=v");
    amg_options options;
    options.drop = 0.2;
    CHECK_THROWS_WITH_AS((amg<double>(*p.a, matrix, options)),
                         "amg_options::drop is 0.2; allowed is 0 to 0.1", usage_error);
}

} // namespace krylith

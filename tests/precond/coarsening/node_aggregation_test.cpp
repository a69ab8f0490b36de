// Aggregates of nodes, and prolongations of several near-null vectors, against dense matrices.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/precond/rigid_body_modes.hpp>

#include <krylith/tests/precond/coarsening/coarse_spaces.hpp>
#include <krylith/tests/precond/coarsening/plain_aggregates.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

using Eigen::Index;
using Eigen::MatrixXd;
using testing::at;
using testing::converted;
using testing::to_eigen;

namespace {

/// A matrix, rows of a node, and near-null vectors, [rows][vectors].
struct system {
    std::string name;
    csr_matrix<double> a;
    int block;
    int vectors;
    std::vector<double> v;
};

/// Vectors one after the other, row by row.
std::vector<double> by_rows(const std::vector<double>& v, std::int64_t rows) {
    const std::int64_t vectors = static_cast<std::int64_t>(v.size()) / rows;
    std::vector<double> result;
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t c = 0; c < vectors; ++c) result.push_back(v[at(c * rows + row)]);
    return result;
}

system elastic(const std::string& spec) {
    auto a = make_gallery<double>(spec);
    const node_coordinates nodes = gallery_coordinates(spec);
    auto v = by_rows(rigid_body_modes(nodes.values, nodes.dimension), a.rows);
    return {spec, std::move(a), 3, 6, std::move(v)};
}

/// Rows and columns of `fixed` rows but for the diagonal become 0.
void fix(system& s, const std::vector<std::int64_t>& fixed) {
    const auto is_fixed = [&](std::int64_t row) {
        return std::ranges::find(fixed, row) != fixed.end();
    };
    for (std::int64_t row = 0; row < s.a.rows; ++row)
        for (std::int64_t k = s.a.row_offsets[at(row)]; k < s.a.row_offsets[at(row) + 1]; ++k) {
            const std::int64_t column = s.a.column_indices[at(k)];
            if (row != column && (is_fixed(row) || is_fixed(column))) s.a.values[at(k)] = 0;
        }
    for (const std::int64_t row : fixed)
        for (int c = 0; c < s.vectors; ++c) s.v[at(row * s.vectors + c)] = 0;
}

std::vector<system> systems() {
    std::vector<system> all;
    all.push_back(elastic("elasticity3d:4:3:3"));
    all.push_back(elastic("elasticity3d:5:2:1"));
    fix(all.back(), {7, 30, 31, 32, 40, 41});
    all.back().name = "fixed rows, one node whole";
    all.push_back(elastic("elasticity3d:1:1:1")); // one aggregate of 4 nodes
    all.push_back(elastic("elasticity3d:9:1:1"));
    all.back().name = "rows as nodes";
    all.back().block = 1;
    // Two vectors for single rows: aggregates of one or two rows, and vectors that are dependent.
    auto chain = testing::laplace_1d(23);
    std::vector<double> line;
    for (int i = 0; i < 23; ++i) {
        line.push_back(1);
        line.push_back(i - 11);
        line.push_back(2 * i + 1); // of the other two
    }
    all.push_back({"dependent vectors", chain, 1, 3, line});
    all.push_back({"no rows", csr_matrix<double>{0, 0, {0}, {}, {}}, 2, 2, {}});
    all.push_back(
        {"nodes alone", testing::diagonal_matrix({1, 2, 3, 4}), 2, 2, {1, 0, 0, 1, 1, 0, 0, 1}});
    return all;
}

template <class T>
struct made_space {
    csr_matrix<T> p;
    std::vector<T> near_null; ///< [rows][vectors]
    csr_matrix<T> coarse;     ///< P'AP, its dropped rows filled
    std::int64_t rows;
};

template <class T>
made_space<T> make_from_nodes(const device_group& group, const system& s,
                              aggregation_options options) {
    options.block_size = s.block;
    options.vectors = s.vectors;
    const row_partition rows = equal_rows(s.a.rows, group.size(), s.block);
    const distributed_csr<T> a(group, converted<T>(s.a), rows, rows);
    row_partition entries = rows;
    for (auto& begin : entries.begin) begin *= s.vectors;
    const testing::spread_vector<T> v(group, entries, std::vector<T>(s.v.begin(), s.v.end()));
    smoothed_aggregation<T> aggregates(a, options);
    const distributed_csr<T> p = aggregates.prolongation(a, v.pointers());
    made_space<T> space{p.download(), {}, {}, aggregates.coarse().rows()};
    for (int rank = 0; rank < group.size(); ++rank) {
        std::vector<T> part(at(aggregates.coarse().owned(rank).size() * s.vectors));
        if (!part.empty())
            group[rank].download(part.data(), aggregates.coarse_near_null(rank),
                                 part.size() * sizeof(T));
        space.near_null.insert(space.near_null.end(), part.begin(), part.end());
    }
    if (space.rows == 0) return space;
    const distributed_csr<T> r = distributed_transposition<T>(p).apply(p);
    const distributed_spgemm<T> first(a, p);
    const distributed_csr<T> between = first.multiply(a, p);
    const distributed_spgemm<T> second(r, between);
    distributed_csr<T> coarse = second.multiply(r, between);
    aggregates.fill_dropped(coarse);
    space.coarse = coarse.download();
    // A refresh by the same values changes nothing.
    distributed_csr<T> again = aggregates.prolongation(a, v.pointers());
    aggregates.refresh(a, v.pointers(), again);
    CHECK(again.download() == space.p);
    return space;
}

template <class T>
MatrixXd dense_rows(const std::vector<T>& values, int columns) {
    MatrixXd result(static_cast<Index>(values.size()) / columns, columns);
    for (Index i = 0; i < result.rows(); ++i)
        for (Index c = 0; c < columns; ++c)
            result(i, c) = static_cast<double>(values[at(i * columns + c)]);
    return result;
}

/// The number of columns of T that are not empty, for each aggregate.
std::vector<Index> ranks_of(const MatrixXd& t, int vectors) {
    std::vector<Index> ranks;
    for (Index g = 0; g < t.cols(); g += vectors) {
        Index rank = 0;
        for (int c = 0; c < vectors; ++c) rank += t.col(g + c).isZero(0) ? 0 : 1;
        ranks.push_back(rank);
    }
    return ranks;
}

template <class T>
void check_space(const device_group& group, double tolerance) {
    for (const system& s : systems()) {
        CAPTURE(s.name);
        const made_space<T> made = make_from_nodes<T>(group, s, {.smooth = false});
        const MatrixXd v = dense_rows(s.v, s.vectors);
        CHECK(made.rows % s.vectors == 0);
        if (made.rows == 0) continue;
        const MatrixXd t = to_eigen(made.p);
        const MatrixXd coarse = dense_rows(made.near_null, s.vectors);
        // T maps the coarse vectors to the fine ones, where rows have an aggregate.
        MatrixXd expected = v;
        for (Index i = 0; i < t.rows(); ++i)
            if (made.p.row_offsets[at(i)] == made.p.row_offsets[at(i) + 1])
                expected.row(i).setZero();
        CHECK((t * coarse - expected).cwiseAbs().maxCoeff() <=
              tolerance * expected.cwiseAbs().maxCoeff());
        // Its columns are orthonormal, or empty where vectors are dependent.
        MatrixXd products = t.transpose() * t;
        for (Index c = 0; c < t.cols(); ++c) products(c, c) -= t.col(c).isZero(0) ? 0 : 1;
        CHECK(products.cwiseAbs().maxCoeff() <= tolerance);
        const auto ranks = ranks_of(t, s.vectors);
        for (Index g = 0; g < t.cols(); g += s.vectors) {
            MatrixXd members = expected;
            for (Index i = 0; i < t.rows(); ++i)
                if (made.p.row_offsets[at(i)] == made.p.row_offsets[at(i) + 1] ||
                    made.p.column_indices[at(made.p.row_offsets[at(i)])] != g)
                    members.row(i).setZero();
            Eigen::ColPivHouseholderQR<MatrixXd> qr(members);
            qr.setThreshold(1e-5);
            CHECK(ranks[at(g / s.vectors)] == qr.rank());
        }
        // The coarse matrix is P'AP, with ones on the diagonal of empty columns.
        MatrixXd product = t.transpose() * to_eigen(s.a) * t;
        const double size = product.cwiseAbs().maxCoeff();
        for (Index c = 0; c < t.cols(); ++c)
            if (t.col(c).isZero(0)) product(c, c) = 1;
        CHECK((to_eigen(made.coarse) - product).cwiseAbs().maxCoeff() <= tolerance * size);
    }
}

/// What two groups make of a system, part by part.
template <class T>
void check_bits(const device_group& group, const device_group& other, const system& s,
                const aggregation_options& options) {
    const made_space<T> found = make_from_nodes<T>(group, s, options);
    const made_space<T> expected = make_from_nodes<T>(other, s, options);
    CHECK(found.rows == expected.rows);
    CHECK(found.near_null == expected.near_null);
    CHECK(found.p == expected.p);
    CHECK(found.coarse == expected.coarse);
}

} // namespace

KRYLITH_GROUP_TEST("node aggregation: T has the near-null vectors, A_c is P'AP, fp64") {
    check_space<double>(group, 1e-9);
}

KRYLITH_GROUP_TEST("node aggregation: T has the near-null vectors, A_c is P'AP, fp32") {
    check_space<float>(group, 1e-5);
}

KRYLITH_GROUP_TEST("node aggregation: the bits of one host device, fp64 and fp32") {
    const device_group one = device_group::host(1);
    for (const system& s : systems())
        for (const aggregation_options options :
             {aggregation_options{}, aggregation_options{.theta = 0.3},
              aggregation_options{.theta = 0.2, .aggressive = true}}) {
            CAPTURE(s.name);
            check_bits<double>(group, one, s, options);
            check_bits<float>(group, one, s, options);
        }
}

KRYLITH_GROUP_TEST("node aggregation: aggregates are those of the matrix of norms, P is smoothed") {
    system s = elastic("elasticity3d:6:4:3");
    const MatrixXd a = to_eigen(s.a);
    const Index nodes = a.rows() / 3;
    testing::triplets norms;
    MatrixXd norm(nodes, nodes);
    std::vector<double> couplings;
    for (Index i = 0; i < nodes; ++i)
        for (Index j = 0; j < nodes; ++j) {
            norm(i, j) = a.block(3 * i, 3 * j, 3, 3).norm();
            if (norm(i, j) != 0) norms.emplace_back(i, j, norm(i, j));
        }
    for (Index i = 0; i < nodes; ++i)
        for (Index j = 0; j < i; ++j)
            if (norm(i, j) != 0)
                couplings.push_back(norm(i, j) / std::sqrt(norm(i, i) * norm(j, j)));
    std::ranges::sort(couplings);
    const double third = couplings[couplings.size() / 3] * 1.0001; // a third of the blocks is weak
    for (const double theta : {0.02, third}) {
        CAPTURE(theta);
        const auto expected =
            testing::find_plain_aggregates(testing::from_triplets(nodes, norms), theta, false);
        const auto t = make_from_nodes<double>(group, s, {.theta = theta, .smooth = false});
        REQUIRE(t.rows != 0);
        CHECK(t.rows == static_cast<std::int64_t>(6 * expected.roots.size()));
        for (Index row = 0; row < a.rows(); ++row) {
            const std::int64_t k = t.p.row_offsets[at(row)];
            const bool empty = k == t.p.row_offsets[at(row) + 1];
            CHECK((empty ? -1 : t.p.column_indices[at(k)] / 6) == expected.aggregate[at(row / 3)]);
        }
        // (I - 4 / (3 lambda) D^-1 A) T: with all of A, weak blocks too
        double lambda = 1;
        for (Index row = 0; row < a.rows(); ++row)
            lambda = std::max(lambda, a.row(row).cwiseAbs().sum() / a(row, row));
        const MatrixXd dense = to_eigen(t.p);
        const MatrixXd smooth =
            dense - 4 / (3 * lambda) * a.diagonal().asDiagonal().inverse() * (a * dense);
        const auto p = make_from_nodes<double>(group, s, {.theta = theta});
        CHECK((to_eigen(p.p) - smooth).cwiseAbs().maxCoeff() <= 1e-8);
    }
}

TEST_CASE("node aggregation refuses nodes that are cut, and too many vectors") {
    const device_group group = device_group::host(2);
    const auto a = testing::laplace_1d(8);
    const row_partition rows{{0, 3, 8}};
    const distributed_csr<double> matrix(group, a, rows, rows);
    CHECK_THROWS_WITH_AS(smoothed_aggregation<double>(matrix, {.block_size = 2}),
                         "smoothed_aggregation: rows of a rank begin or end at 3, inside a node of "
                         "2 rows",
                         usage_error);
    CHECK_THROWS_WITH_AS(smoothed_aggregation<double>(matrix, {.vectors = 13}),
                         "aggregation_options::vectors is 13; allowed are 1 to 12", usage_error);
    CHECK_THROWS_WITH_AS(smoothed_aggregation<double>(matrix, {.block_size = 0}),
                         "aggregation_options::block_size is 0; allowed are 1 to 12", usage_error);
}

} // namespace krylith

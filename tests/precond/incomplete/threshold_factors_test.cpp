// Incomplete factors with thresholds against the textbook's algorithm on dense rows.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/incomplete/threshold_factors.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::to_eigen;

namespace {

Eigen::MatrixXd permuted(const csr_matrix<double>& a, const row_matching& by) {
    const Eigen::MatrixXd dense = to_eigen(a);
    Eigen::MatrixXd result = dense;
    for (std::size_t i = 0; i < by.row_at.size(); ++i)
        result.row(static_cast<Eigen::Index>(i)) = dense.row(by.row_at[i]);
    return result;
}

void keep_largest(Eigen::RowVectorXd& row, Eigen::Index begin, Eigen::Index end,
                  std::int64_t most) {
    std::vector<double> sizes;
    for (Eigen::Index j = begin; j < end; ++j)
        if (row[j] != 0) sizes.push_back(std::fabs(row[j]));
    if (static_cast<std::int64_t>(sizes.size()) <= most) return;
    std::sort(sizes.rbegin(), sizes.rend());
    const double least = most == 0 ? INFINITY : sizes[static_cast<std::size_t>(most - 1)];
    for (Eigen::Index j = begin; j < end; ++j)
        if (std::fabs(row[j]) < least) row[j] = 0;
}

/// Saad's algorithm 10.6 on dense rows; L has its unit diagonal.
void plain_ilut(const csr_matrix<double>& a, const threshold_rule& rule, Eigen::MatrixXd& lower,
                Eigen::MatrixXd& upper) {
    const Eigen::Index n = a.rows;
    const Eigen::MatrixXd dense = to_eigen(a);
    lower = Eigen::MatrixXd::Identity(n, n);
    upper = Eigen::MatrixXd::Zero(n, n);
    const auto mean = static_cast<double>(a.values.size()) / static_cast<double>(n);
    for (Eigen::Index i = 0; i < n; ++i) {
        const auto entries = a.row_offsets[static_cast<std::size_t>(i) + 1] -
                             a.row_offsets[static_cast<std::size_t>(i)];
        const double least =
            rule.drop * dense.row(i).cwiseAbs().sum() / static_cast<double>(entries);
        const auto most = std::max(entries, static_cast<std::int64_t>(std::ceil(rule.fill * mean)));
        Eigen::RowVectorXd row = dense.row(i);
        for (Eigen::Index k = 0; k < i; ++k) {
            if (std::fabs(row[k]) < least) row[k] = 0;
            if (row[k] == 0) continue;
            row[k] /= upper(k, k);
            for (Eigen::Index j = k + 1; j < n; ++j) row[j] -= row[k] * upper(k, j);
        }
        for (Eigen::Index j = i + 1; j < n; ++j)
            if (std::fabs(row[j]) < least) row[j] = 0;
        keep_largest(row, 0, i, most);
        keep_largest(row, i + 1, n, most);
        lower.row(i).head(i) = row.head(i);
        upper.row(i).tail(n - i) = row.tail(n - i);
    }
}

double difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return (a - b).cwiseAbs().maxCoeff();
}

} // namespace

TEST_CASE("threshold factors: nothing dropped is LU, of permuted and scaled rows too") {
    for (const char* const name : {"poisson2d:7", "convection_diffusion:4:10"}) {
        CAPTURE(name);
        csr_matrix<double> a = make_gallery<double>(name);
        const auto as_is = rows_as_they_are(a.rows);
        for (std::size_t k = 0; k < a.values.size(); ++k)
            a.values[k] = std::ldexp(a.values[k], a.column_indices[k] % 7);
        const row_matching matched = match_rows(csr_view<double>(a));
        for (const row_matching& matching : {as_is, matched}) {
            const threshold_factors f =
                factor_by_threshold(csr_view<double>(a), matching, {.drop = 0, .fill = 1e6});
            CHECK(f.replaced == 0);
            const Eigen::MatrixXd lower = to_eigen(f.lower);
            const Eigen::MatrixXd upper = to_eigen(f.upper);
            CHECK(lower.isLowerTriangular(0));
            CHECK(upper.isUpperTriangular(0));
            const Eigen::MatrixXd pa = permuted(a, matching);
            CHECK(difference(lower * upper, pa) <= 1e-12 * pa.cwiseAbs().maxCoeff());
        }
    }
}

TEST_CASE("threshold factors: those of the textbook's algorithm") {
    int dropped = 0;
    for (int seed = 1; seed <= 6; ++seed)
        for (const threshold_rule& rule : {threshold_rule{0.02, 10}, threshold_rule{0, 1.3},
                                           threshold_rule{0.2, 0}, threshold_rule{1, 3}}) {
            CAPTURE(seed);
            CAPTURE(rule.drop);
            const auto a = testing::random_matrix(40, 5, 4.0, static_cast<std::uint64_t>(seed));
            Eigen::MatrixXd lower;
            Eigen::MatrixXd upper;
            plain_ilut(a, rule, lower, upper);
            const threshold_factors f =
                factor_by_threshold(csr_view<double>(a), rows_as_they_are(a.rows), rule);
            CHECK(difference(to_eigen(f.lower), lower) <= 1e-13);
            CHECK(difference(to_eigen(f.upper), upper) <= 1e-13);
            if (difference(lower * upper, to_eigen(a)) > 1e-3) ++dropped;
        }
    CHECK(dropped > 12); // the rules did drop something
}

TEST_CASE("threshold factors: pivots that are 0 are replaced, and rows of nothing too") {
    const csr_matrix<double> a = testing::from_triplets(
        4, {{0, 0, 0.0}, {0, 1, 2.0}, {1, 0, 1.0}, {1, 1, 1.0}, {3, 3, 5.0}});
    const threshold_factors f =
        factor_by_threshold(csr_view<double>(a), rows_as_they_are(4), {.drop = 0.5, .fill = 10});
    CHECK(f.replaced == 2);
    CHECK(to_eigen(f.upper)(0, 0) == doctest::Approx(0.5001 * 1.0));
    CHECK(to_eigen(f.upper)(2, 2) == 1);
    CHECK(to_eigen(f.upper)(3, 3) == 5);
    const auto matched = match_rows(csr_view<double>(a));
    CHECK(factor_by_threshold(csr_view<double>(a), matched, {.drop = 0, .fill = 10}).replaced == 1);
}

} // namespace krylith

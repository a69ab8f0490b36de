// What aggregates must be, whatever finds them: independent and maximal roots, connected and small
// aggregates, ratios of grids, and a two-grid cycle that converges.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <Eigen/SparseCore>

#include <krylith/tests/precond/coarsening/coarse_spaces.hpp>
#include <krylith/tests/precond/coarsening/plain_aggregates.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

using testing::at;
using testing::to_eigen;

namespace {

/// The rows at most two strong entries away.
std::set<std::int64_t> within_two(const testing::plain_aggregates& found, std::int64_t row) {
    std::set<std::int64_t> rows{row};
    for (const auto j : found.strong[at(row)]) {
        rows.insert(j);
        rows.insert(found.strong[at(j)].begin(), found.strong[at(j)].end());
    }
    return rows;
}

/// One step of a two-grid cycle for A x = 0: Chebyshev polynomials of the fourth kind and degree 2
/// (Lottes, Optimal polynomial smoothers for multigrid V-cycles, 2022) before and after.
class two_grid {
public:
    two_grid(const Eigen::MatrixXd& a, const Eigen::MatrixXd& p)
        : a_(a.sparseView()),
          p_(p.sparseView()),
          inverse_(a.diagonal().cwiseInverse()),
          coarse_((p.transpose() * a * p).ldlt()) {
        for (Eigen::Index i = 0; i < a.rows(); ++i)
            lambda_ = std::max(lambda_, a.row(i).cwiseAbs().sum() * inverse_[i]);
    }
    [[nodiscard]] Eigen::VectorXd step(Eigen::VectorXd x) const {
        smooth(x);
        x -= p_ * coarse_.solve(p_.transpose() * (a_ * x));
        smooth(x);
        return x;
    }

private:
    void smooth(Eigen::VectorXd& x) const {
        Eigen::VectorXd r = -(a_ * x);
        Eigen::VectorXd z = Eigen::VectorXd::Zero(x.size());
        for (int k = 1; k <= 2; ++k) {
            z = (2.0 * k - 3) / (2 * k + 1) * z +
                (8.0 * k - 4) / (2 * k + 1) / lambda_ * inverse_.cwiseProduct(r);
            x += z;
            r -= a_ * z;
        }
    }

    Eigen::SparseMatrix<double, Eigen::RowMajor> a_;
    Eigen::SparseMatrix<double, Eigen::RowMajor> p_;
    Eigen::VectorXd inverse_;
    Eigen::LDLT<Eigen::MatrixXd> coarse_;
    double lambda_ = 0;
};

} // namespace

KRYLITH_GROUP_TEST("smoothed aggregation: roots and aggregates of strong graphs") {
    for (const auto& c : testing::coarsened_matrices()) {
        if (c.name == "Dirichlet rows") continue; // strength has a direction there
        CAPTURE(c.name);
        const auto plain = testing::find_plain_aggregates(c.a, 0.02, false);
        const auto space = testing::make_space(group, c.a, {.smooth = false},
                                               testing::uneven_vector<double>(c.a.rows));
        std::vector<std::vector<std::int64_t>> members(at(space.coarse.rows()));
        for (std::int64_t i = 0; i < c.a.rows; ++i) {
            const bool empty = space.p.row_offsets[at(i)] == space.p.row_offsets[at(i) + 1];
            CHECK(empty == plain.strong[at(i)].empty());
            if (!empty)
                members[at(space.p.column_indices[at(space.p.row_offsets[at(i)])])].push_back(i);
        }
        // A root is a member of which all others are at most two steps away; the lowest one says
        // the number of the aggregate.
        for (std::size_t g = 0; g < members.size(); ++g) {
            REQUIRE(!members[g].empty());
            const auto near = within_two(plain, plain.roots[g]);
            for (const auto i : members[g]) {
                CHECK(near.count(i) == 1);
                const auto& strong = plain.strong[at(i)];
                CHECK((members[g].size() == 1 ||
                       std::any_of(strong.begin(), strong.end(), [&](auto j) {
                           return std::find(members[g].begin(), members[g].end(), j) !=
                                  members[g].end();
                       })));
            }
        }
        for (std::int64_t i = 0; i < c.a.rows; ++i) {
            if (plain.strong[at(i)].empty()) continue;
            std::size_t roots = 0;
            for (const auto j : within_two(plain, i)) roots += plain.first_root[at(j)] ? 1 : 0;
            CHECK(roots >= 1);
            if (plain.first_root[at(i)]) CHECK(roots == 1);
        }
    }
}

KRYLITH_GROUP_TEST("smoothed aggregation: aggregates along a direction, and P keeps a constant") {
    constexpr std::int64_t n = 24;
    struct direction {
        const char* degrees;
        std::int64_t lines_a_row, lines_a_point; ///< line of (x, y): a row y + a point x
    };
    for (const direction& d : {direction{"0", 1, 0}, direction{"90", 0, 1}, direction{"45", 1, -1},
                               direction{"135", 1, 1}}) {
        CAPTURE(d.degrees);
        const auto a =
            make_gallery<double>("anisotropic_diffusion:24:0.001:" + std::string(d.degrees));
        const std::vector<double> ones(at(a.rows), 1.0);
        const row_partition rows = equal_rows(a.rows, group.size());
        const distributed_csr<double> matrix(group, a, rows, rows);
        const testing::spread_vector<double> v(group, rows, ones);
        for (const bool smooth : {false, true}) {
            smoothed_aggregation<double> aggregates(
                matrix, {.aggressive = true, .directions = true, .smooth = smooth}, v.pointers());
            CHECK(aggregates.directed());
            const auto p = aggregates.prolongation(matrix, v.pointers());
            const auto space = testing::space_of(group, aggregates, p);
            std::vector<std::set<std::int64_t>> lines(at(space.coarse.rows()));
            for (std::int64_t i = 0; i < a.rows; ++i) {
                double constant = 0;
                for (auto k = at(space.p.row_offsets[at(i)]);
                     k < at(space.p.row_offsets[at(i) + 1]); ++k) {
                    const auto coarse = at(space.p.column_indices[k]);
                    constant += space.p.values[k] * space.near_null[coarse];
                    lines[coarse].insert(d.lines_a_row * (i / n) + d.lines_a_point * (i % n));
                }
                const bool inner = i % n != 0 && i % n != n - 1 && i / n != 0 && i / n != n - 1;
                if (inner) CHECK(constant == doctest::Approx(1)); // A 1 = 0 there
            }
            if (smooth) continue;
            const auto several =
                std::ranges::count_if(lines, [](const auto& of) { return of.size() > 1; });
            CHECK(several <= 4); // a corner has no positive entries, or nobody along the direction
        }
    }
    const auto straight = make_gallery<double>("poisson2d_9point:24");
    const row_partition rows = equal_rows(straight.rows, group.size());
    const distributed_csr<double> matrix(group, straight, rows, rows);
    for (const double theta : {0.02, 0.0})
        CHECK_FALSE(
            smoothed_aggregation<double>(matrix, {.theta = theta, .directions = true}).directed());
    const auto v = testing::uneven_vector<double>(straight.rows);
    CHECK(testing::make_space(group, straight, {.directions = true}, v) ==
          testing::make_space(group, straight, {}, v));
}

TEST_CASE("smoothed aggregation: how much coarser grids become") {
    const device_group group = device_group::host(2);
    const auto ratio = [&](const char* spec, bool aggressive) {
        const auto a = make_gallery<double>(spec);
        const row_partition rows = equal_rows(a.rows, 2);
        const smoothed_aggregation<double> aggregates(distributed_csr<double>(group, a, rows, rows),
                                                      {.aggressive = aggressive});
        return static_cast<double>(a.rows) / static_cast<double>(aggregates.coarse().rows());
    };
    CHECK(ratio("poisson3d:32", false) == doctest::Approx(6.4).epsilon(0.05));
    CHECK(ratio("poisson3d:32", true) == doctest::Approx(11.7).epsilon(0.05));
    CHECK(ratio("poisson3d_27point:24", false) > 18);
}

TEST_CASE("smoothed aggregation: a two-grid cycle reduces errors fourfold, of pairs by 2.5") {
    const auto a = poisson3d<double>(12, 12, 12);
    for (const bool aggressive : {false, true}) {
        CAPTURE(aggressive);
        const auto space = testing::make_space(device_group::host(1), a, {.aggressive = aggressive},
                                               std::vector<double>(at(a.rows), 1.0));
        const two_grid cycle(to_eigen(a), to_eigen(space.p));
        // The cycle is symmetric in the inner product of A: its largest eigenvalue by magnitude is
        // the limit of quotients of norms.
        const Eigen::MatrixXd dense = to_eigen(a);
        const Eigen::SparseMatrix<double, Eigen::RowMajor> matrix = dense.sparseView();
        Eigen::VectorXd x = to_eigen(testing::uneven_vector<double>(a.rows));
        double radius = 0;
        for (int i = 0; i < 60; ++i) {
            x /= std::sqrt(x.dot(matrix * x));
            x = cycle.step(x);
            radius = std::sqrt(x.dot(matrix * x));
        }
        CHECK(radius < (aggressive ? 0.4 : 0.25));
    }
}

} // namespace krylith

// Coarse rows and interpolation against plain loops, on all groups.
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/precond/coarsening/aggregate_keys.hpp>
#include <krylith/precond/coarsening/classical_coarsening.hpp>

#include <krylith/tests/precond/coarsening/coarse_spaces.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::at;
using testing::coarse_space;
using testing::coarsened_matrices;
using testing::named_matrix;
using testing::one_device_like;
using testing::random_values;
using testing::spread_vector;
using testing::to_eigen;

namespace {

std::vector<named_matrix> symmetric_matrices() {
    std::vector<named_matrix> all;
    for (named_matrix& one : coarsened_matrices())
        if (one.name != "Dirichlet rows") all.push_back(std::move(one));
    for (const char* spec : {"rough_diffusion:7:1e6", "anisotropic_diffusion:14:0.01:30"})
        all.push_back({spec, make_gallery<double>(spec)});
    all.push_back({"hubs that no row is interpolated through", testing::two_hubs(150)});
    return all;
}

/// A vector of one sign, whose entries differ, so that no two entries of P are alike but for
/// rounding.
std::vector<double> positive_vector(std::int64_t rows) {
    std::vector<double> v = random_values<double>(rows, 4);
    for (double& entry : v) entry = 1 + entry / 16;
    return v;
}

/// What the class says that it does, by loops over dense rows.
struct plain_classical {
    Eigen::MatrixXd a;
    std::vector<double> v;
    double threshold;
    std::vector<int> kind; ///< 0: alone, 1: fine, 2: coarse
    std::vector<std::vector<bool>> influenced;

    plain_classical(const csr_matrix<double>& matrix, std::vector<double> of_v, double of_threshold)
        : a(to_eigen(matrix)), v(std::move(of_v)), threshold(of_threshold) {
        const auto n = static_cast<std::size_t>(a.rows());
        influenced.assign(n, std::vector<bool>(n));
        for (std::size_t i = 0; i < n; ++i) {
            double largest = 0;
            for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, influence(i, j));
            for (std::size_t j = 0; j < n; ++j)
                influenced[i][j] = influence(i, j) > 0 && influence(i, j) >= threshold * largest;
        }
        choose();
    }

    [[nodiscard]] double g(std::size_t i, std::size_t j) const {
        return a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * (v[j] / v[i]);
    }
    [[nodiscard]] double influence(std::size_t i, std::size_t j) const {
        return i == j ? 0 : -g(i, j);
    }

    void choose() {
        const std::size_t n = v.size();
        kind.assign(n, 0);
        std::vector<std::int64_t> key(n);
        std::set<std::size_t> open;
        for (std::size_t i = 0; i < n; ++i) {
            std::int64_t count = 0;
            bool any = false;
            for (std::size_t j = 0; j < n; ++j) {
                count += influenced[j][i] ? 1 : 0;
                any = any || influenced[j][i] || influenced[i][j];
            }
            key[i] = (std::min<std::int64_t>(count, 1023) << 21) +
                     (aggregation::key_of(static_cast<std::uint32_t>(i), 0) >> 11);
            if (any) open.insert(i);
        }
        while (!open.empty()) {
            std::vector<int> next = kind;
            for (const std::size_t i : open) {
                bool beside = false;
                bool largest = true;
                for (std::size_t j = 0; j < n; ++j) {
                    if (influenced[i][j] && kind[j] == 2) beside = true;
                    if ((influenced[i][j] || influenced[j][i]) && open.contains(j) &&
                        std::pair(key[j], j) > std::pair(key[i], i))
                        largest = false;
                }
                if (beside)
                    next[i] = 1;
                else if (largest)
                    next[i] = 2;
            }
            kind = next;
            std::erase_if(open, [&](std::size_t i) { return kind[i] != 0; });
        }
    }

    [[nodiscard]] Eigen::MatrixXd prolongation() const {
        const std::size_t n = v.size();
        std::vector<Eigen::Index> number(n, -1);
        Eigen::Index columns = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (kind[i] == 2) number[i] = columns++;
        Eigen::MatrixXd p = Eigen::MatrixXd::Zero(a.rows(), columns);
        std::vector<double> beta(n);
        for (std::size_t k = 0; k < n; ++k) {
            int coarse = 0;
            for (std::size_t l = 0; l < n; ++l)
                if (influenced[k][l] && kind[l] == 2) {
                    beta[k] += g(k, l);
                    ++coarse;
                }
            if (coarse > 64) beta[k] = 0;
        }
        std::vector<double> of_columns;
        for (std::size_t i = 0; i < n; ++i)
            if (kind[i] == 2) of_columns.push_back(v[i]);
        for (std::size_t i = 0; i < n; ++i) {
            const auto row = static_cast<Eigen::Index>(i);
            if (kind[i] == 2) p(row, number[i]) = 1;
            if (kind[i] != 1) continue;
            double d = a(row, row);
            for (std::size_t k = 0; k < n; ++k) {
                if (k == i) continue;
                const double a_ik = a(row, static_cast<Eigen::Index>(k));
                if (!influenced[i][k] || kind[k] == 0 || (kind[k] == 1 && beta[k] == 0)) {
                    d += g(i, k);
                } else if (kind[k] == 2) {
                    p(row, number[k]) -= a_ik;
                } else {
                    const double shared = beta[k] + g(k, i);
                    d += a_ik * a_ik / shared;
                    for (std::size_t j = 0; j < n; ++j)
                        if (influenced[k][j] && kind[j] == 2)
                            p(row, number[j]) -=
                                a_ik *
                                a(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(j)) /
                                shared;
                }
            }
            p.row(row) /= std::max(d, 0.05 * a(row, row));
            cut(p, row, of_columns);
        }
        return p;
    }

    /// Four entries stay, the first of equal ones.
    static void cut(Eigen::MatrixXd& p, Eigen::Index row, const std::vector<double>& of_columns) {
        std::vector<Eigen::Index> order;
        double all = 0;
        for (Eigen::Index j = 0; j < p.cols(); ++j)
            if (p(row, j) != 0) {
                order.push_back(j);
                all += p(row, j) * of_columns[static_cast<std::size_t>(j)];
            }
        std::ranges::stable_sort(order, [&](Eigen::Index one, Eigen::Index other) {
            return std::fabs(p(row, one) * of_columns[static_cast<std::size_t>(one)]) >
                   std::fabs(p(row, other) * of_columns[static_cast<std::size_t>(other)]);
        });
        double kept = 0;
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (k < 4)
                kept += p(row, order[k]) * of_columns[static_cast<std::size_t>(order[k])];
            else
                p(row, order[k]) = 0;
        }
        if (all / kept > 0) p.row(row) *= all / kept;
    }
};

coarse_space<double> make_classical(const device_group& group, const csr_matrix<double>& a,
                                    const std::vector<double>& v,
                                    const classical_options& options = {}) {
    const row_partition rows = equal_rows(a.rows, group.size());
    const distributed_csr<double> matrix(group, a, rows, rows);
    const spread_vector<double> spread(group, rows, v);
    classical_coarsening<double> found(matrix, options, spread.pointers());
    const distributed_csr<double> p = found.prolongation(matrix, spread.pointers());
    return testing::space_of(group, found, p);
}

/// Scales rows and columns, which changes values but not what v times them says is strong.
csr_matrix<double> scaled_by(csr_matrix<double> a, double factor) {
    for (double& value : a.values) value *= factor;
    return a;
}

} // namespace

KRYLITH_GROUP_TEST("classical coarsening: coarse rows and interpolation are those of plain loops") {
    for (const auto& c : symmetric_matrices())
        for (const double threshold : {0.25, 0.6}) {
            CAPTURE(c.name);
            CAPTURE(threshold);
            const auto v = positive_vector(c.a.rows);
            const plain_classical plain(c.a, v, threshold);
            const Eigen::MatrixXd expected = plain.prolongation();
            const auto found = make_classical(group, c.a, v, {.strong_threshold = threshold});
            REQUIRE(found.coarse.rows() == expected.cols());
            CHECK((to_eigen(found.p) - expected).norm() <= 1e-12 * (1 + expected.norm()));
            std::vector<double> coarse_v;
            for (std::size_t i = 0; i < v.size(); ++i)
                if (plain.kind[i] == 2) coarse_v.push_back(v[i]);
            CHECK(found.near_null == coarse_v);
        }
}

KRYLITH_GROUP_TEST("classical coarsening: P has the same bits on any devices") {
    for (const auto& c : symmetric_matrices()) {
        CAPTURE(c.name);
        const auto v = positive_vector(c.a.rows);
        CHECK(make_classical(group, c.a, v) == make_classical(one_device_like(group), c.a, v));
    }
}

KRYLITH_GROUP_TEST("classical coarsening: P keeps the near-null vector where A maps it to 0") {
    csr_matrix<double> a = make_gallery<double>("rough_diffusion:8:1e4");
    const auto v = positive_vector(a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) { // so that A v = 0
        double sum = 0;
        std::int64_t own = 0;
        for (std::int64_t k = a.row_offsets[at(i)]; k < a.row_offsets[at(i) + 1]; ++k)
            if (a.column_indices[at(k)] == i)
                own = k;
            else
                sum += a.values[at(k)] * v[at(a.column_indices[at(k)])];
        a.values[at(own)] = -sum / v[at(i)];
    }
    const auto found = make_classical(group, a, v);
    const Eigen::VectorXd product = to_eigen(found.p) * to_eigen(found.near_null);
    CHECK((product - to_eigen(v)).norm() <= 1e-12 * to_eigen(v).norm());
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const auto entries = found.p.row_offsets[at(i) + 1] - found.p.row_offsets[at(i)];
        CHECK(entries >= 1);
        CHECK(entries <= 4);
    }
}

KRYLITH_GROUP_TEST("classical coarsening: new values give what a new one would") {
    for (const auto& c : symmetric_matrices()) {
        CAPTURE(c.name);
        const auto v = positive_vector(c.a.rows);
        const row_partition rows = equal_rows(c.a.rows, group.size());
        const distributed_csr<double> before(group, c.a, rows, rows);
        const csr_matrix<double> changed = scaled_by(c.a, 3); // what is strong stays
        const distributed_csr<double> after(group, changed, rows, rows);
        const spread_vector<double> spread(group, rows, v);
        classical_coarsening<double> found(before, {}, spread.pointers());
        distributed_csr<double> p = found.prolongation(before, spread.pointers());
        found.refresh(after, spread.pointers(), p);
        CHECK(testing::space_of(group, found, p) == make_classical(group, changed, v));
    }
}

TEST_CASE("classical coarsening: what it can't do is refused") {
    const auto group = device_group::host(2);
    const auto a = testing::laplace_1d(12);
    const auto v = positive_vector(12);
    const row_partition rows = equal_rows(12, 2);
    const distributed_csr<double> matrix(group, a, rows, rows);
    const spread_vector<double> spread(group, rows, v);
    for (const double threshold : {0.0, -1.0, 1.5, std::nan("")})
        CHECK_THROWS_AS((classical_coarsening<double>(matrix, {.strong_threshold = threshold},
                                                      spread.pointers())),
                        usage_error);
    CHECK_THROWS_AS((classical_coarsening<double>(matrix, {}, {})), usage_error);
    classical_coarsening<double> found(matrix, {}, spread.pointers());
    const auto other = testing::laplace_1d(10);
    const row_partition of_other = equal_rows(10, 2);
    const distributed_csr<double> wrong(group, other, of_other, of_other);
    CHECK_THROWS_AS((void)found.prolongation(wrong, spread.pointers()), usage_error);
}

} // namespace krylith

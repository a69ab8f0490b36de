// Multigrid hierarchies made by hand, and their cycle in dense matrices.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>

#include <krylith/tests/support/dense.hpp>

namespace krylith::testing {

/// Zeros are not stored.
[[nodiscard]] inline csr_matrix<double> sparse_of(const Eigen::MatrixXd& dense) {
    csr_matrix<double> a{dense.rows(), dense.cols(), {0}, {}, {}};
    for (Eigen::Index i = 0; i < dense.rows(); ++i) {
        for (Eigen::Index j = 0; j < dense.cols(); ++j)
            if (dense(i, j) != 0) {
                a.column_indices.push_back(static_cast<std::int32_t>(j));
                a.values.push_back(dense(i, j));
            }
        a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
    }
    return a;
}

/// a[0] is A; p[l] and r[l] are between levels l and l + 1.
struct hand_made_levels {
    std::vector<csr_matrix<double>> a;
    std::vector<csr_matrix<double>> p;
    std::vector<csr_matrix<double>> r;

    /// Refers to the matrices.
    [[nodiscard]] std::vector<multigrid_level_matrices<double>> given() const {
        std::vector<multigrid_level_matrices<double>> levels;
        for (const csr_matrix<double>& one : a) levels.push_back({one});
        for (std::size_t l = 0; l < p.size(); ++l) {
            levels[l].prolongation = p[l];
            levels[l].restriction = r[l];
        }
        return levels;
    }
    /// Adds the level R A P.
    void coarsen(const Eigen::MatrixXd& prolongation, const Eigen::MatrixXd& restriction) {
        const Eigen::MatrixXd coarse = restriction * to_eigen(a.back()) * prolongation;
        p.push_back(sparse_of(prolongation));
        r.push_back(sparse_of(restriction));
        a.push_back(sparse_of(coarse));
    }
};

/// From every second point of 2 m + 1, linearly.
[[nodiscard]] inline Eigen::MatrixXd linear_interpolation(Eigen::Index m) {
    Eigen::MatrixXd p = Eigen::MatrixXd::Zero(2 * m + 1, m);
    for (Eigen::Index j = 0; j < m; ++j) {
        p(2 * j, j) = p(2 * j + 2, j) = 0.5;
        p(2 * j + 1, j) = 1;
    }
    return p;
}

/// Geometric multigrid: -u'' on 2^k - 1 points, the same differences with the step of each grid,
/// and means of neighbours, R = P' / 2.
[[nodiscard]] inline hand_made_levels geometric_1d(int k, int levels) {
    hand_made_levels made;
    for (int l = 0; l < levels; ++l) {
        const Eigen::Index n = (Eigen::Index{1} << (k - l)) - 1;
        auto a = make_gallery<double>("poisson1d:" + std::to_string(n));
        for (double& v : a.values) v *= std::ldexp(1.0, -2 * l);
        made.a.push_back(std::move(a));
        if (l + 1 == levels) break;
        const Eigen::MatrixXd p = linear_interpolation((n - 1) / 2);
        made.p.push_back(sparse_of(p));
        made.r.push_back(sparse_of(p.transpose() / 2));
    }
    return made;
}

/// Diffusion and a flow along the rows of a grid, by upwind differences.
[[nodiscard]] inline csr_matrix<double> flow_2d(Eigen::Index n, double speed) {
    Eigen::MatrixXd a = to_eigen(make_gallery<double>("poisson2d:" + std::to_string(n)));
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
        a(i, i) += speed;
        if (i % n != 0) a(i, i - 1) -= speed;
    }
    return sparse_of(a);
}

/// Squares of w x w points of an n x n grid.
[[nodiscard]] inline Eigen::MatrixXd square_aggregates(Eigen::Index n, Eigen::Index w) {
    const Eigen::Index m = (n + w - 1) / w;
    Eigen::MatrixXd p = Eigen::MatrixXd::Zero(n * n, m * m);
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j) p(i * n + j, (i / w) * m + j / w) = 1;
    return p;
}

/// The cycle of a hierarchy, as textbooks have it, in the variables of the given matrices.
class dense_cycle {
public:
    /// The bounds of eigenvalues are those that `m` has found. `jacobi`: by damped Jacobi steps.
    dense_cycle(const hand_made_levels& of, const amg<double>& m, bool jacobi = false)
        : options_(m.options()), jacobi_(jacobi), inverts_(of.a.back().rows <= 200) {
        for (const auto& one : of.a) a_.push_back(to_eigen(one));
        for (const auto& one : of.p) p_.push_back(to_eigen(one));
        for (const auto& one : of.r) r_.push_back(to_eigen(one));
        for (const auto& level : m.levels()) bounds_.push_back(level.bound);
        last_ = a_.back().completeOrthogonalDecomposition();
    }

    [[nodiscard]] Eigen::VectorXd operator()(const Eigen::VectorXd& b) const { return visit(0, b); }

    /// The iterations of CG from 0.
    [[nodiscard]] std::int64_t cg_iterations(const Eigen::VectorXd& b, double rtol) const {
        Eigen::VectorXd r = b;
        Eigen::VectorXd z = (*this)(r);
        Eigen::VectorXd p = z;
        double rz = r.dot(z);
        for (std::int64_t k = 0;; ++k) {
            if (r.norm() <= rtol * b.norm() || k == 1000) return k;
            const Eigen::VectorXd q = a_.front() * p;
            r -= rz / p.dot(q) * q;
            z = (*this)(r);
            const double old = std::exchange(rz, r.dot(z));
            p = z + rz / old * p;
        }
    }

private:
    void smooth(std::size_t l, const Eigen::VectorXd& b, Eigen::VectorXd& x) const {
        Eigen::VectorXd z = Eigen::VectorXd::Zero(b.size());
        for (int k = 1; k <= options_.degree; ++k) {
            const double before = jacobi_ || k == 1 ? 0 : (2.0 * k - 3) / (2.0 * k + 1);
            const double weight = jacobi_ ? 1.6 : (8.0 * k - 4) / (2.0 * k + 1);
            const Eigen::VectorXd residual = b - a_[l] * x;
            z = before * z + weight / bounds_[l] * residual.cwiseQuotient(a_[l].diagonal());
            x += z;
        }
    }

    [[nodiscard]] Eigen::VectorXd visit(std::size_t l, const Eigen::VectorXd& b) const {
        Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size());
        const bool last = l + 1 == a_.size();
        if (last && inverts_) return last_.solve(b);
        smooth(l, b, x);
        if (last) return x;
        const Eigen::VectorXd coarse = r_[l] * (b - a_[l] * x);
        Eigen::VectorXd e = visit(l + 1, coarse);
        if (options_.cycle == multigrid_cycle::w && l > 0 && l + 2 < a_.size())
            e += visit(l + 1, coarse - a_[l + 1] * e);
        x += p_[l] * e;
        smooth(l, b, x);
        return x;
    }

    amg_options options_;
    bool jacobi_;
    bool inverts_;
    std::vector<Eigen::MatrixXd> a_, p_, r_;
    std::vector<double> bounds_;
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> last_;
};

} // namespace krylith::testing

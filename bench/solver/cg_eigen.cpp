#include <krylith/bench/solver/cg_eigen.hpp>

#include <limits>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <krylith/device/error.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

using sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using solver =
    Eigen::ConjugateGradient<sparse, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner>;

sparse copy_of(const csr_matrix<double>& a) {
    if (a.nnz() > std::numeric_limits<int>::max()) {
        throw usage_error("Eigen's default index counts at most 2^31 - 1 nonzeros");
    }
    const std::vector<int> offsets(a.row_offsets.begin(), a.row_offsets.end());
    return Eigen::Map<const sparse>(a.rows, a.columns, a.nnz(), offsets.data(),
                                    a.column_indices.data(), a.values.data());
}

class eigen_cg final : public solver_contestant {
public:
    eigen_cg(const workload& w, int threads) {
        const tool::stopwatch watch;
        if (threads > 0) {
            Eigen::setNbThreads(threads);
        }
        a_ = copy_of(w.matrix);
        b_ = Eigen::Map<const Eigen::VectorXd>(w.b.data(), w.n());
        solver_.compute(a_);
        setup_seconds_ = watch.seconds();
    }

    [[nodiscard]] std::string name() const override { return "eigen"; }

    [[nodiscard]] double iterate(std::int64_t iterations) override {
        const double seconds = run(0, iterations);
        if (solver_.iterations() != iterations) {
            throw measurement_failed("Eigen's CG ended after " +
                                     std::to_string(solver_.iterations()) + " of " +
                                     std::to_string(iterations) + " iterations");
        }
        return seconds;
    }

    [[nodiscard]] solver_outcome solve(double rtol, std::int64_t max_iterations) override {
        solver_outcome outcome;
        outcome.seconds = run(rtol, max_iterations);
        outcome.converged = solver_.info() == Eigen::Success;
        outcome.reason = outcome.converged ? "converged" : "max_iterations";
        outcome.iterations = solver_.iterations();
        outcome.x.assign(x_.begin(), x_.end());
        return outcome;
    }

    [[nodiscard]] double setup_seconds() const override { return setup_seconds_; }

private:
    double run(double rtol, std::int64_t iterations) {
        solver_.setTolerance(rtol);
        solver_.setMaxIterations(iterations);
        const tool::stopwatch watch;
        x_ = solver_.solve(b_);
        return watch.seconds();
    }

    sparse a_;
    Eigen::VectorXd b_;
    Eigen::VectorXd x_;
    solver solver_;
    double setup_seconds_ = 0;
};

} // namespace

std::unique_ptr<solver_contestant> make_eigen_cg(const workload& w, int threads) {
    return std::make_unique<eigen_cg>(w, threads);
}

} // namespace krylith::bench

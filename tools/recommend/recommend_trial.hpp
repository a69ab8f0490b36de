// The methods that are worth a trial on a matrix, and a trial of one for a limited time, and what
// that lets expect.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/matrix/statistics.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/solvers/automatic/row_sample.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/tools/info/matrix_class.hpp>
#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

/// Solver and preconditioner as `krylith solve` names them.
struct candidate {
    std::string solver;
    std::string preconditioner;
    krylith::side side = krylith::side::right;
    int restart = solver_options{}.restart; ///< of solvers that restart
    std::string because;                    ///< why it is tried
    bool match_rows = false;                ///< with the rows of matched_rows

    [[nodiscard]] bool preconditioned() const { return preconditioner != identity::name(); }
};

struct candidates {
    std::vector<candidate> tried;      ///< simplest first: of equally fast ones the first is taken
    std::vector<std::string> left_out; ///< "cg: the matrix is not symmetric", one a line
};

/// The rules, for the solvers and preconditioners that the tables list. A pure function: the same
/// for equal statistics.
/// 1. Solvers that need a positive definite matrix where it is symmetric with a positive diagonal
///    and no entry proves it indefinite. Where positive definiteness is proved, nothing else.
/// 2. Otherwise the general solvers, and those that restart with a longer basis too if the matrix
///    has more than 30 rows, and with the basis that solve() takes if that is longer still.
/// 3. Each preconditioner that suits such solvers before none; none that is no use by its row, or
///    that is only for nodes of several unknowns where block_size is 1. General solvers get the
///    first pointwise one that doesn't need a positive definite matrix, last those that aren't
///    pointwise, made stronger too where their row says how, and before them those that are for
///    matrices like this one, such as multigrid for convection with diffusion.
/// 4. Preconditioners on the right, which works with the true residual. Pointwise ones, where the
///    diagonal spans more than a factor of 100: also on the left, and split if it is positive,
///    since these scale rows too. Those that scale both sides: split, with general solvers.
/// 5. Where `matched` has the statistics of the matrix with its rows matched
/// (partition/matched_rows.hpp),
///    general solvers on that, with preconditioners that are no use without.
[[nodiscard]] candidates choose_candidates(const matrix_statistics& s, const classification& kind,
                                           const row_sample& sample = {}, int block_size = 1,
                                           const matrix_statistics* matched = nullptr);

/// "gmres(50) + jacobi (left)".
[[nodiscard]] std::string name_of(const candidate& c);

enum class verdict {
    converged,  ///< to the tolerance asked for, by the true residual
    converging, ///< not yet, but the residual still falls: see estimate()
    unfinished, ///< the time ran out before the residual fell, or the iterations of a solve
    failed      ///< ended, or made no progress in as many iterations as a solve makes
};

struct trial {
    candidate method;
    verdict outcome = verdict::failed;
    std::string words; ///< why it failed or is unfinished; else empty
    std::int64_t iterations = 0;
    double seconds = 0;           ///< of the last, longest run: all set-up left out
    double making_seconds = 0;    ///< of the preconditioner
    double relative_residual = 1; ///< true
    double seconds_an_iteration = 0;
    std::int64_t limit = 0;               ///< iterations that a solve would make at most
    std::int64_t expected_iterations = 0; ///< to the tolerance; those it took if it converged
    /// To the tolerance, with making_seconds.
    double expected_seconds = std::numeric_limits<double>::infinity();
    std::vector<double> history; ///< ||r|| of the last run by iteration
    double rhs_norm = 0;
    double target = 0; ///< the norm to fall to
};

/// Extrapolates a run that was cut off: iterations to `target` from the best residual so far, at
/// the slower of the rates of all iterations and of their second half; 0 where the second half
/// did not halve the residual. `history` holds ||r|| from the start on.
[[nodiscard]] double expected_iterations(std::span<const double> history, double target);

/// A system on devices.
class trial_bench {
public:
    /// `rhs` has a value a row. The matrix and the vectors of `nodes` must outlive this.
    trial_bench(const device_group& group, const csr_matrix<double>& matrix,
                const operator_options& multiply, std::span<const double> rhs,
                const matrix_nodes& nodes = {});

    /// Makes the preconditioner, then runs of growing length, each from zero, until one ends by
    /// itself or `seconds` are used up (a first run of 20 iterations is always made). The
    /// iterations are limited as a solve would limit them, but an expectation beyond that is
    /// tested. `request` gives tolerances. Bad input and too little memory are failures of the
    /// trial; what else is thrown passes.
    [[nodiscard]] trial run(const candidate& method, const solve_request& request, double seconds);

    [[nodiscard]] const matrix_operator<double>& a() const { return *a_; }

private:
    const csr_matrix<double>& matrix_;
    matrix_nodes nodes_;
    std::unique_ptr<matrix_operator<double>> a_;
    vector<double> b_;
};

} // namespace krylith::tool

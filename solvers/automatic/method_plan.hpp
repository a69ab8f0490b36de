// The methods that suit an operator, by the tables of solvers and preconditioners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/precond/table/preconditioner_method.hpp>
#include <krylith/solvers/automatic/row_sample.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/table/solver_method.hpp>
#include <krylith/spmv/operator_facts.hpp>

namespace krylith {

/// Where M comes from.
enum class preconditioner_source {
    table,  ///< rows that suit and take their values from the operator
    matrix, ///< rows that suit; the matrix is there too
    given   ///< the caller has one, or wants none
};

struct planned_method {
    const solver_method* solver;
    const preconditioner_method* preconditioner; ///< null: none, or the caller's
    side on_side;
    int restart;
    std::string because; ///< "symmetric, positive diagonal varies by 1e6"
    /// After so many iterations the next is tried; 0: as many as the solver usually may.
    std::int64_t most_iterations = 0;
    std::string_view parameters = {}; ///< of the preconditioner, "KEY=VALUE:..."; empty: as usual
};

/// As many iterations of CG with a pointwise M, or none, take about as long as an M that must be
/// set up takes to be made and to solve a system that suits it.
inline constexpr std::int64_t cheap_iterations = 1000;

/// An M that must be set up, and needs more iterations, doesn't suit the system.
inline constexpr std::int64_t costly_iterations = 500;

/// An M that is told of near-null vectors comes first for systems that are smaller by this factor.
inline constexpr std::int64_t gain_of_near_null = 10;

/// Matrices of more nonzeros have no M that is made stronger: it may take a minute, and gigabytes.
inline constexpr std::int64_t most_strong_nonzeros = 1'000'000;

/// A hub is a row that has at least this part of all columns. Often every unknown is a few steps
/// from every other one then, which leaves coarse levels little to do, and these fill up.
inline constexpr double hub_part = 0.1;

/// The iterations that a hub gives the cheap M before an M that must be set up is tried.
inline constexpr std::int64_t hub_iterations = 250;

/// What the plan depends on beside the facts.
struct plan_setting {
    std::int64_t rows = 0;
    std::size_t value_bytes = sizeof(double);
    int least_restart = solver_options{}.restart;
    side given_side = side::right; ///< that was asked for; one that can't be split is on the right
    preconditioner_source source = preconditioner_source::table;
    bool varies = false;          ///< a preconditioner that is given differs between applications
    bool symmetric = true;        ///< or may be symmetric
    row_sample sample = {};       ///< of the matrix, if it is there
    std::int64_t nonzeros = 0;    ///< of the matrix, if it is there
    std::int64_t longest_row = 0; ///< its entries; 0: not known
    bool nodes = false;           ///< several unknowns a node, or near-null vectors, are known
    bool near_null = false;       ///< vectors that A maps to nearly 0 are known
    bool transposed = false;      ///< products with A' can be had
};

/// The bytes that a basis of a restarted method may take: reading them takes 10 ms on a CPU and 50
/// us on a GPU, which bounds an iteration.
inline constexpr std::int64_t most_basis_bytes = std::int64_t{1} << 27;

/// Returns the basis vectors of a method that restarts: as many as most_basis_bytes hold, at least
/// setting.least_restart, at most rows and 1000.
[[nodiscard]] int long_restart(const plan_setting& setting);

/// The diagonal scales rows where it spans more than this.
inline constexpr double wide_diagonal = 100;

/// Returns the methods in the order in which they are tried; a pure function, and never empty.
/// 1. Where the facts allow a symmetric positive definite matrix, the listed solvers that need one,
///    with each usable preconditioner: first the one that is for the largest of the systems that
///    this one is no smaller than (preconditioner_method::chosen_from), or none; the pointwise one,
///    or none, where the sample of rows says that this is easy, or, for hub_iterations, where there
///    is a hub. Near-null vectors make one that takes them the first for smaller systems, too. The
///    first has cheap_iterations, or costly_iterations if it isn't pointwise, as long as another
///    stands behind it; those that are never first have no such limit. Where its row says how, the
///    same M made stronger stands behind it, unless nodes or near-null vectors are known. At the
///    end stands again what is pointwise, or no M.
/// 2. The listed solvers that take any matrix, with the first usable preconditioner that does:
///    first those with short recurrences, then those that restart, whose long basis does not stall.
///    These have a pointwise M on the left where the diagonal spans more than wide_diagonal, since
///    it scales rows there, too.
///    Between them stand those that restart with each M that isn't pointwise, such as an incomplete
///    factorisation, for costly_iterations as long as another of these stands behind it, and where
///    its row says how the same M made stronger. Scaling on both sides
///    (preconditioner_method::scales_both_sides) stands before those without M where no M is
///    usable, else behind. Where the sample looks like convection with diffusion, those that
///    restart have an M for it (preconditioner_method::chosen_for_transport_from) for
///    costly_iterations: first where the system is large and not easy, else after half of
///    cheap_iterations of those with short recurrences, which make two products in each.
/// 3. Those that restart, without M, in case it harms; and those with short recurrences with M on
///    the left, where it scales rows.
/// 4. Unless M is given, those of least squares, which take A' too: they solve singular systems
///    whose b is in the range of A, and those whose eigenvalues surround 0, as a permutation has
///    (Nachtigal, Reddy, Trefethen, SIAM J. Matrix Anal. Appl. 13(3), 1992).
/// With a preconditioner that is given and varies, these are only the solvers that take one, listed
/// or not; one that is not symmetric leaves out those that need it.
/// A preconditioner is usable if the choice by facts may take it, its row says nothing against a
/// matrix with this diagonal, and it needs no matrix or that is there.
[[nodiscard]] std::vector<planned_method> plan_methods(const operator_facts& facts,
                                                       const plan_setting& setting);

/// Returns the facts in words: "symmetric, positive diagonal varies by 1e6".
[[nodiscard]] std::string in_words(const operator_facts& facts);

} // namespace krylith

// Algebraic multigrid as a preconditioner for symmetric positive definite A, by smoothed
// aggregation (Vanek, Mandel, Brezina, Computing 56, 1996) or classical coarsening (Ruge, Stueben,
// 1987), and for A that is not symmetric but has a positive diagonal that is not much smaller than
// the rest of its row, as convection with diffusion by upwind differences has (Sala, Tuminaro, SISC
// 31, 2008).
//
//     const amg<double> m(*a, matrix);
//     const solve_result result = cg(*a, b, x, {}, m);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/precond/matrix/matrix_preconditioner.hpp>
#include <krylith/precond/preconditioner/multigrid_level_facts.hpp>

namespace krylith {

enum class multigrid_cycle {
    v, ///< each level once down and once up
    w  ///< levels below the first two twice, for coefficients that jump
};

/// Which matrices a hierarchy is for.
enum class multigrid_kind {
    automatic,  ///< the first of these where A is symmetric, else the second
    symmetric,  ///< smoothed prolongations and their transposes
    unsymmetric ///< prolongations that aren't smoothed, restrictions smoothed by A'
};

/// What the unknowns of a coarse level are.
enum class multigrid_coarsening {
    automatic,   ///< the second where rows are rough or jumps everywhere, else the first
    aggregation, ///< sets of rows (precond/coarsening/smoothed_aggregation.hpp)
    /// Some of the rows (precond/coarsening/classical_coarsening.hpp): twice the memory, for
    /// coefficients without any smoothness, as of networks (precond/amg/rough_matrix.hpp). For
    /// symmetric A and one near-null vector.
    classical
};

/// What smooths the error before and after each coarse correction, by products with the matrix
/// alone (precond/amg/relaxations.cpp).
enum class multigrid_relaxation {
    automatic,  ///< jacobi for the unsymmetric kind, else chebyshev
    chebyshev,  ///< the Chebyshev polynomial of the fourth kind
    first_kind, ///< that of the first kind, of the upper nine tenths of the spectrum
    jacobi      ///< damped Jacobi
};

/// What update() keeps, and so what lies in memory for it.
enum class multigrid_reuse {
    automatic, ///< transfer from the first update() on, which makes all anew; before it nothing
    transfer,  ///< aggregates and patterns; prolongations are smoothed anew too
    values,    ///< prolongations with their values; coarse matrices are computed anew
    none       ///< nothing: update() makes all anew
};

enum class multigrid_precision {
    /// float, also where the solver works in double; but double where coefficients jump by so much
    /// that float would lose what is soft, or a coarse diagonal comes out as not positive:
    /// options() then says fp64
    fp32,
    fp64, ///< double; not for a solver in float
    /// float, and where rows are long and have many different values, entries of a level's matrix
    /// off the diagonal are numbers of 16 bits, which products on GPUs read as such
    /// (docs/kernels.md). The hierarchy is made of the exact matrices; these are rounded after it,
    /// and their diagonal takes up what the product with the near-null vector would change by. For
    /// one near-null vector.
    fp16
};

/// For systems of several unknowns a node, as of elasticity:
///
///     const std::vector<double> modes = rigid_body_modes(coordinates, 3);
///     const amg<double> m(*a, matrix, {.block_size = 3, .near_null = modes});
struct amg_options {
    /// Off-diagonal entries below theta sqrt(a_ii a_jj) are weak, and aggregates don't grow across
    /// them; half of it on each further level. Rows with large positive entries have a direction
    /// (aggregation_options::directions), which all levels follow where nearly all rows have one.
    double theta = 0.02;
    multigrid_relaxation relaxation = multigrid_relaxation::automatic;
    /// Of the relaxation before and after each coarse correction: its products with the matrix.
    int degree = 2;
    multigrid_cycle cycle = multigrid_cycle::v;
    /// Levels, from the first, whose aggregates are joined in pairs; -1: one if rows of A have at
    /// most 12 entries on average, else none. None where nearly all rows have a direction. -1 also
    /// makes boxes of points the aggregates of A where that is symmetric and its rows are those of
    /// a grid in two or three dimensions, coupled along at least two axes
    /// (aggregation_options::boxes).
    int aggressive = -1;
    int max_levels = 25;
    /// A coarse level of at most so many nonzeros, and all below it, are made on the first device
    /// and lie there, which spares exchanges. 0: on all devices.
    std::int64_t gathered_nonzeros = 8'000'000;
    /// Entries of coarse matrices that are below drop times the diagonal, in both of their rows,
    /// are moved to the diagonal where the finer matrix has no entries that small
    /// (amg/sparsification.hpp); with classical coarsening those below an eighth of that. 0: none.
    /// For symmetric A and one near-null vector, and not where nearly all rows have a direction.
    double drop = 0.015;
    multigrid_reuse reuse = multigrid_reuse::automatic;
    multigrid_precision precision = multigrid_precision::fp32;
    multigrid_kind kind = multigrid_kind::automatic;
    multigrid_coarsening coarsening = multigrid_coarsening::automatic;
    /// Of classical coarsening: row j influences row i where -a_ij v_j, v the near-null vector, is
    /// at least this part of the largest in row i. 0.01 to 1.
    double strong_threshold = 0.25;
    /// Rows of a node, consecutive ones: 1 to 12, a divisor of the number of rows. Aggregates are
    /// made of nodes. Devices must own whole nodes (operator_options::block_size sees to that), and
    /// rows have the caller's order; else nodes are single rows, and options() says 1. 0: as the
    /// pattern shows them (partition/nodes/block_size.hpp) where A is symmetric and no vectors are
    /// given, else 1.
    int block_size = 0;
    /// What A maps to nearly 0, besides boundaries: 1 to 12 vectors of n entries in the caller's
    /// order of rows, one vector after the other. Each coarse level has as many unknowns a node as
    /// there are vectors. The constructor copies them, and update() keeps them; options() has none.
    /// Empty: constants, one for each unknown of a node.
    std::span<const double> near_null = {};
};

/// The options that a text says, such as "amg:degree=3:cycle=w". Throws usage_error for other
/// texts.
[[nodiscard]] amg_options amg_options_of(std::string_view text);

/// A level of a hierarchy that another library has made, in host memory. The transfers of the last
/// level are not read.
template <class T>
struct multigrid_level_matrices {
    csr_view<T> a;
    csr_view<T> prolongation = {}; ///< from the next level to this one
    csr_view<T> restriction = {};  ///< from this level to the next one
};

namespace detail {
template <class T>
class amg_work;
}

/// One multigrid cycle as a preconditioner. Set-up and cycle run on the devices; iteration counts
/// and the hierarchy are the same on any number of devices. Each level is scaled to
/// D^-1/2 A D^-1/2 / rho, so that A may have any size; r is scaled by its norm on the way in.
///
/// An application makes 2 degree products on each level, one with a prolongation and one with a
/// restriction, and no inner product besides the norm of r. With fp32 precision everything between
/// r and z is float.
///
/// Constructors and updates throw usage_error for options out of range, for near-null vectors that
/// are 0 or not finite, and for another matrix, and input_error naming the first row whose diagonal
/// entry is not positive, or whose entries are not finite. A constructor that finds such a row in a
/// coarse matrix, since A is not definite, ends the hierarchy before it, as
/// levels().back().why_last says; the next update makes a new one. A refused update changes
/// nothing, unless memory runs out or it is interrupted on the way: M then can't be applied, which
/// throws usage_error, until an update succeeds.
template <class T>
class amg : public matrix_preconditioner<T> {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows. An operator for
    /// several columns at once (spmv/column_operator.hpp) makes an M for these: apply()
    /// then takes columns of norm 1 or 0, reads the hierarchy once for all, and there is no
    /// update().
    ///
    /// update() keeps what options.reuse says. All is made anew, and stays for the next update as
    /// options.reuse says, where a rebuild is due, and where the values are not for this hierarchy:
    /// they are symmetric and those before were not, or the reverse, relaxation was enough for
    /// those before and is not for them, or a coarse matrix of theirs has a diagonal that is not
    /// positive.
    amg(const matrix_operator<T>& a, const matrix_ref<T>& matrix, const amg_options& options = {});
    /// Takes levels as they are given, from A, in the caller's order of rows, to the coarsest: a
    /// coarse matrix need not be R A P, nor R be P'. Smoothers and the inverse of a last matrix of
    /// at most 200 rows are those of other hierarchies. M is symmetric where all matrices are, and
    /// each restriction is a positive multiple of the transposed prolongation. Of the options,
    /// relaxation, degree, cycle, max_levels, gathered_nonzeros, precision and kind count. There is
    /// no update(), which throws usage_error: given levels can't follow new values. Throws
    /// usage_error for sizes that don't fit, and input_error naming level and row for entries that
    /// are not finite and for diagonal entries that are not positive, which only a last matrix that
    /// is inverted may have: M is not symmetric then.
    amg(const matrix_operator<T>& a, std::span<const multigrid_level_matrices<T>> levels,
        const amg_options& options = {});

    /// Tells the iterations of a solve that converged. The first after a set-up is the measure: one
    /// with more than 1.5 times as many shows that the values have drifted away from those that the
    /// hierarchy was made for, and makes a rebuild due.
    void solved(std::int64_t iterations);
    [[nodiscard]] bool rebuild_due() const;
    /// Returns how often update() has made all anew because it was due, or the values were not for
    /// the hierarchy.
    [[nodiscard]] int rebuilds() const;

    /// Returns the text that makes it, such as "amg:theta=0.02:degree=2:cycle=v"; of given levels
    /// "amg_of_levels:degree=2:cycle=v", which makes none.
    [[nodiscard]] std::string name() const;

    /// The options in effect, without near_null; relaxation and kind are as they were asked for.
    [[nodiscard]] const amg_options& options() const;
    /// Whether M is symmetric, as cg() needs it: whether the hierarchy is one of the symmetric
    /// kind, and given transfers suit each other.
    [[nodiscard]] bool symmetric() const;
    /// The number of near-null vectors.
    [[nodiscard]] int near_null_vectors() const;
    /// From the first, A, to the coarsest.
    [[nodiscard]] std::vector<multigrid_level_facts> levels() const;
    /// The nonzeros, or rows, of all levels over those of A.
    [[nodiscard]] double operator_complexity() const;
    [[nodiscard]] double grid_complexity() const;

private:
    [[nodiscard]] detail::amg_work<T>& multigrid() const;
};

} // namespace krylith

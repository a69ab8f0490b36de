// The levels of a multigrid hierarchy and how they are made: matrices, prolongations and
// restrictions on the devices, in the hierarchy's own precision W.
//
// Level l has B_l = S_l A_l S_l / rho_l, where S_l = diag(A_l)^-1/2 and rho_l is Gershgorin's bound
// of the eigenvalues of D_l^-1 A_l: those of B_l are in [0, 1]. A_0 is the solver's matrix and
// A_(l + 1) = P_l' B_l P_l, maybe without small entries (sparsification.hpp). Operators take the
// scaling along: prolong is P_l S_(l + 1), and restrict is its transpose over rho_(l + 1), so that
// B_(l + 1) e = restrict r. Of given levels A_(l + 1), P_l and R_l are the given ones: P_l is first
// scaled to rho_l S_l^-1 P_l, and R_l to R_l S_l^-1 (given_levels.cpp). With precision fp16 the
// operator b, which smooths, has B_l rounded where that pays (rounded_level.hpp); all that is made
// of B_l, the next levels too, is made of its exact values.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/threads/side_tasks.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/amg/coarsenings.hpp>
#include <krylith/precond/amg/first_near_null.hpp>
#include <krylith/precond/amg/gathered_level.hpp>
#include <krylith/precond/amg/near_null_space.hpp>
#include <krylith/precond/amg/scaled_level.hpp>
#include <krylith/precond/amg/sparsification.hpp>
#include <krylith/precond/amg/unsymmetric_transfers.hpp>
#include <krylith/precond/coarsening/coarsening.hpp>
#include <krylith/precond/coarsening/smoothed_aggregation.hpp>

namespace krylith::detail {

/// What update() needs of a level and the next, beside matrices and transfers.
template <class W>
struct level_plans {
    std::unique_ptr<coarsening<W>> to_next = nullptr;
    std::optional<distributed_transposition<W>> transposition = {};
    std::optional<distributed_spgemm<W>> first = {};  ///< B P
    distributed_csr<W> between = {};                  ///< B P, without values
    std::optional<distributed_spgemm<W>> second = {}; ///< R (B P)
    std::optional<sparsification<W>> sparse = {};     ///< where small entries of that went
    std::optional<unsymmetric_transfers<W>> unsymmetric = {};

    /// What a matrix that is not symmetric is always coarsened by.
    [[nodiscard]] smoothed_aggregation<W>& aggregates() const {
        return static_cast<smoothed_aggregation<W>&>(*to_next);
    }
};

template <class W>
struct multigrid_level {
    layout_handle layout; ///< of all devices, also where the first has all rows
    /// B, on all devices or, where a level above was gathered, on the first alone; rounded as b
    /// is. Of it and the transfers only what drop_unread() leaves is kept.
    distributed_csr<W> matrix;
    distributed_csr<W> prolongation;
    distributed_csr<W> restriction;
    bool matrix_is_read = false; ///< in place, by b
    bool prolongation_is_read = false;
    bool restriction_is_read = false;
    diagonal_scaling scaling;              ///< on the devices of `matrix`, as near_null
    std::vector<std::int64_t> first_owned; ///< [rank] local column of the rank's first row
    std::vector<buffer<W>> near_null;      ///< [rank], on the rank's rows, [rows][vectors]
    int block = 1;                         ///< rows of a node
    int vectors = 1;                       ///< near-null vectors
    bool smoothed = true;                  ///< P to the next level, else P = T
    std::optional<level_plans<W>> plans;
    std::unique_ptr<matrix_operator<W>> b;        ///< null where `inverse` is not
    std::unique_ptr<matrix_operator<W>> prolong;  ///< null on the last level
    std::unique_ptr<matrix_operator<W>> restrict; ///< null on the last level
    std::unique_ptr<matrix_operator<W>> inverse;  ///< of B, on a last level of few rows
    /// Of what restrict gives: the next level's, unless that was gathered on the first device.
    layout_handle restricted;
    std::unique_ptr<matrix_operator<W>> copy; ///< I, from there to the next level; else null
    distributed_csr<W> spread; ///< its matrix on all devices, if update() needs it; else empty
    multigrid_level_facts facts;
};

/// What the vectors of a cycle are, where it is for several columns at once.
struct column_vectors {
    layout_handle fine; ///< of the first level's; null: one column
    int columns = 1;
};

template <class W>
class hierarchy {
public:
    /// Makes the hierarchy of a matrix of T, whose rows and columns are partitioned as `fine` says.
    template <class T>
    hierarchy(layout_handle fine, const distributed_csr<T>& a, const amg_options& options,
              near_null_space<W> given, const column_vectors& vectors = {});

    /// Makes the hierarchy of given levels, which has no update(); `none` is empty.
    template <class T>
    hierarchy(layout_handle fine, std::span<const multigrid_level_matrices<T>> given,
              const amg_options& options, near_null_space<W> none, const column_vectors& vectors);

    /// Takes new values of A, of the same pattern; only where keeps_plans(). Returns false where
    /// the hierarchy is not for these values: they are symmetric and those before were not, or the
    /// reverse, or need coarse levels that those before did not, or a coarse matrix has a diagonal
    /// that is not positive. It is not whole() until complete().
    template <class T>
    [[nodiscard]] bool update(const distributed_csr<T>& a, const amg_options& options);

    [[nodiscard]] std::deque<multigrid_level<W>>& levels() noexcept { return levels_; }
    [[nodiscard]] const std::deque<multigrid_level<W>>& levels() const noexcept { return levels_; }
    void complete() noexcept { whole_ = true; }
    /// Whether all levels are of one matrix: false after an update() that failed on the way, until
    /// one has succeeded.
    [[nodiscard]] bool whole() const noexcept { return whole_; }
    /// Whether its transfers are those of a matrix that is not symmetric.
    [[nodiscard]] bool unsymmetric() const noexcept { return unsymmetric_; }
    [[nodiscard]] const coarsening_method& way() const noexcept { return *way_; }
    /// Whether another way of coarsening should stand in: this one ended before the last level was
    /// small.
    [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }
    /// Whether a cycle is a symmetric matrix.
    [[nodiscard]] bool symmetric() const noexcept { return !unsymmetric_ && mirrored_; }
    /// Whether there is what update() needs, and worth it: a hierarchy that ended early because a
    /// coarse matrix was not definite should be made anew.
    [[nodiscard]] bool keeps_plans() const noexcept { return keeps_ && !cut_short_; }
    /// Whether more digits would make a better one: coefficients jump by so much that soft
    /// connections of stiff regions are lost beside their diagonals, and no level but the first was
    /// made, or a coarse diagonal came out as not positive, or the last matrix as not semidefinite,
    /// which happens to thin beams and plates.
    [[nodiscard]] bool lacks_digits() const noexcept {
        return rounded_away_ || cut_short_ || indefinite_;
    }
    /// The layout of the rows of A.
    [[nodiscard]] const layout_handle& fine() const noexcept { return fine_; }
    /// The near-null vectors of the user.
    [[nodiscard]] const near_null_space<W>& given() const noexcept { return given_; }
    /// The bytes on the device that keeps most.
    [[nodiscard]] std::int64_t bytes() const;

private:
    /// A matrix of at most so many rows is inverted.
    static constexpr std::int64_t inverted_rows = 200;

    void find_near_null();
    [[nodiscard]] bool loses_soft() const;
    void note_facts(multigrid_level<W>& level) const;
    void build(const amg_options& options);
    [[nodiscard]] aggregation_options aggregation_of(std::size_t at,
                                                     const amg_options& options) const;
    [[nodiscard]] std::unique_ptr<coarsening<W>>
    coarsening_of(std::size_t at, const distributed_csr<W>& graph, const amg_options& options);
    [[nodiscard]] std::unique_ptr<coarsening<W>>
    classical_unknowns(std::size_t at, const distributed_csr<W>& graph, const amg_options& options);
    [[nodiscard]] std::unique_ptr<coarsening<W>>
    aggregated_unknowns(std::size_t at, const distributed_csr<W>& graph,
                        const amg_options& options);
    [[nodiscard]] const coarsening_method& way_of(const amg_options& options) const;
    [[nodiscard]] bool leaves(std::size_t at, const relaxation_limits& most);
    [[nodiscard]] bool coarsen(std::size_t at, const amg_options& options, side_tasks& operators);
    [[nodiscard]] bool add_level(std::size_t at, const amg_options& options, side_tasks& operators,
                                 bool& fills_up);
    [[nodiscard]] std::optional<distributed_csr<W>> galerkin(std::size_t at,
                                                             const distributed_csr<W>& p,
                                                             level_plans<W>& plans,
                                                             distributed_csr<W>& r);
    [[nodiscard]] bool fills_up_with(std::int64_t nonzeros) const;
    [[nodiscard]] double most_product_entries(std::size_t at) const;
    [[nodiscard]] bool scale_next(std::size_t at, multigrid_level<W>& next);
    /// Drops small entries of R (B P) where the options say so and it pays; nothing where it stays.
    [[nodiscard]] std::optional<sparsification<W>> sparsify(const multigrid_level<W>& level,
                                                            const coarsening<W>& to_next,
                                                            const distributed_csr<W>& r,
                                                            distributed_csr<W>& coarse,
                                                            const amg_options& options) const;
    template <class T>
    [[nodiscard]] bool take_values(const distributed_csr<T>& a, const amg_options& options);
    [[nodiscard]] bool update_next(std::size_t at, const amg_options& options);
    void invert(multigrid_level<W>& last);
    void conclude(multigrid_level<W>& last, const amg_options& options) const;
    /// Frees what operators of the level don't read in place of its matrix and its transfers: their
    /// values, but for those that update() keeps, and the patterns that it doesn't need, which the
    /// first level's matrix has from A.
    void drop_unread(multigrid_level<W>& level, const amg_options& options) const;
    /// Gives the next level its layout, and returns its matrix, which goes to the first device
    /// where it has few rows.
    template <class T>
    [[nodiscard]] distributed_csr<T> place_next(multigrid_level<W>& level, multigrid_level<W>& next,
                                                distributed_csr<T> coarse,
                                                const amg_options& options) const;
    /// Scales the transfers of a level by the next.
    template <class T>
    void scale_transfers_of(multigrid_level<W>& level, const multigrid_level<W>& next,
                            distributed_csr<T>& prolongation,
                            distributed_csr<T>& restriction) const;
    /// Takes given transfers between level `at`, whose rows lie as `here` says, and the next, whose
    /// rows lie as `coarse` says before they are gathered.
    template <class T>
    void take_transfers(std::size_t at, const multigrid_level_matrices<T>& given,
                        const layout& here, const layout& coarse, const amg_options& options);
    void make_smoothed(multigrid_level<W>& level, const amg_options& options) const;
    /// Makes the operators of a level above a coarse one, whose matrices are there.
    void make_operators(multigrid_level<W>& level, const layout_handle& coarse,
                        const amg_options& options) const;
    [[nodiscard]] std::unique_ptr<matrix_operator<W>> make_product(const layout_handle& domain,
                                                                   const layout_handle& range,
                                                                   const distributed_csr<W>& matrix,
                                                                   bool& is_read) const;
    /// Makes vectors and operators those of several columns.
    void widen(const column_vectors& vectors);
    /// Rounds the matrix of a level where the options say so and it pays.
    void round_matrix(multigrid_level<W>& level, const amg_options& options) const;
    [[nodiscard]] bool looks_for_symmetry(const multigrid_level<W>& first,
                                          const amg_options& options) const;
    /// The least rho of a level.
    [[nodiscard]] double least_bound() const;

    layout_handle fine_;                    ///< of the rows of A
    std::deque<multigrid_level<W>> levels_; ///< they stay where they are while others are added
    near_null_space<W> given_;
    format_kind format_ = formats::automatic; ///< of the operators
    bool keeps_ = false;                      ///< what update() needs
    bool unsymmetric_ = false;
    const coarsening_method* way_ = &coarsening_rows::aggregation;
    bool gave_up_ = false;
    bool mirrored_ = true; ///< restrictions are multiples of transposed prolongations
    std::optional<relaxation_limits> relaxed_to_; ///< there is one level, since no more is left
    double largest_quotient_ = 1; ///< of the near-null vector of the first level, if none is given
    bool directed_ = false;       ///< nearly all rows of the first level have a direction
    bool cut_short_ = false;      ///< by a coarse matrix without a positive diagonal
    bool rounded_away_ = false;
    bool indefinite_ = false; ///< the matrix of the last level
    bool whole_ = true;
};

} // namespace krylith::detail

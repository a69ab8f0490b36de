#include <krylith/precond/amg/hierarchy.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/trace/set_up_phases.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/precond/amg/first_near_null.hpp>
#include <krylith/precond/amg/level_operators.hpp>
#include <krylith/precond/amg/lost_entries.hpp>
#include <krylith/precond/coarsening/grid_product.hpp>
#include <krylith/precond/coarsening/grid_restriction.hpp>
#include <krylith/precond/matrix/same_entries.hpp>
#include <krylith/precond/scaling/unit_diagonal.hpp>

namespace krylith::detail {

namespace {

/// Whether a thread may make one thing of a hierarchy beside another. Host devices have all cores
/// at work already, and several drivers must talk in one order.
bool works_beside(const communicator& comm) {
    return comm.kind() == backend::cuda && comm.has_one_driver();
}

/// A smoother that leaves no more of a random vector needs no coarse level that fills up: of random
/// graphs and circuits with few long rows the mean is 1e-4 to 1e-3, of trees with hubs 0.05. The
/// largest entry says nothing here: of networks in several pieces small ones stay as they are.
constexpr relaxation_limits little = {.mean = 0.01,
                                      .largest = std::numeric_limits<double>::infinity()};
/// And one that leaves no more needs none at all. Random graphs have 0.01 to 0.05, a mesh, or a
/// part of the matrix that is one, 0.15 and more.
constexpr relaxation_limits next_to_nothing = {.mean = 0.01, .largest = 0.05};
/// Rows of P of more entries, or of more than so many of those of B, are those of matrices without
/// locality: on meshes few neighbours of a row lie in aggregates of their own.
constexpr double scattered_entries = 8;
constexpr double scattered_part = 0.75;
/// A coarse matrix of at least so many rows is worth losing small entries.
constexpr std::int64_t sparsified_rows = 1000;
/// Where B P has more than this times the nonzeros of B, coarse matrices fill up.
constexpr double most_between = 4;
/// rho of a matrix that is not symmetric is at least this: its eigenvalues are complex, and an
/// estimate of the largest may be far too small.
constexpr double least_unsymmetric_bound = 1.6;

/// Whether P, of one near-null vector, says that B P would fill up.
template <class W>
bool is_scattered(const distributed_csr<W>& b, const distributed_csr<W>& p) {
    const auto entries = static_cast<double>(p.nonzeros());
    return entries > scattered_entries * static_cast<double>(p.rows()) ||
           entries > scattered_part * static_cast<double>(b.nonzeros());
}

/// Why a matrix ends the hierarchy.
template <class W>
std::string filled_up(const char* which, const distributed_csr<W>& matrix) {
    return std::string("coarse matrices fill up: ") + which + " has " +
           std::to_string(matrix.nonzeros()) + " nonzeros";
}

/// Makes R' of an unsymmetric B, the smoothed prolongation of B', of whose graph the aggregates
/// are.
template <class W, class Vectors>
unsymmetric_transfers<W>
smooth_restriction(const distributed_csr<W>& b, aggregation::mirrored_matrix<W>& mirrored,
                   smoothed_aggregation<W>& aggregates, const Vectors& near_null) {
    mirrored.take_transposed(b);
    aggregates.filter(mirrored.matrix());
    distributed_csr<W> smoothed = aggregates.prolongation(mirrored.matrix(), near_null);
    return {std::move(mirrored), std::move(smoothed)};
}

} // namespace

template <class W>
template <class T>
hierarchy<W>::hierarchy(layout_handle fine, const distributed_csr<T>& a, const amg_options& options,
                        near_null_space<W> given, const column_vectors& vectors)
    : fine_(std::move(fine)),
      given_(std::move(given)),
      keeps_(options.reuse != multigrid_reuse::none) {
    if (vectors.columns > 1) format_ = formats::csr;
    if (options.precision == multigrid_precision::fp16 && given_.vectors != 1)
        throw usage_error("amg_options::precision is fp16, for " + std::to_string(given_.vectors) +
                          " near-null vectors; allowed is 1, or precision fp32 or fp64");
    std::optional<set_up_phases> phases("scale the matrix");
    multigrid_level<W> first;
    first.layout = without_order(fine_);
    first.block = given_.block;
    first.vectors = given_.vectors;
    const bool looked_for = looks_for_symmetry(first, options);
    first.scaling = scaling_of(a, {"amg", 0, fine_.get()});
    mirror_sums mirrored;
    first.matrix = scaled<W>(a, first.scaling, looked_for ? &mirrored : nullptr);
    unsymmetric_ = looked_for ? mirrored.differ(first.matrix.nonzeros())
                              : options.kind == multigrid_kind::unsymmetric;
    if (worth_sharpening(first.scaling)) sharpen(first.matrix, first.scaling, least_bound());
    levels_.push_back(std::move(first));
    phases->begin("near-null vectors");
    find_near_null();
    if constexpr (sizeof(W) < sizeof(T)) {
        rounded_away_ = loses_soft();
        if (rounded_away_) return;
    }
    phases.reset();
    way_ = &way_of(options);
    build(options);
    if (vectors.columns > 1) widen(vectors);
}

/// Makes the near-null vectors of the first level, of those that were given or of ones.
template <class W>
void hierarchy<W>::find_near_null() {
    multigrid_level<W>& first = levels_.front();
    if (!given_.empty()) {
        first.near_null = scaled_vectors(given_, first.matrix, first.scaling);
        return;
    }
    near_null_vector<W> found = near_null_of(first.matrix, first.scaling);
    first.near_null = std::move(found.entries);
    largest_quotient_ = found.largest_quotient;
}

/// Whether soft connections of the first level's matrix are lost beside its diagonal.
template <class W>
bool hierarchy<W>::loses_soft() const {
    const multigrid_level<W>& first = levels_.front();
    return given_.empty() && first.block == 1 && !unsymmetric_ &&
           loses_soft_entries(first.matrix, first.near_null, largest_quotient_);
}

/// Whether the matrix is to say whether it is symmetric. Levels of one that is not have one
/// near-null vector.
template <class W>
bool hierarchy<W>::looks_for_symmetry(const multigrid_level<W>& first,
                                      const amg_options& options) const {
    const bool scalar = first.block == 1 && first.vectors == 1;
    if (options.kind == multigrid_kind::unsymmetric && !scalar)
        throw usage_error("amg_options::kind is unsymmetric, for nodes of " +
                          std::to_string(first.block) + " rows and " +
                          std::to_string(first.vectors) +
                          " near-null vectors; allowed is 1 of each");
    return options.kind == multigrid_kind::automatic && scalar;
}

template <class W>
double hierarchy<W>::least_bound() const {
    return unsymmetric_ ? least_unsymmetric_bound : 0;
}

template <class W>
void hierarchy<W>::note_facts(multigrid_level<W>& level) const {
    for (const local_columns& columns : level.matrix.all_columns())
        level.first_owned.push_back(columns.first_owned());
    level.facts.rows = level.matrix.rows();
    level.facts.nonzeros = level.matrix.nonzeros();
    level.facts.bound = level.scaling.bound;
}

template <class W>
void hierarchy<W>::build(const amg_options& options) {
    // Two threads, for levels in turn: much of the time goes in waits for counts.
    const communicator comm = levels_.front().matrix.comm();
    side_tasks operators[] = {side_tasks(works_beside(comm)), side_tasks(works_beside(comm))};
    for (std::size_t at = 0;; ++at) {
        multigrid_level<W>& level = levels_[at];
        side_tasks& of_level = operators[at % 2];
        note_facts(level);
        const bool most = static_cast<int>(at) + 1 >= options.max_levels;
        if (most && level.facts.rows > inverted_rows)
            level.facts.why_last = "amg_options::max_levels is " + std::to_string(at + 1);
        if (level.facts.rows > inverted_rows && options.precision != multigrid_precision::fp16)
            of_level.add([this, &level, &options] { make_smoothed(level, options); });
        if (level.facts.rows > inverted_rows && !most && coarsen(at, options, of_level)) continue;
        if (level.facts.rows <= inverted_rows) invert(level); // while operators are made
        for (side_tasks& tasks : operators) tasks.wait();
        return conclude(level, options);
    }
}

/// Scales the matrix of the level after number `at`. Returns false where it has no such scaling.
template <class W>
bool hierarchy<W>::scale_next(std::size_t at, multigrid_level<W>& next) {
    try {
        next.scaling = next.matrix.comm().together(
            [&] { return scale_coarse(next.matrix, at + 1, least_bound()); });
        return true;
    } catch (const input_error& not_definite) { // the smoother alone may still help
        cut_short_ = true;
        levels_[at].spread = {};
        levels_[at].facts.why_last =
            std::string("A is not positive definite: ") + not_definite.what();
        return false;
    }
}

/// Whether a coarse matrix of so many nonzeros makes the hierarchy cost more than it brings. What
/// several vectors bring to the first coarse level is no fill.
template <class W>
bool hierarchy<W>::fills_up_with(std::int64_t nonzeros) const {
    const multigrid_level<W>& first = levels_.front();
    const double growth = static_cast<double>(first.vectors) / first.block;
    const double most = static_cast<double>(first.facts.nonzeros) * growth * growth;
    double sum = static_cast<double>(nonzeros);
    for (std::size_t at = 1; at < levels_.size(); ++at)
        sum += static_cast<double>(levels_[at].facts.nonzeros);
    return static_cast<double>(nonzeros) > way_->most_level * most ||
           sum > way_->most_together * most;
}

/// The most nonzeros that B P of level `at` may have, counted in blocks of nodes: several vectors
/// bring more entries, not less locality.
template <class W>
double hierarchy<W>::most_product_entries(std::size_t at) const {
    const multigrid_level<W>& level = levels_[at];
    const double block_growth = static_cast<double>(level.vectors) / level.block;
    const auto entries = std::max(level.matrix.nonzeros(), levels_.front().facts.nonzeros);
    return most_between * static_cast<double>(entries) * block_growth;
}

/// Whether relaxation leaves no more of a random vector on a level. Where that ends the hierarchy
/// at its first level, update() asks again.
template <class W>
bool hierarchy<W>::leaves(std::size_t at, const relaxation_limits& most) {
    if (unsymmetric_ || !relaxes_to(levels_[at].matrix, most)) return false;
    if (at == 0) relaxed_to_ = most;
    return true;
}

/// Makes the level after number `at`, and has the operators of that one made. Returns false where
/// there is none that is much smaller. P = T where coarse matrices would fill up with a smoothed P,
/// as those of networks with hubs do, and the smoother alone won't do.
template <class W>
bool hierarchy<W>::coarsen(std::size_t at, const amg_options& options, side_tasks& operators) {
    multigrid_level<W>& level = levels_[at];
    bool fills_up = false;
    if (add_level(at, options, operators, fills_up)) return true;
    if (fills_up && ((at == 0 && relaxed_to_) || leaves(at, little))) return false;
    gave_up_ = !way_->has_unsmoothed;
    if (!fills_up || unsymmetric_ || gave_up_) return false;
    level.smoothed = false;
    if (!add_level(at, options, operators, fills_up)) return false;
    level.facts.why_last.clear();
    return true;
}

/// Makes R and R (B P), or R alone where B P fills up.
template <class W>
std::optional<distributed_csr<W>>
hierarchy<W>::galerkin(std::size_t at, const distributed_csr<W>& p, level_plans<W>& plans,
                       distributed_csr<W>& r) {
    multigrid_level<W>& level = levels_[at];
    const distributed_csr<W>& b = level.matrix;
    if (const aggregation::grid_boxes* const boxes = plans.to_next->boxes()) {
        r = aggregation::make_grid_restriction(*boxes, p);
        return aggregation::make_grid_product(*boxes, r, b, p);
    }
    side_tasks transpose(works_beside(b.comm()));
    transpose.add([&] {
        const trace_range range("restriction");
        const distributed_csr<W>& of = plans.unsymmetric ? plans.unsymmetric->smoothed : p;
        r = plans.transposition.emplace(of).take(of);
        if (!keeps_) plans.transposition.reset();
    });
    set_up_phases phases("B P");
    plans.first.emplace(b, p, plans.between);
    if (!keeps_) plans.first.reset();
    if (static_cast<double>(plans.between.nonzeros()) > most_product_entries(at)) {
        level.facts.why_last = filled_up("B P", plans.between);
        return std::nullopt;
    }
    transpose.wait();
    phases.begin("R (B P)");
    distributed_csr<W> product;
    plans.second.emplace(r, plans.between, product);
    if (!keeps_) plans.second.reset();
    plans.between = keeps_ ? plans.between.without_values() : distributed_csr<W>();
    return product;
}

/// The same with P as the level says it is.
template <class W>
bool hierarchy<W>::add_level(std::size_t at, const amg_options& options, side_tasks& operators,
                             bool& fills_up) {
    multigrid_level<W>& level = levels_[at];
    const distributed_csr<W>& b = level.matrix;
    set_up_phases phases("coarse unknowns");
    std::optional<aggregation::mirrored_matrix<W>> mirrored;
    if (unsymmetric_) mirrored.emplace(b);
    const distributed_csr<W>& graph = mirrored ? mirrored->matrix() : b;
    const auto near_null = pointers(level.near_null);
    level_plans<W> plans{.to_next = coarsening_of(at, graph, options)};
    if (!plans.to_next) return false;
    phases.begin("prolongation");
    distributed_csr<W> p;
    if (mirrored) {
        p = plans.aggregates().tentative(graph, near_null);
        plans.unsymmetric = smooth_restriction(b, *mirrored, plans.aggregates(), near_null);
    } else {
        p = plans.to_next->prolongation(graph, near_null);
    }
    fills_up = at == 0 && level.vectors == 1 && is_scattered(b, p) && leaves(at, next_to_nothing);
    if (fills_up) {
        level.facts.why_last = filled_up("P", p);
        return false;
    }
    phases.begin("coarse matrix");
    distributed_csr<W> r;
    std::optional<distributed_csr<W>> galerkin_product = galerkin(at, p, plans, r);
    fills_up = !galerkin_product;
    if (fills_up) return false;
    distributed_csr<W> product = *std::move(galerkin_product);
    plans.to_next->fill_dropped(product);
    fills_up = fills_up_with(product.nonzeros());
    if (fills_up) {
        level.facts.why_last = filled_up("the next", product);
        return false;
    }
    phases.begin("drop small entries");
    plans.sparse = sparsify(level, *plans.to_next, r, product, options);
    phases.begin("scale the coarse matrix");
    multigrid_level<W> next;
    next.matrix = place_next(level, next, std::move(product), options);
    if (!scale_next(at, next)) return false;
    scale_near_null(*plans.to_next, level, next);
    scale_transfers_of(level, next, p, r);
    level.prolongation = std::move(p);
    level.restriction = std::move(r);
    level.facts.next_rows = plans.to_next->in_words();
    if (keeps_) level.plans = std::move(plans);
    operators.add(
        [this, &level, &options, coarse = next.layout] { make_operators(level, coarse, options); });
    levels_.push_back(std::move(next));
    return true;
}

template <class W>
std::optional<sparsification<W>>
hierarchy<W>::sparsify(const multigrid_level<W>& level, const coarsening<W>& to_next,
                       const distributed_csr<W>& r, distributed_csr<W>& coarse,
                       const amg_options& options) const {
    const bool scalar = level.block == 1 && level.vectors == 1;
    if (options.drop == 0 || unsymmetric_ || directed_ || !scalar ||
        coarse.rows() < sparsified_rows)
        return {};
    distributed_csr<W> sparse;
    std::optional<sparsification<W>> result(std::in_place, level.matrix, 1 / level.scaling.bound,
                                            level.near_null, r, to_next, coarse,
                                            way_->drop * options.drop, sparse);
    if (sparse.rows() == 0) return {};
    coarse = std::move(sparse);
    return result;
}

template <class W>
template <class T>
distributed_csr<T> hierarchy<W>::place_next(multigrid_level<W>& level, multigrid_level<W>& next,
                                            distributed_csr<T> coarse,
                                            const amg_options& options) const {
    next.block = next.vectors = level.vectors;
    const communicator& all = level.layout->comm;
    const coherence kind = level.layout->kind;
    const bool spread = coarse.comm() == all;
    next.layout = level.restricted =
        spread ? std::make_shared<const layout>(layout{all, coarse.row_owners(), kind})
               : on_first_device(all, coarse.rows(), kind);
    if (!spread || all.ranks() == 1 || coarse.nonzeros() > options.gathered_nonzeros) return coarse;
    next.layout = on_first_device(all, coarse.rows(), kind);
    distributed_csr<T> there = gather(coarse);
    if constexpr (std::is_same_v<T, W>)
        if (keeps_) level.spread = std::move(coarse);
    return there;
}

template <class W>
template <class T>
void hierarchy<W>::scale_transfers_of(multigrid_level<W>& level, const multigrid_level<W>& next,
                                      distributed_csr<T>& prolongation,
                                      distributed_csr<T>& restriction) const {
    if (level.restricted == next.layout)
        return scale_transfers(next.scaling.bound, next.scaling.of_rows(next.matrix), prolongation,
                               restriction);
    const auto s = scatter_numbers(*level.restricted, next.scaling.s.front());
    scale_transfers(next.scaling.bound, pointers(s), prolongation, restriction);
}

/// The last level is smoothed where it is not inverted.
template <class W>
void hierarchy<W>::conclude(multigrid_level<W>& last, const amg_options& options) const {
    if (!last.inverse && !last.b) make_smoothed(last, options);
    drop_unread(last, options);
}

#define KRYLITH_INSTANTIATE(W, T)                                                                  \
    template hierarchy<W>::hierarchy(layout_handle, const distributed_csr<T>&, const amg_options&, \
                                     near_null_space<W>, const column_vectors&);                   \
    template distributed_csr<T> hierarchy<W>::place_next(                                          \
        multigrid_level<W>&, multigrid_level<W>&, distributed_csr<T>, const amg_options&) const;   \
    template void hierarchy<W>::scale_transfers_of(multigrid_level<W>&, const multigrid_level<W>&, \
                                                   distributed_csr<T>&, distributed_csr<T>&)       \
        const;

KRYLITH_INSTANTIATE(double, double)
KRYLITH_INSTANTIATE(float, double)
KRYLITH_INSTANTIATE(float, float)
#undef KRYLITH_INSTANTIATE

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template bool hierarchy<T>::looks_for_symmetry(const multigrid_level<T>&, const amg_options&)  \
        const;                                                                                     \
    template void hierarchy<T>::find_near_null();                                                  \
    template bool hierarchy<T>::loses_soft() const;                                                \
    template void hierarchy<T>::note_facts(multigrid_level<T>&) const;                             \
    template void hierarchy<T>::conclude(multigrid_level<T>&, const amg_options&) const;           \
    template double hierarchy<T>::least_bound() const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail

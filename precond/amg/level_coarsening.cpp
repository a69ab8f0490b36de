// How the unknowns of the level below a matrix are found.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/precond/amg/coarsenings.hpp>
#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/precond/amg/level_operators.hpp>
#include <krylith/precond/amg/rough_matrix.hpp>
#include <krylith/precond/coarsening/classical_coarsening.hpp>
#include <krylith/precond/coarsening/smoothed_aggregation.hpp>

namespace krylith::detail {

namespace {

/// Mean entries of a row up to which rows are those of a stencil along the axes: the aggregates of
/// longer ones are large as they are.
constexpr double short_rows = 12;
/// Finds aggregates of a graph, of which there are much fewer than rows, by strong couplings or by
/// weaker ones. Returns none, with the reason in `why`, where there are no such.
template <class W>
std::optional<smoothed_aggregation<W>>
few_aggregates(const distributed_csr<W>& graph, aggregation_options how, double theta,
               std::span<const W* const> near_null, std::string& why) {
    std::optional<smoothed_aggregation<W>> aggregates;
    std::int64_t coarse = 0;
    for (const double lower : {theta, theta / 10, 0.0}) {
        how.theta = lower;
        aggregates.emplace(graph, how, near_null);
        coarse = aggregates->coarse().rows();
        if (coarse == 0) continue;
        if (static_cast<double>(coarse) <=
            coarsening_rows::aggregation.most_rows * static_cast<double>(graph.rows()))
            return aggregates;
    }
    why = coarse == 0
              ? "no row has a neighbour"
              : "aggregation leaves " + std::to_string(coarse) + " rows: most have no neighbour";
    return std::nullopt;
}

} // namespace

template <class W>
aggregation_options hierarchy<W>::aggregation_of(std::size_t at, const amg_options& options) const {
    const multigrid_level<W>& first = levels_.front();
    const bool short_ones = static_cast<double>(first.facts.nonzeros) <=
                            short_rows * static_cast<double>(first.facts.rows) * first.block;
    const int pairs = options.aggressive >= 0       ? options.aggressive
                      : !unsymmetric_ && short_ones ? 1
                                                    : 0;
    const multigrid_level<W>& level = levels_[at];
    aggregation_options how;
    how.aggressive = static_cast<int>(at) < pairs;
    how.boxes = at == 0 && options.aggressive < 0 && !unsymmetric_;
    how.block_size = level.block;
    how.vectors = level.vectors;
    how.smooth = level.smoothed;
    how.directions = (at == 0 || directed_) && level.scaling.any_positive;
    if (level.scaling.sharp && !unsymmetric_) how.known_bound = level.scaling.bound;
    return how;
}

/// The way that was asked for; where that is none, the classical one of a rough matrix.
template <class W>
const coarsening_method& hierarchy<W>::way_of(const amg_options& options) const {
    const multigrid_level<W>& first = levels_.front();
    const bool scalar = first.block == 1 && first.vectors == 1;
    if (options.coarsening == multigrid_coarsening::automatic) {
        const bool rough =
            scalar && !unsymmetric_ && first.matrix.rows() > inverted_rows &&
            is_rough(first.matrix, 1 / first.scaling.bound, amg_options().theta, first.near_null);
        return rough ? coarsening_rows::classical : coarsening_rows::aggregation;
    }
    const coarsening_method& asked =
        **std::ranges::find(coarsening_rows::all, options.coarsening, &coarsening_method::kind);
    if (asked.of_nodes) return asked;
    const std::string is = "amg_options::coarsening is " + std::string(asked.name);
    if (unsymmetric_)
        throw usage_error(is + ", for the unsymmetric kind, which matrices that are not symmetric "
                               "have; allowed is aggregation");
    if (!scalar)
        throw usage_error(is + ", for nodes of " + std::to_string(first.block) +
                          (first.block == 1 ? " row and " : " rows and ") +
                          std::to_string(first.vectors) +
                          " near-null vectors; allowed is 1 of each (block_size=1 takes each row "
                          "for a node), or aggregation");
    return asked;
}

template <class W>
std::unique_ptr<coarsening<W>> hierarchy<W>::classical_unknowns(std::size_t at,
                                                                const distributed_csr<W>& graph,
                                                                const amg_options& options) {
    multigrid_level<W>& level = levels_[at];
    const auto near_null = pointers(level.near_null);
    auto found = std::make_unique<classical_coarsening<W>>(
        graph, classical_options{.strong_threshold = options.strong_threshold}, near_null);
    const std::int64_t coarse = found->coarse().rows();
    if (coarse != 0 &&
        static_cast<double>(coarse) <= way_->most_rows * static_cast<double>(graph.rows()))
        return found;
    if (at == 0 && coarse == 0) rounded_away_ = true; // in fp32 v may have under- or overflown
    level.facts.why_last = "classical coarsening leaves " + std::to_string(coarse) + " rows";
    return nullptr;
}

template <class W>
std::unique_ptr<coarsening<W>> hierarchy<W>::aggregated_unknowns(std::size_t at,
                                                                 const distributed_csr<W>& graph,
                                                                 const amg_options& options) {
    multigrid_level<W>& level = levels_[at];
    const auto near_null = pointers(level.near_null);
    std::optional<smoothed_aggregation<W>> aggregates = few_aggregates(
        graph, aggregation_of(at, options), std::ldexp(options.theta, -static_cast<int>(at)),
        unsymmetric_ ? std::span<const W* const>() : std::span<const W* const>(near_null),
        level.facts.why_last);
    if (!aggregates) return nullptr;
    if (at == 0) directed_ = aggregates->directed();
    return std::make_unique<smoothed_aggregation<W>>(std::move(*aggregates));
}

/// Finds the unknowns of the level after number `at`. Null where they are not much fewer, with the
/// reason in the facts of level `at`.
template <class W>
std::unique_ptr<coarsening<W>> hierarchy<W>::coarsening_of(std::size_t at,
                                                           const distributed_csr<W>& graph,
                                                           const amg_options& options) {
    return way_->kind == multigrid_coarsening::classical ? classical_unknowns(at, graph, options)
                                                         : aggregated_unknowns(at, graph, options);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template aggregation_options hierarchy<T>::aggregation_of(std::size_t, const amg_options&)     \
        const;                                                                                     \
    template const coarsening_method& hierarchy<T>::way_of(const amg_options&) const;              \
    template std::unique_ptr<coarsening<T>> hierarchy<T>::coarsening_of(                           \
        std::size_t, const distributed_csr<T>&, const amg_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail

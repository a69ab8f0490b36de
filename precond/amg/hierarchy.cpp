#include <krylith/precond/amg/hierarchy.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/precond/amg/dense_inverse.hpp>
#include <krylith/precond/amg/unit_diagonal.hpp>
#include <krylith/spmv/products/column_exchange.hpp>

namespace krylith::detail {

namespace {

/// A matrix of at most so many rows is inverted.
constexpr std::int64_t inverted_rows = 128;
/// Aggregation that leaves more than this fraction of the rows is tried with a lower threshold.
constexpr double slow_coarsening = 1 / 1.7;
/// Matrices without locality, as of random graphs, fill up: where B P has more than this times the
/// nonzeros of B, or the coarse matrix more than B, coarse levels would cost more than they bring.
constexpr double most_between = 4;
/// rho of a matrix that is not symmetric is at least this: its eigenvalues are complex, and an
/// estimate of the largest may be far too small.
constexpr double least_unsymmetric_bound = 1.6;
/// Mean entries of a row up to which rows are short.
constexpr double short_rows = 12;

constexpr const char* item = "preconditioner";

/// Whether rows are not those of a stencil along the axes: their aggregates are large as they are,
/// and Gershgorin's bound is not sharp.
template <class T>
bool has_long_rows(const distributed_csr<T>& a) {
    return static_cast<double>(a.nonzeros()) > short_rows * static_cast<double>(a.rows());
}

/// The defect of a vector, given on the rows of each rank, as a near-null vector of B.
template <class W>
std::uint64_t defect_of(const distributed_csr<W>& b, const std::vector<buffer<W>>& v) {
    const device_group& group = b.group();
    std::vector<buffer<W>> local;
    std::vector<W*> arrays;
    for (int rank = 0; rank < group.size(); ++rank) {
        const local_columns& columns = b.columns_of(rank);
        local.emplace_back(group.handle(rank), static_cast<std::size_t>(columns.count()), item);
        arrays.push_back(local.back().data());
        const auto& own = v[static_cast<std::size_t>(rank)];
        if (own.size() != 0)
            group[rank].copy(arrays.back() + columns.first_owned(), own.data(),
                             own.size() * sizeof(W));
    }
    column_exchange(group, b.all_columns()).fill(std::span<W* const>(arrays));
    std::vector<buffer<std::uint64_t>> sums;
    for (int rank = 0; rank < group.size(); ++rank) {
        sums.emplace_back(group.handle(rank), 1, item);
        sums.back().zero();
        null_defect(group[rank], b.block(rank).view(), arrays[static_cast<std::size_t>(rank)],
                    sums.back().data());
    }
    std::uint64_t all = 0;
    for (const auto& sum : sums) all += sum.download().front();
    return all;
}

/// The near-null vector of A in the variables of B = S A S, its largest entry 1: S^-1 1, for A that
/// comes of differences of unknowns, or 1, where that fits better: A has then been scaled by its
/// user, as D A D is.
template <class W>
std::vector<buffer<W>> near_null_of(const distributed_csr<W>& b, const level_scaling& by) {
    const device_group& group = b.group();
    std::vector<buffer<W>> inverse;
    std::vector<buffer<W>> ones;
    for (int rank = 0; rank < group.size(); ++rank) {
        const std::int64_t rows = b.row_owners().owned(rank).size();
        for (auto* v : {&inverse, &ones})
            v->emplace_back(group.handle(rank), static_cast<std::size_t>(rows), item);
        divide_by_scale<W>(group[rank], rows, 1 / by.inverse, nullptr, by.owned(b, rank),
                           inverse.back().data());
        round_scale<W>(group[rank], rows, 1, by.owned(b, rank), ones.back().data());
        divide_by_scale<W>(group[rank], rows, 1, ones.back().data(), by.owned(b, rank),
                           ones.back().data()); // 1, but for a rounding
    }
    if (by.largest * by.inverse <= 1 + 1e-6) return inverse; // the diagonal is constant
    return 2 * defect_of(b, ones) < defect_of(b, inverse) ? std::move(ones) : std::move(inverse);
}

template <class W>
std::vector<const W*> pointers(const std::vector<buffer<W>>& buffers) {
    std::vector<const W*> result;
    for (const auto& one : buffers) result.push_back(one.data());
    return result;
}

/// The near-null vectors of a coarse level in its scaled variables.
template <class W>
void scale_near_null(const smoothed_aggregation<W>& aggregates, const distributed_csr<W>& coarse,
                     const level_scaling& by, int vectors, std::vector<buffer<W>>& v) {
    const device_group& group = coarse.group();
    for (int rank = 0; rank < group.size(); ++rank) {
        const std::int64_t rows = coarse.row_owners().owned(rank).size();
        if (static_cast<int>(v.size()) == rank)
            v.emplace_back(group.handle(rank), static_cast<std::size_t>(rows * vectors), item);
        scale_vectors<W>(group[rank], rows, vectors, 1 / by.inverse,
                         aggregates.coarse_near_null(rank), by.owned(coarse, rank),
                         v[static_cast<std::size_t>(rank)].data());
    }
}

/// The values of each rank, for update_on_devices().
template <class W>
void update(matrix_operator<W>& of, const distributed_csr<W>& matrix) {
    std::vector<const W*> values;
    for (int rank = 0; rank < matrix.group().size(); ++rank)
        values.push_back(matrix.block(rank).view().values);
    of.update_on_devices(std::span<const W* const>(values));
}

/// Whether operators read the arrays of matrices that are kept for update(): formats for GPUs have
/// an order of their own, which is worth a copy.
bool reads_in_place(const device_group& group) {
    return group.kind() == backend::host && group.size() == 1;
}

/// The operator of a matrix of the hierarchy, which may be kept: what needs no look at costs.
template <class W, class Matrix>
std::unique_ptr<matrix_operator<W>> make_level_operator(const layout_handle& domain,
                                                        const layout_handle& range,
                                                        const Matrix& matrix, bool kept) {
    operator_options options;
    options.borrow = kept && reads_in_place(domain->group);
    options.kind = domain->kind == coherence::owned ? operators::halo : operators::nz;
    return make_operator(operator_layouts{domain, range}, matrix, options);
}

/// The inverse of the last level's matrix.
template <class W>
csr_matrix<W> inverse_of(const multigrid_level<W>& level, bool unsymmetric) {
    const csr_matrix<W> whole = level.matrix.download();
    if (unsymmetric) return general_inverse(csr_view<W>(whole));
    std::vector<W> v;
    if (level.vectors == 1)
        for (const buffer<W>& own : level.near_null) {
            const std::vector<W> part = own.download();
            v.insert(v.end(), part.begin(), part.end());
        }
    return dense_inverse(csr_view<W>(whole), std::span<const W>(v));
}

} // namespace

template <class W>
template <class T>
hierarchy<W>::hierarchy(layout_handle fine, distributed_csr<T> a, const amg_options& options,
                        near_null_space<W> given)
    : given_(std::move(given)) {
    multigrid_level<W> first;
    first.layout = std::move(fine);
    first.scaling = scaling_of(a, 0);
    first.matrix = scaled<W>(std::move(a), first.scaling);
    first.block = given_.block;
    first.vectors = given_.vectors;
    unsymmetric_ = is_unsymmetric(first, options);
    if (has_long_rows(first.matrix)) sharpen(first.matrix, first.scaling, least_bound());
    for (const local_columns& columns : first.matrix.all_columns())
        first.first_owned.push_back(columns.first_owned());
    levels_.push_back(std::move(first));
    find_near_null();
    build(options);
}

/// Makes the near-null vectors of the first level, of those that were given or of ones.
template <class W>
void hierarchy<W>::find_near_null() {
    multigrid_level<W>& first = levels_.front();
    first.near_null = given_.empty() ? near_null_of(first.matrix, first.scaling)
                                     : scaled_vectors(given_, first.matrix, first.scaling);
}

/// Whether the levels are to be those of a matrix that is not symmetric, which have one near-null
/// vector.
template <class W>
bool hierarchy<W>::is_unsymmetric(const multigrid_level<W>& first,
                                  const amg_options& options) const {
    const bool scalar = first.block == 1 && first.vectors == 1;
    if (options.kind == multigrid_kind::unsymmetric && !scalar)
        throw usage_error("amg_options::kind is unsymmetric, for nodes of " +
                          std::to_string(first.block) + " rows and " +
                          std::to_string(first.vectors) +
                          " near-null vectors; allowed is 1 of each");
    if (options.kind == multigrid_kind::automatic)
        return scalar && differs_from_transpose(first.matrix, first.scaling.bound);
    return options.kind == multigrid_kind::unsymmetric;
}

template <class W>
double hierarchy<W>::least_bound() const {
    return unsymmetric_ ? least_unsymmetric_bound : 0;
}

template <class W>
void hierarchy<W>::build(const amg_options& options) {
    for (std::size_t at = 0;; ++at) {
        multigrid_level<W>& level = levels_[at];
        level.facts.rows = level.matrix.rows();
        level.facts.nonzeros = level.matrix.nonzeros();
        level.facts.bound = level.scaling.bound;
        const bool most = static_cast<int>(at) + 1 >= options.max_levels;
        if (most && level.facts.rows > inverted_rows)
            level.facts.why_last = "amg_options::max_levels is " + std::to_string(at + 1);
        const bool last = level.facts.rows <= inverted_rows || most || !coarsen(at, options);
        if (last) conclude(levels_[at], options);
        multigrid_level<W>& made = levels_[at]; // coarsen() adds a level
        if (made.b) made.facts.format = made.b->format_name();
        if (options.reuse == multigrid_reuse::none) {
            made.matrix = {};
            made.plans.reset();
        }
        if (last) return;
    }
}

/// Makes the level after number `at`, and the operators of that one. Returns false where there is
/// none that is much smaller.
template <class W>
bool hierarchy<W>::coarsen(std::size_t at, const amg_options& options) {
    multigrid_level<W>& level = levels_[at];
    const distributed_csr<W>& b = level.matrix;
    const auto end = [&](std::string why) {
        level.facts.why_last = std::move(why);
        return false;
    };
    const int pairs = options.aggressive >= 0 ? options.aggressive
                      : !unsymmetric_ && static_cast<double>(levels_.front().facts.nonzeros) <=
                                             short_rows *
                                                 static_cast<double>(levels_.front().facts.rows) *
                                                 levels_.front().block
                          ? 1
                          : 0;
    aggregation_options how;
    how.aggressive = static_cast<int>(at) < pairs;
    how.gathered_rows = options.gathered_rows;
    how.block_size = level.block;
    how.vectors = level.vectors;
    if (level.scaling.sharp && !unsymmetric_) how.known_bound = level.scaling.bound;
    std::optional<aggregation::mirrored_matrix<W>> mirrored;
    if (unsymmetric_) mirrored.emplace(b);
    const distributed_csr<W>& graph = mirrored ? mirrored->matrix() : b;
    const double theta = std::ldexp(options.theta, -static_cast<int>(at));
    std::optional<smoothed_aggregation<W>> aggregates;
    for (const double lower : {theta, theta / 10, 0.0}) {
        how.theta = lower;
        aggregates.emplace(graph, how);
        const std::int64_t coarse = aggregates->coarse().rows();
        if (coarse == 0) return end("no row has a neighbour");
        if (static_cast<double>(coarse) <= slow_coarsening * static_cast<double>(b.rows())) break;
        if (lower == 0)
            return end("aggregation leaves " + std::to_string(coarse) +
                       " rows: most have no neighbour");
    }

    const auto near_null = pointers(level.near_null);
    distributed_csr<W> p = unsymmetric_ ? aggregates->tentative(graph, near_null)
                                        : aggregates->prolongation(graph, near_null);
    std::optional<unsymmetric_transfers<W>> unsymmetric;
    if (mirrored) {
        mirrored->take_transposed(b);
        aggregates->filter(graph);
        distributed_csr<W> smoothed = aggregates->prolongation(graph, near_null);
        unsymmetric.emplace(unsymmetric_transfers<W>{std::move(*mirrored), std::move(smoothed)});
    }
    const distributed_csr<W>& transposed = unsymmetric ? unsymmetric->smoothed : p; // R'
    distributed_transposition<W> transposition(transposed);
    distributed_csr<W> r = transposition.take(transposed);
    distributed_spgemm<W> first(b, p);
    distributed_csr<W> between = first.take(b, p);
    // Counted in blocks of nodes: several vectors bring more entries, not less locality.
    const double block_growth = static_cast<double>(level.vectors) / level.block;
    const auto entries = static_cast<double>(b.nonzeros()) * block_growth;
    if (static_cast<double>(between.nonzeros()) > most_between * entries)
        return end("coarse matrices fill up: B P has " + std::to_string(between.nonzeros()) +
                   " nonzeros");
    distributed_spgemm<W> second(r, between);

    multigrid_level<W> next;
    next.block = next.vectors = level.vectors;
    next.matrix = second.take(r, between);
    aggregates->fill_dropped(next.matrix);
    if (static_cast<double>(next.matrix.nonzeros()) > entries * block_growth)
        return end("coarse matrices fill up: the next has " +
                   std::to_string(next.matrix.nonzeros()) + " nonzeros");
    next.layout = std::make_shared<const layout>(
        layout{level.layout->group, aggregates->coarse(), level.layout->kind});
    try {
        next.scaling = scale_coarse(next.matrix, at + 1, least_bound());
    } catch (const input_error& not_definite) { // the smoother alone may still help
        cut_short_ = true;
        return end(std::string("A is not positive definite: ") + not_definite.what());
    }
    scale_near_null(*aggregates, next.matrix, next.scaling, next.vectors, next.near_null);
    scale_transfers(next.scaling, next.matrix, p, r);

    const bool kept = options.reuse != multigrid_reuse::none;
    level.b = make_level_operator<W>(level.layout, level.layout, b, kept);
    level.prolong = make_level_operator<W>(next.layout, level.layout, p, kept);
    level.restrict = make_level_operator<W>(level.layout, next.layout, r, kept);
    level.plans.emplace(level_plans<W>{
        std::move(*aggregates), std::move(p), std::move(transposition), std::move(r),
        std::move(first), std::move(between), std::move(second), std::move(unsymmetric)});
    levels_.push_back(std::move(next));
    return true;
}

/// The last level is inverted where it is small, and smoothed else.
template <class W>
void hierarchy<W>::conclude(multigrid_level<W>& last, const amg_options& options) {
    if (last.facts.rows <= inverted_rows) {
        last.inverse =
            make_level_operator<W>(last.layout, last.layout, inverse_of(last, unsymmetric_), false);
        last.facts.format = "dense inverse";
    } else {
        last.b = make_level_operator<W>(last.layout, last.layout, last.matrix,
                                        options.reuse != multigrid_reuse::none);
    }
}

template <class W>
template <class T>
void hierarchy<W>::update(distributed_csr<T> a, const amg_options& options) {
    levels_.front().scaling = scaling_of(a, 0);
    whole_ = false; // until all has new values
    scale(a, levels_.front().scaling, levels_.front().matrix);
    if (has_long_rows(a)) sharpen(levels_.front().matrix, levels_.front().scaling, least_bound());
    find_near_null();
    for (std::size_t at = 0; at < levels_.size(); ++at) {
        multigrid_level<W>& level = levels_[at];
        level.facts.bound = level.scaling.bound;
        if (level.inverse) {
            level.inverse->update(inverse_of(level, unsymmetric_).values);
        } else {
            detail::update(*level.b, level.matrix);
        }
        if (!level.plans) continue;
        level_plans<W>& plans = *level.plans;
        if (options.reuse == multigrid_reuse::transfer) {
            const auto near_null = pointers(level.near_null);
            if (plans.unsymmetric) {
                plans.unsymmetric->refresh(plans.aggregates, level.matrix, near_null,
                                           plans.prolongation);
                plans.transposition.apply(plans.unsymmetric->smoothed, plans.restriction);
            } else {
                if (level.scaling.sharp) plans.aggregates.know_bound(level.scaling.bound);
                plans.aggregates.refresh(level.matrix, near_null, plans.prolongation);
                plans.transposition.apply(plans.prolongation, plans.restriction);
            }
        }
        multigrid_level<W>& next = levels_[at + 1];
        plans.first.refresh(level.matrix, plans.prolongation, plans.between);
        plans.second.refresh(plans.restriction, plans.between, next.matrix);
        plans.aggregates.fill_dropped(next.matrix);
        next.scaling = scale_coarse(next.matrix, at + 1, least_bound());
        if (options.reuse == multigrid_reuse::transfer)
            scale_near_null(plans.aggregates, next.matrix, next.scaling, next.vectors,
                            next.near_null);
        scale_transfers(next.scaling, next.matrix, plans.prolongation, plans.restriction);
        detail::update(*level.prolong, plans.prolongation);
        detail::update(*level.restrict, plans.restriction);
    }
}

template <class W>
std::int64_t hierarchy<W>::bytes() const {
    std::int64_t sum = given_.bytes();
    for (const multigrid_level<W>& level : levels_) {
        sum += level.matrix.bytes();
        const bool counted = level.matrix.rows() != 0 && reads_in_place(level.layout->group);
        for (const auto* of :
             {level.b.get(), level.prolong.get(), level.restrict.get(), level.inverse.get()}) {
            if (of == nullptr || (counted && of != level.inverse.get())) continue;
            std::int64_t most = 0;
            for (int rank = 0; rank < level.layout->group.size(); ++rank)
                most = std::max(most, of->matrix_bytes(rank));
            sum += most;
        }
        std::int64_t most = 0;
        for (int rank = 0; rank < level.layout->group.size(); ++rank)
            most = std::max(
                most, static_cast<std::int64_t>(
                          level.scaling.s[static_cast<std::size_t>(rank)].size() * sizeof(double) +
                          level.near_null[static_cast<std::size_t>(rank)].size() * sizeof(W)));
        sum += most;
        if (!level.plans) continue;
        const level_plans<W>& plans = *level.plans;
        sum += plans.aggregates.bytes() + plans.prolongation.bytes() + plans.transposition.bytes() +
               plans.restriction.bytes() + plans.first.bytes() + plans.between.bytes() +
               plans.second.bytes() + (plans.unsymmetric ? plans.unsymmetric->bytes() : 0);
    }
    return sum;
}

template class hierarchy<double>;
template class hierarchy<float>;
#define KRYLITH_HIERARCHY(W, T)                                                                    \
    template hierarchy<W>::hierarchy(layout_handle, distributed_csr<T>, const amg_options&,        \
                                     near_null_space<W>);                                          \
    template void hierarchy<W>::update(distributed_csr<T>, const amg_options&);

KRYLITH_HIERARCHY(double, double)
KRYLITH_HIERARCHY(float, double)
KRYLITH_HIERARCHY(float, float)

} // namespace krylith::detail

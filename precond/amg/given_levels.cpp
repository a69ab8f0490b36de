// Hierarchies of levels that were given.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/precond/amg/first_near_null.hpp>
#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/precond/amg/level_operators.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/matrix/same_entries.hpp>

namespace krylith::detail {

namespace {

/// `what` names the matrix in messages.
template <class T>
void check_given(const std::string& what, const csr_view<T>& matrix, std::int64_t rows,
                 std::int64_t columns) {
    const auto size = [](std::int64_t m, std::int64_t n) {
        return std::to_string(m) + " x " + std::to_string(n);
    };
    if (matrix.rows != rows || matrix.columns != columns)
        throw usage_error("amg: " + what + " is " + size(matrix.rows, matrix.columns) +
                          "; allowed is " + size(rows, columns));
    try {
        (void)validate(matrix);
    } catch (const input_error& e) {
        throw input_error("amg: " + what + ": " + e.what());
    }
    const auto bad = std::ranges::find_if_not(matrix.values, [](T v) { return std::isfinite(v); });
    if (bad == matrix.values.end()) return;
    const auto after = std::ranges::upper_bound(matrix.row_offsets, bad - matrix.values.begin());
    throw input_error("amg: row " + std::to_string(after - matrix.row_offsets.begin() - 1) +
                      " (counted from 0) of " + what + " has the entry " + number_text(*bad) +
                      "; all entries must be finite");
}

/// Checks all but the diagonals, which are looked at where they are scaled.
template <class T>
void check_levels(std::int64_t rows, std::span<const multigrid_level_matrices<T>> levels) {
    if (levels.empty()) throw usage_error("amg: no levels were given; allowed is A at least");
    for (std::size_t at = 0; at < levels.size(); ++at) {
        const std::string of_level = " of level " + std::to_string(at);
        check_given("the matrix" + of_level, levels[at].a, rows, rows);
        if (at + 1 == levels.size()) return;
        const std::int64_t coarse = levels[at + 1].a.rows;
        check_given("the prolongation" + of_level, levels[at].prolongation, rows, coarse);
        check_given("the restriction" + of_level, levels[at].restriction, coarse, rows);
        rows = coarse;
    }
}

/// The place of the largest magnitude; there is one value at least.
template <class T>
std::size_t largest_entry(std::span<const T> values) {
    const auto smaller = [](T a, T b) { return std::fabs(a) < std::fabs(b); };
    return static_cast<std::size_t>(std::ranges::max_element(values, smaller) - values.begin());
}

/// Whether R is a positive multiple of P', up to rounding.
template <class T>
bool mirrors(const csr_view<T>& r, const csr_view<T>& p) {
    constexpr double rounding = 1e-6; // of the largest entry
    const csr_matrix<T> expected = transpose(p);
    const csr_matrix<T> given = transpose(transpose(r)); // columns ascend in both
    if (given.row_offsets != expected.row_offsets ||
        given.column_indices != expected.column_indices)
        return false;
    if (p.nnz() == 0) return true;
    const std::size_t most = largest_entry<T>(expected.values);
    const auto mirror = static_cast<double>(given.values[most]);
    const double factor = mirror / static_cast<double>(expected.values[most]);
    return factor > 0 && std::ranges::equal(given.values, expected.values, [&](T a, T b) {
               return std::fabs(static_cast<double>(a) - factor * static_cast<double>(b)) <=
                      rounding * std::fabs(mirror);
           });
}

/// S that divides all of A by its largest magnitude.
template <class T>
diagonal_scaling uniform_scaling(const distributed_csr<T>& a, std::span<const T> values) {
    const auto largest = std::fabs(static_cast<double>(values[largest_entry(values)]));
    const double s = largest > 0 ? 1 / std::sqrt(largest) : 1;
    diagonal_scaling by{.s = {}, .largest = s, .inverse = 1 / s};
    by.s = by_rank(a.comm(), [&](int rank) {
        const std::vector<double> all(static_cast<std::size_t>(a.columns_of(rank).count()), s);
        return buffer<double>(a.comm().handle(rank), std::span<const double>(all), precond_item);
    });
    return by;
}

/// Enqueues S^-1 on the rows of each rank.
template <class W>
std::vector<buffer<double>> inverse_scaling(const distributed_csr<W>& b,
                                            const diagonal_scaling& by) {
    return by_rank(b.comm(), [&](int rank) {
        const std::int64_t rows = b.block(rank).rows();
        buffer<double> inverse(b.comm().handle(rank), static_cast<std::size_t>(rows), precond_item);
        run_items(b.comm()[rank],
                  divide_task<double>{1, nullptr, by.owned(b, rank), inverse.data()}, rows);
        return inverse;
    });
}

/// The matrix with its values rounded to W.
template <class W, class T>
distributed_csr<W> rounded(distributed_csr<T> a) {
    if constexpr (std::is_same_v<T, W>)
        return a;
    else
        return a.template with_values<W>(precond_item, [&](int rank, W* values) {
            run_items(a.comm()[rank], round_task<W>{1, a.block(rank).view().values, values},
                      a.block(rank).nonzeros());
        });
}

} // namespace

template <class W>
template <class T>
hierarchy<W>::hierarchy(layout_handle fine, std::span<const multigrid_level_matrices<T>> given,
                        const amg_options& options, near_null_space<W> none,
                        const column_vectors& vectors)
    : fine_(std::move(fine)),
      given_(std::move(none)),
      unsymmetric_(options.kind == multigrid_kind::unsymmetric) {
    given = given.first(std::min(given.size(), static_cast<std::size_t>(options.max_levels)));
    check_levels(fine_->size(), given);
    if (vectors.columns > 1) format_ = formats::csr;
    std::vector<layout> spread{*fine_}; // of the rows of each level
    std::vector<layout> here{*fine_};   // the same after they may have been gathered
    for (std::size_t at = 0; at < given.size(); ++at) {
        multigrid_level<W> level;
        const communicator comm = here.back().comm; // a copy, as the list grows below
        if (at == 0)
            level.layout = without_order(fine_);
        else
            spread.push_back({comm, partition_rows(given[at].a, comm.ranks()), fine_->kind});
        distributed_csr<T> a = on_devices(spread.back(), spread.back(), given[at].a);
        if (at != 0) {
            a = place_next(levels_.back(), level, std::move(a), options);
            here.push_back({a.comm(), a.row_owners(), fine_->kind});
        }
        try {
            level.scaling = comm.together([&] {
                return scaling_of(a, {"amg", at, at == 0 ? fine_.get() : nullptr});
            });
        } catch (const input_error&) { // what is inverted may have any diagonal
            if (at + 1 < given.size() || a.rows() > inverted_rows || a.nonzeros() == 0) throw;
            level.scaling = uniform_scaling(a, given[at].a.values);
            unsymmetric_ = true;
        }
        const bool looked_for = options.kind == multigrid_kind::automatic;
        mirror_sums mirrored;
        level.matrix = scaled<W>(a, level.scaling, looked_for ? &mirrored : nullptr);
        if (looked_for && mirrored.differ(level.matrix.nonzeros())) unsymmetric_ = true;
        levels_.push_back(std::move(level));
    }
    for (std::size_t at = 0; at < given.size(); ++at) {
        multigrid_level<W>& level = levels_[at];
        if (at != 0 || worth_sharpening(level.scaling))
            sharpen(level.matrix, level.scaling, least_bound());
        level.near_null = near_null_of(level.matrix, level.scaling).entries;
        note_facts(level);
        if (at != 0) take_transfers(at - 1, given[at - 1], here[at - 1], spread[at], options);
    }
    multigrid_level<W>& last = levels_.back();
    if (last.facts.rows <= inverted_rows)
        invert(last);
    else
        last.facts.why_last = "no more levels were given, or max_levels allows none";
    conclude(last, options);
    if (vectors.columns > 1) widen(vectors);
}

template <class W>
template <class T>
void hierarchy<W>::take_transfers(std::size_t at, const multigrid_level_matrices<T>& given,
                                  const layout& here, const layout& coarse,
                                  const amg_options& options) {
    multigrid_level<W>& level = levels_[at];
    const multigrid_level<W>& next = levels_[at + 1];
    mirrored_ = mirrored_ && mirrors(given.restriction, given.prolongation);
    distributed_csr<T> p = on_devices(here, coarse, given.prolongation);
    distributed_csr<T> r = on_devices(coarse, here, given.restriction);
    const auto inverse = inverse_scaling(level.matrix, level.scaling);
    scale_transfers(1 / level.scaling.bound, pointers(inverse), r, p); // columns of R, rows of P
    scale_transfers_of(level, next, p, r);
    level.prolongation = rounded<W>(std::move(p));
    level.restriction = rounded<W>(std::move(r));
    make_operators(level, next.layout, options);
}

#define KRYLITH_INSTANTIATE(W, T)                                                                  \
    template hierarchy<W>::hierarchy(layout_handle, std::span<const multigrid_level_matrices<T>>,  \
                                     const amg_options&, near_null_space<W>,                       \
                                     const column_vectors&);

KRYLITH_INSTANTIATE(double, double)
KRYLITH_INSTANTIATE(float, double)
KRYLITH_INSTANTIATE(float, float)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::detail

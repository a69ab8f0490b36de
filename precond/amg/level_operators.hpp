// What a level of a hierarchy is made of: pointers to its vectors, near-null vectors in its scaled
// variables, its operators and the inverse of the last matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <krylith/precond/amg/dense_inverse.hpp>
#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/precond/scaling/unit_diagonal.hpp>
#include <krylith/sparse/csr/row_runs.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith::detail {

template <class W>
std::vector<const W*> pointers(const std::vector<buffer<W>>& buffers) {
    std::vector<const W*> result;
    for (const auto& one : buffers) result.push_back(one.data());
    return result;
}

/// The near-null vectors of the level after `level` in its scaled variables.
template <class W>
void scale_near_null(const coarsening<W>& to_next, const multigrid_level<W>& level,
                     multigrid_level<W>& next) {
    const communicator& comm = next.matrix.comm();
    if (next.near_null.empty())
        next.near_null = by_rank(comm, [&](int rank) {
            const std::int64_t rows = next.matrix.block(rank).rows();
            return buffer<W>(comm.handle(rank), static_cast<std::size_t>(rows * next.vectors),
                             "preconditioner");
        });
    std::vector<const W*> from =
        by_rank(level.matrix.comm(), [&](int rank) { return to_next.coarse_near_null(rank); });
    if (level.restricted != next.layout) {
        W* const there = next.near_null.front().data();
        gather_numbers(*level.restricted, from, next.vectors, there);
        from = {there};
    }
    for (const int rank : comm.local())
        scale_vectors<W>(comm[rank], next.matrix.block(rank).rows(), next.vectors,
                         1 / next.scaling.inverse, from[static_cast<std::size_t>(rank)],
                         next.scaling.owned(next.matrix, rank),
                         next.near_null[static_cast<std::size_t>(rank)].data());
}

/// The same where P stays: a level's near-null vectors are in the variables of its last scaling.
template <class W>
void rescale_near_null(multigrid_level<W>& level) {
    const communicator& comm = level.matrix.comm();
    for (const int rank : comm.local()) {
        W* const v = level.near_null[static_cast<std::size_t>(rank)].data();
        scale_vectors<W>(comm[rank], level.matrix.block(rank).rows(), level.vectors,
                         1 / level.scaling.inverse, v, level.scaling.owned(level.matrix, rank), v);
    }
}

/// Whether an operator should read the arrays of a matrix, which then stays: formats for GPUs have
/// an order of their own, which is worth a copy, and so are rows on hosts that are alike
/// (sparse/csr/row_runs.hpp), which are only looked for in arrays that the operator owns.
/// Collective.
template <class W>
bool worth_reading_in_place(const distributed_csr<W>& matrix) {
    const communicator& comm = matrix.comm();
    if (comm.kind() != backend::host) return false;
    comm.synchronize();
    return !comm.any(std::ranges::any_of(comm.local(), [&](int rank) {
        const auto rows = matrix.block(rank).view();
        return host::has_row_runs(
            host::csr_arrays<W, std::int64_t>{rows.offsets, rows.indices, rows.values}, rows.rows);
    }));
}

/// The operator of a matrix of the hierarchy, which it may read in place: what needs no look at
/// costs.
template <class W, class Matrix>
std::unique_ptr<matrix_operator<W>>
make_level_operator(const layout_handle& domain, const layout_handle& range, const Matrix& matrix,
                    format_kind format, bool in_place = false) {
    operator_options options;
    options.format = format;
    options.borrow = in_place;
    options.kind = domain->kind == coherence::owned ? operators::halo : operators::nz;
    return make_operator(operator_layouts{domain, range}, matrix, options);
}

/// The format of an operator on the first device, such as "sell (97% of the values narrow)", of the
/// values on all. Collective.
template <class W>
std::string format_in_words(const matrix_operator<W>& of) {
    const std::string name = of.format_name();
    auto narrow = by_rank(of.comm(), [&](int) { return of.narrow_fraction(); });
    auto names =
        by_rank(of.comm(), [&](int) { return std::vector<char>(name.begin(), name.end()); });
    of.comm().all_gather(narrow);
    of.comm().all_gather_lists(names);
    const double sum = std::accumulate(narrow.begin(), narrow.end(), 0.0);
    const long percent = std::lround(100 * sum / of.comm().ranks());
    std::string words(names.front().begin(), names.front().end());
    if (percent != 0) words += " (" + std::to_string(percent) + "% of the values narrow)";
    return words;
}

/// The inverse of the last level's matrix, which each driver makes for itself, and whether that is
/// symmetric, but not semidefinite.
template <class W>
csr_matrix<W> inverse_of(const multigrid_level<W>& level, bool unsymmetric, bool& indefinite) {
    const csr_matrix<W> whole = level.matrix.download();
    indefinite = false;
    if (unsymmetric) return general_inverse(csr_view<W>(whole));
    std::vector<W> v;
    const communicator& comm = level.matrix.comm();
    if (level.vectors == 1) {
        auto parts = by_rank(comm, [&](int rank) {
            return level.near_null[static_cast<std::size_t>(rank)].download();
        });
        comm.all_gather_lists(parts);
        for (const std::vector<W>& part : parts) v.insert(v.end(), part.begin(), part.end());
    }
    csr_matrix<W> inverse = dense_inverse(csr_view<W>(whole), std::span<const W>(v), &indefinite);
    indefinite = comm.any(indefinite); // processors of drivers may round in different ways
    return inverse;
}

} // namespace krylith::detail

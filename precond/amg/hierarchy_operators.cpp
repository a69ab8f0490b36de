// The operators of a hierarchy's levels, made of matrices that are there.
#include <memory>
#include <utility>

#include <krylith/device/trace/trace_range.hpp>
#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/precond/amg/level_operators.hpp>
#include <krylith/precond/amg/rounded_level.hpp>
#include <krylith/spmv/column_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith::detail {

/// Makes the operator that smooths. Nothing may need the exact values of the matrix any more where
/// they are to be rounded.
template <class W>
void hierarchy<W>::make_smoothed(multigrid_level<W>& level, const amg_options& options) const {
    round_matrix(level, options);
    level.b = make_product(level.layout, level.layout, level.matrix, level.matrix_is_read);
    level.facts.format = format_in_words(*level.b);
}

template <class W>
void hierarchy<W>::make_operators(multigrid_level<W>& level, const layout_handle& coarse,
                                  const amg_options& options) const {
    const trace_range range("operators of a level");
    if (!level.b) make_smoothed(level, options);
    if (level.restricted != coarse) level.copy = make_copying_operator<W>(level.restricted, coarse);
    level.prolong =
        make_product(coarse, level.layout, level.prolongation, level.prolongation_is_read);
    level.restrict =
        make_product(level.layout, level.restricted, level.restriction, level.restriction_is_read);
    drop_unread(level, options);
}

template <class W>
void hierarchy<W>::drop_unread(multigrid_level<W>& level, const amg_options& options) const {
    const auto drop = [&](distributed_csr<W>& of, bool is_read, bool pattern, bool values) {
        if (is_read || of.rows() == 0) return;
        if (!pattern)
            of = {};
        else if (!values)
            of = of.without_values();
    };
    drop(level.matrix, level.matrix_is_read, keeps_ && &level != &levels_.front(), false);
    const bool transfers = options.reuse == multigrid_reuse::values;
    drop(level.prolongation, level.prolongation_is_read, keeps_, transfers);
    drop(level.restriction, level.restriction_is_read, keeps_, transfers);
}

template <class W>
std::unique_ptr<matrix_operator<W>>
hierarchy<W>::make_product(const layout_handle& domain, const layout_handle& range,
                           const distributed_csr<W>& matrix, bool& is_read) const {
    auto made =
        make_level_operator<W>(domain, range, matrix, format_, worth_reading_in_place(matrix));
    is_read = matrix.comm().any(made->reads_in_place());
    return made;
}

template <class W>
void hierarchy<W>::round_matrix(multigrid_level<W>& level, const amg_options& options) const {
    if constexpr (sizeof(W) == 4)
        if (options.precision == multigrid_precision::fp16 && worth_rounding(level.matrix))
            round_off_diagonal(level.matrix, level.near_null);
}

template <class W>
void hierarchy<W>::invert(multigrid_level<W>& last) {
    last.inverse = make_level_operator<W>(
        last.layout, last.layout, inverse_of(last, unsymmetric_, indefinite_), formats::csr);
    last.facts.format = "dense inverse";
}

template <class W>
void hierarchy<W>::widen(const column_vectors& vectors) {
    const auto of_columns = [&](std::unique_ptr<matrix_operator<W>>& of,
                                const layout_handle& domain, const layout_handle& range) {
        if (of)
            of = std::make_unique<column_operator<W>>(
                std::move(of), operator_layouts{domain, range}, vectors.columns);
    };
    layout_handle here = vectors.fine;
    for (std::size_t at = 0; at < levels_.size(); ++at) {
        multigrid_level<W>& level = levels_[at];
        of_columns(level.b, here, here);
        of_columns(level.inverse, here, here);
        level.layout = here;
        if (!level.prolong) return;
        const layout_handle next = in_columns(levels_[at + 1].layout, vectors.columns);
        level.restricted = level.copy ? in_columns(level.restricted, vectors.columns) : next;
        of_columns(level.copy, level.restricted, next);
        of_columns(level.prolong, next, here);
        of_columns(level.restrict, here, level.restricted);
        here = next;
    }
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template void hierarchy<W>::make_smoothed(multigrid_level<W>&, const amg_options&) const;      \
    template void hierarchy<W>::make_operators(multigrid_level<W>&, const layout_handle&,          \
                                               const amg_options&) const;                          \
    template void hierarchy<W>::drop_unread(multigrid_level<W>&, const amg_options&) const;        \
    template void hierarchy<W>::round_matrix(multigrid_level<W>&, const amg_options&) const;       \
    template void hierarchy<W>::invert(multigrid_level<W>&);                                       \
    template void hierarchy<W>::widen(const column_vectors&);

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail

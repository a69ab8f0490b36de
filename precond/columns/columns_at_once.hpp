// What preconditioners that are made of operators need to be applied to several columns at once,
// where they are made for an operator of these (spmv/column_operator.hpp).
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/spmv/column_operator.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::detail {

/// Returns the options of an operator that in_columns_of() takes.
template <class T>
[[nodiscard]] operator_options options_for(const matrix_operator<T>& a) {
    operator_options options;
    options.kind = a.single().layout()->kind == coherence::owned ? operators::halo : operators::nz;
    if (a.columns_at_once() > 1) options.format = formats::csr;
    return options;
}

/// Returns an operator between vectors of `a` for one column as one between those of `a`.
template <class W, class T>
[[nodiscard]] std::unique_ptr<matrix_operator<W>>
in_columns_of(const matrix_operator<T>& a, std::unique_ptr<matrix_operator<W>> single) {
    if (a.columns_at_once() == 1) return single;
    return std::make_unique<column_operator<W>>(
        std::move(single), operator_layouts{a.layout(), a.layout()}, a.columns_at_once());
}

/// Throws usage_error in an update() of an M of several columns.
inline void refuse_new_values(const std::string& name, int columns) {
    if (columns > 1)
        throw usage_error(name + ": one for several columns at once takes no new values");
}

} // namespace krylith::detail

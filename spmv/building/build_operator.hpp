// Builds the operator that the options ask for, or the fastest, of a matrix from any source. All
// overloads of make_operator() end here.
#pragma once

#include <memory>
#include <optional>

#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith {

/// What is fixed of who owns which rows and columns.
struct operator_placement {
    /// The rows of each device. None: equal nonzeros. pcsr, pcsc and pcoo, which cut entries,
    /// ignore them.
    std::optional<row_partition> rows = {};
    /// The layouts of the vectors, which were made for other operators. None: layouts of its own.
    std::optional<operator_layouts> layouts = {};
};

/// Builds the operator. The pattern must be valid, and brought into the orders of the layouts.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
build_operator(const communicator& comm, const matrix_source<T>& source,
               const operator_placement& placement, const operator_options& options);

/// Whether devices can make the operator that the options ask for of patterns in their memory. They
/// can't where it needs the matrix in host memory, or a trial does that builds several.
[[nodiscard]] bool can_be_made_there(const communicator& comm, const operator_options& options);

/// Whether somebody has validated a matrix.
enum class pattern_state { unknown, valid };

/// Returns a matrix in host memory as a source of operators with these rows, or, where none are
/// given, sets them: equal nonzeros. Where devices make operators of it, they get the pattern.
/// Unless it is known to be valid it is validated, there or on the host. Throws what validate()
/// throws.
template <class T>
[[nodiscard]] matrix_source<T> make_source(const communicator& comm, const csr_view<T>& matrix,
                                           pattern_state state, std::optional<row_partition>& rows,
                                           const operator_options& options);

/// Throws usage_error unless the layouts are those of a rows x columns matrix on one group, the
/// options' kind has such vectors, and its order is none.
void check_layouts(const operator_layouts& layouts, std::int64_t rows, std::int64_t columns,
                   const operator_options& options);
/// The ranks of an operator, whose drivers agree on what is wrong with the rest. Throws usage_error
/// where the range layout is null.
[[nodiscard]] const communicator& comm_of(const operator_layouts& layouts);

/// Builds the operator where options.order is not none. The matrix must be valid. Throws
/// usage_error unless it is square.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>> build_reordered(const communicator& comm,
                                                                  const csr_view<T>& matrix,
                                                                  const operator_options& options);

} // namespace krylith

// Builds the operator that the options ask for, or the fastest, of a matrix from any source. All
// overloads of make_operator() end here.
#pragma once

#include <memory>

#include <krylith/partition/row_partition.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/source/matrix_source.hpp>

namespace krylith {

/// Builds the operator with the given rows on each device, or with equal nonzeros where `rows` is
/// null; pcsr, pcsc and pcoo assign equal entries in any case. The pattern must be valid.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
build_operator(const device_group& group, const matrix_source<T>& source, const row_partition* rows,
               const operator_options& options);

} // namespace krylith

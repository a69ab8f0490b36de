// The operator that the options ask for, or the fastest, of a matrix from any source: where the
// overloads of make_operator() meet.
#pragma once

#include <memory>

#include <krylith/partition/row_partition.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/source/matrix_source.hpp>

namespace krylith {

/// Equal nonzeros a device where `rows` is null, else the rows that it says; pcsr, pcsc and pcoo
/// deal equal entries in any case. The pattern is valid.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
build_operator(const device_group& group, const matrix_source<T>& source, const row_partition* rows,
               const operator_options& options);

} // namespace krylith

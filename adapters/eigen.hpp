// Matrices and vectors of Eigen 3.
//
//     const auto a = make_operator(group, adapt_eigen(matrix));
//     const auto b = borrow_host_array(a->layout(), as_span(rhs));
//     auto x = borrow_host_array(a->layout(), as_span(solution));
//     const solve_result result = cg(*a, b, x); // writes into solution
//
// The spans are borrowed on host devices only. On GPUs use b.upload(as_span(rhs)) and
// x.download(as_span(solution)) of vectors of the operator.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <Eigen/SparseCore>

#include <krylith/adapters/csr_arrays.hpp>
#include <krylith/adapters/host_arrays.hpp>

namespace krylith {

/// Returns a view of a SparseMatrix, or a Map or Ref of one, of double or float. Of a row-major,
/// compressed matrix the values and (32-bit) columns are Eigen's own arrays, and offsets are copied
/// unless they have 64 bits. New values then go into an operator by
/// update(adapt_eigen(m).view().values), and the matrix must outlive the result. Of a column-major
/// (Eigen's default) or uncompressed matrix a compressed row-major copy is made and kept, O(nnz).
/// Throws what adapt_csr() throws.
template <class Derived>
[[nodiscard]] adapted_csr<typename Derived::Scalar>
adapt_eigen(const Eigen::SparseCompressedBase<Derived>& matrix) {
    using T = typename Derived::Scalar;
    using index = typename Derived::StorageIndex;
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>,
                  "krylith solves with double and float");
    if constexpr (Derived::IsRowMajor) {
        if (matrix.isCompressed())
            return adapt_csr(matrix.rows(), matrix.cols(), matrix.outerIndexPtr(),
                             matrix.innerIndexPtr(), matrix.valuePtr());
    }
    using by_rows = Eigen::SparseMatrix<T, Eigen::RowMajor, index>;
    const auto copy = std::make_shared<by_rows>(matrix.derived());
    copy->makeCompressed();
    const auto entries = static_cast<std::size_t>(copy->nonZeros());
    auto result = adapt_csr(copy->rows(), copy->cols(), copy->outerIndexPtr(),
                            copy->innerIndexPtr(), copy->valuePtr());
    const auto outer = static_cast<std::size_t>(copy->rows()) + 1;
    result.keep(copy, entries * (sizeof(T) + sizeof(index)) + outer * sizeof(index));
    return result;
}

/// Returns the entries of an Eigen column or row vector.
template <class Derived>
[[nodiscard]] std::span<typename Derived::Scalar> as_span(Eigen::PlainObjectBase<Derived>& v) {
    static_assert(Derived::IsVectorAtCompileTime, "a vector, not a matrix");
    return {v.data(), static_cast<std::size_t>(v.size())};
}
/// Returns the entries of a vector that is only read.
template <class Derived>
[[nodiscard]] std::span<const typename Derived::Scalar>
as_span(const Eigen::PlainObjectBase<Derived>& v) {
    static_assert(Derived::IsVectorAtCompileTime, "a vector, not a matrix");
    return {v.data(), static_cast<std::size_t>(v.size())};
}

} // namespace krylith

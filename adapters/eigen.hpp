// Matrices and vectors of Eigen 3.
//
//     const auto a = make_operator(group, adapt_eigen(matrix));
//     const auto b = borrow_host_array(a->layout(), as_span(rhs));
//     auto x = borrow_host_array(a->layout(), as_span(solution));
//     const solve_result result = cg(*a, b, x); // writes into solution
//
// This is for host devices. On GPUs vectors of the operator take b.upload(as_span(rhs)), and give
// x.download(as_span(solution)).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <Eigen/SparseCore>

#include <krylith/adapters/csr_arrays.hpp>
#include <krylith/adapters/host_arrays.hpp>

namespace krylith {

/// A view of a SparseMatrix, or a Map or Ref of one, of double or float. Row-major and compressed:
/// values and (32-bit) columns are Eigen's own arrays, offsets are copied unless they have 64 bits.
/// Then the values may change and go into an operator by update(adapt_eigen(m).view().values); the
/// matrix must outlive the result. Column-major (Eigen's default) or not compressed: a compressed
/// row-major copy is made and kept, O(nnz). Throws as adapt_csr().
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

/// The entries of an Eigen::Vector or a row vector.
template <class Derived>
[[nodiscard]] std::span<typename Derived::Scalar> as_span(Eigen::PlainObjectBase<Derived>& v) {
    static_assert(Derived::IsVectorAtCompileTime, "a vector, not a matrix");
    return {v.data(), static_cast<std::size_t>(v.size())};
}
/// The same, to be read only.
template <class Derived>
[[nodiscard]] std::span<const typename Derived::Scalar>
as_span(const Eigen::PlainObjectBase<Derived>& v) {
    static_assert(Derived::IsVectorAtCompileTime, "a vector, not a matrix");
    return {v.data(), static_cast<std::size_t>(v.size())};
}

} // namespace krylith

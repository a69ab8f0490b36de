#include <krylith/precond/matrix/matrix_on_devices.hpp>

#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/spmv/building/reordered_matrix.hpp>
#include <krylith/spmv/distributed_products.hpp>

namespace krylith::detail {

template <class T>
distributed_csr<T> on_devices(const std::string& who, const layout& layout,
                              const csr_view<T>& matrix) {
    if (matrix.rows != layout.size() || matrix.columns != layout.size())
        throw usage_error(who + ": a matrix of " + std::to_string(matrix.rows) + " x " +
                          std::to_string(matrix.columns) + " for an operator of " +
                          std::to_string(layout.size()) + " rows");
    if (!layout.order) return {layout.group, matrix, layout.rows, layout.rows};
    (void)validate(matrix);
    const reordered_matrix<T> moved = reordered(matrix, *layout.order);
    return {layout.group, csr_view<T>(moved.matrix), layout.rows, layout.rows};
}

template <class T>
distributed_csr<T> on_devices(const std::string& who, const layout& layout,
                              std::span<const csr_part<T>> parts) {
    if (layout.order)
        throw usage_error(who + ": the operator has its rows in an order of its own, in which "
                                "parts on the devices are not; give the matrix in host memory");
    distributed_csr<T> result(layout.group, parts, layout.rows);
    if (result.row_owners() != layout.rows)
        throw usage_error(who + ": the parts have other rows than the operator's devices own");
    return result;
}

template <class T>
distributed_csr<T> with_sorted_rows(distributed_csr<T> matrix) {
    if (matrix.rows_ascend()) return matrix;
    return sorted_rows<T>(matrix).apply(matrix);
}

#define KRYLITH_MATRIX_ON_DEVICES(T)                                                               \
    template distributed_csr<T> on_devices(const std::string&, const layout&, const csr_view<T>&); \
    template distributed_csr<T> on_devices(const std::string&, const layout&,                      \
                                           std::span<const csr_part<T>>);                          \
    template distributed_csr<T> with_sorted_rows(distributed_csr<T>);

KRYLITH_MATRIX_ON_DEVICES(double)
KRYLITH_MATRIX_ON_DEVICES(float)
#undef KRYLITH_MATRIX_ON_DEVICES

} // namespace krylith::detail

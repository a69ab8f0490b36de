// A user's own product as an operator: matrix-free stencils, sums and products of operators.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <krylith/partition/halo_plan.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// One device's part of y = A x.
template <class T>
struct product_call {
    int rank;
    row_range rows; ///< global rows to compute: y[0] is rows.begin
    const T* x;     ///< all n entries; with a halo plan the owned ones, then the ghosts
    T* y;           ///< rows.size() entries, all to be written
    void* stream;   ///< cudaStream_t to enqueue on; null where x and y are host memory
};

template <class T>
using product_function = std::function<void(const product_call<T>&)>;

/// What a product function does.
enum class product_kind {
    /// CUDA devices: enqueues kernels on the stream and returns; it is called once for each product
    /// that is recorded, so it may not look at values, wait, or allocate. Host devices: computes,
    /// on
    /// the device's worker thread, once for every product.
    on_device,
    /// Computes from host memory. On CUDA devices x and y are copied to and fro and the solve runs
    /// eagerly.
    on_host
};

/// An operator for cg, gmres, bicgstab. `rows` deals the rows to the devices; x is replicated. An
/// exception thrown by the function ends the solve (as device_error where it ran on a worker).
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_matrix_free(const device_group& group, row_partition rows, product_function<T> product,
                 product_kind kind = product_kind::on_device);

/// The same with owned vectors: only the ghosts that the plan names are sent.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_matrix_free(const device_group& group, const halo_plan& plan, product_function<T> product,
                 product_kind kind = product_kind::on_device);

extern template std::unique_ptr<matrix_operator<double>>
make_matrix_free(const device_group&, row_partition, product_function<double>, product_kind);
extern template std::unique_ptr<matrix_operator<float>>
make_matrix_free(const device_group&, row_partition, product_function<float>, product_kind);
extern template std::unique_ptr<matrix_operator<double>>
make_matrix_free(const device_group&, const halo_plan&, product_function<double>, product_kind);
extern template std::unique_ptr<matrix_operator<float>>
make_matrix_free(const device_group&, const halo_plan&, product_function<float>, product_kind);

} // namespace krylith

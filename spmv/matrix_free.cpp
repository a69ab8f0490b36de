#include <krylith/spmv/matrix_free.hpp>

#include <string>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/sparse/external/external_matrix.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/replicated/replicated_operator.hpp>

namespace krylith {

namespace {

template <class T>
block_maker<T> make_external_blocks(product_function<T> function, product_kind kind) {
    return [function = std::move(function), kind](const layout& layout, int rank,
                                                  std::int64_t x_entries) {
        const external_product<T> product{function, kind, rank, layout.rows.owned(rank), x_entries};
        const auto& d = layout.group.handle(rank);
#if KRYLITH_HAVE_CUDA
        if (d->kind() == backend::cuda) return cuda::make_external(d, product);
#endif
        return host::make_external(d, product);
    };
}

template <class T>
void check_arguments(const device_group& group, const row_partition& rows,
                     const product_function<T>& product) {
    check(rows, rows.rows());
    if (rows.ranks() != group.size())
        throw usage_error("matrix_free: the partition has " + std::to_string(rows.ranks()) +
                          " parts for " + std::to_string(group.size()) + " devices");
    if (!product) throw usage_error("matrix_free: the product function is empty");
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_matrix_free(const device_group& group, row_partition rows,
                                                     product_function<T> product,
                                                     product_kind kind) {
    check_arguments(group, rows, product);
    auto handle = std::make_shared<layout>(layout{group, std::move(rows), coherence::replicated});
    return std::make_unique<replicated_operator<T>>(
        std::move(handle), make_external_blocks<T>(std::move(product), kind));
}

template <class T>
std::unique_ptr<matrix_operator<T>>
make_matrix_free(const device_group& group, const halo_plan& plan, product_function<T> product,
                 product_kind kind) {
    check_arguments(group, plan.rows, product);
    auto handle = std::make_shared<layout>(layout{group, plan.rows, coherence::owned});
    return std::make_unique<halo_operator<T>>(std::move(handle), plan,
                                              make_external_blocks<T>(std::move(product), kind));
}

template std::unique_ptr<matrix_operator<double>>
make_matrix_free(const device_group&, row_partition, product_function<double>, product_kind);
template std::unique_ptr<matrix_operator<float>>
make_matrix_free(const device_group&, row_partition, product_function<float>, product_kind);
template std::unique_ptr<matrix_operator<double>>
make_matrix_free(const device_group&, const halo_plan&, product_function<double>, product_kind);
template std::unique_ptr<matrix_operator<float>>
make_matrix_free(const device_group&, const halo_plan&, product_function<float>, product_kind);

} // namespace krylith

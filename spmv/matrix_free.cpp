#include <krylith/spmv/matrix_free.hpp>

#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/spmv/external/external_blocks.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/replicated/replicated_operator.hpp>

namespace krylith {

namespace {

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
    return std::make_unique<replicated_operator<T>>(std::move(handle),
                                                    external_blocks<T>(std::move(product), kind));
}

template <class T>
std::unique_ptr<matrix_operator<T>>
make_matrix_free(const device_group& group, const halo_plan& plan, product_function<T> product,
                 product_kind kind) {
    check_arguments(group, plan.partition, product);
    auto handle = std::make_shared<layout>(layout{group, plan.partition, coherence::owned});
    return std::make_unique<halo_operator<T>>(std::move(handle), plan,
                                              external_blocks<T>(std::move(product), kind));
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

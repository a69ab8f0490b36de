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
void check_arguments(const communicator& comm, const row_partition& rows,
                     const row_partition& columns, const product_function<T>& product) {
    for (const row_partition* p : {&rows, &columns}) {
        check(*p, p->rows());
        if (p->ranks() != comm.ranks())
            throw usage_error("matrix_free: the partition has " + std::to_string(p->ranks()) +
                              " parts for " + std::to_string(comm.ranks()) + " devices");
    }
    if (!product) throw usage_error("matrix_free: the product function is empty");
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_matrix_free(const communicator& comm, row_partition rows,
                                                     product_function<T> product,
                                                     product_kind kind) {
    row_partition columns = rows;
    return make_matrix_free(comm, std::move(rows), std::move(columns), std::move(product), kind);
}

template <class T>
std::unique_ptr<matrix_operator<T>>
make_matrix_free(const communicator& comm, row_partition rows, row_partition columns,
                 product_function<T> product, product_kind kind) {
    return comm.together([&] {
        check_arguments(comm, rows, columns, product);
        return std::make_unique<replicated_operator<T>>(
            make_layouts(comm, std::move(rows), std::move(columns), coherence::replicated),
            external_blocks<T>(std::move(product), kind));
    });
}

template <class T>
std::unique_ptr<matrix_operator<T>>
make_matrix_free(const communicator& comm, const halo_plan& plan, product_function<T> product,
                 product_kind kind) {
    return comm.together([&] {
        check_arguments(comm, plan.rows, plan.columns.owners(), product);
        return std::make_unique<halo_operator<T>>(
            make_layouts(comm, plan.rows, plan.columns.owners(), coherence::owned), plan.columns,
            external_blocks<T>(std::move(product), kind));
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> make_matrix_free(                                 \
        const communicator&, row_partition, product_function<T>, product_kind);                    \
    template std::unique_ptr<matrix_operator<T>> make_matrix_free(                                 \
        const communicator&, row_partition, row_partition, product_function<T>, product_kind);     \
    template std::unique_ptr<matrix_operator<T>> make_matrix_free(                                 \
        const communicator&, const halo_plan&, product_function<T>, product_kind);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

#include <krylith/distributed/distributed_products.hpp>

#include <krylith/device/error.hpp>
#include <krylith/distributed/products/merged_matrix.hpp>
#include <krylith/distributed/products/product_checks.hpp>
#include <krylith/distributed/products/product_kernels.hpp>

namespace krylith {

template <class T>
distributed_csr<T> add(T alpha, const distributed_csr<T>& a, T beta, const distributed_csr<T>& b) {
    need_group("add", a);
    need_group("add", b);
    if (a.comm() != b.comm()) throw usage_error("add: A and B are on different groups");
    return a.comm().together([&] {
        if (a.row_owners() != b.row_owners() || a.column_owners() != b.column_owners())
            throw usage_error("add: A and B have different sizes or partitions");
        on_each_rank(a.comm(), [&](int rank) {
            check_order("add", "A", a, rank);
            check_order("add", "B", b, rank);
        });
        distributed_csr<T> sum =
            merge(a, b, [&](int rank, const merged_rows& rows, const merged_entries<T>& to) {
                visit_rows(a.comm()[rank], a.block(rank).rows(), 1,
                           add_rows_step<T>{{},
                                            rows,
                                            alpha,
                                            a.block(rank).view().values,
                                            beta,
                                            b.block(rank).view().values,
                                            to});
            });
        for (const int rank : a.comm().local()) sum.block(rank).set_ascending(true);
        return sum;
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template distributed_csr<T> add(T, const distributed_csr<T>&, T, const distributed_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

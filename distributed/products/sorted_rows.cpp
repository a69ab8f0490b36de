#include <algorithm>
#include <optional>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/distributed/products/identity_block.hpp>
#include <krylith/distributed/products/product_checks.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/sparse/spgemm.hpp>

namespace krylith {

namespace {

constexpr const char* sorting_name = "sorted_rows";

} // namespace

template <class T>
struct sorted_rows<T>::plan {
    communicator comm;
    planned_blocks a;
    row_partition rows;
    row_partition columns;
    std::vector<local_columns> columns_of;
    std::vector<device_csr<T>> identities{};
    std::vector<std::optional<spgemm<T>>> products{};
};

template <class T>
sorted_rows<T>::sorted_rows(const distributed_csr<T>& a) {
    need_group(sorting_name, a);
    const auto ranks = static_cast<std::size_t>(a.comm().ranks());
    plan_ = std::make_unique<plan>(
        plan{a.comm(), planned_blocks(a), a.row_owners(), a.column_owners(), {}});
    plan_->columns_of.assign(a.all_columns().begin(), a.all_columns().end());
    plan_->identities.resize(ranks);
    plan_->products.resize(ranks);
    a.comm().together([&] {
        on_each_rank(a.comm(), [&](int rank) {
            const auto at = static_cast<std::size_t>(rank);
            plan_->identities[at] = identity_block<T>(
                a.comm().handle(rank), a.block(rank).columns(), a.block(rank).columns());
            plan_->products[at].emplace(a.block(rank), plan_->identities[at]);
        });
    });
}

template <class T>
sorted_rows<T>::sorted_rows(sorted_rows&&) noexcept = default;
template <class T>
sorted_rows<T>& sorted_rows<T>::operator=(sorted_rows&&) noexcept = default;
template <class T>
sorted_rows<T>::~sorted_rows() = default;

template <class T>
distributed_csr<T> sorted_rows<T>::apply(const distributed_csr<T>& a) const {
    return plan_->comm.together([&]() -> distributed_csr<T> {
        plan_->a.check(sorting_name, "A", plan_->comm, a);
        auto blocks = by_rank(plan_->comm, [&](int rank) {
            const auto at = static_cast<std::size_t>(rank);
            return plan_->products[at]->multiply(a.block(rank), plan_->identities[at]);
        });
        return {plan_->comm, plan_->rows, plan_->columns, std::move(blocks), plan_->columns_of};
    });
}

template <class T>
void sorted_rows<T>::apply(const distributed_csr<T>& a, distributed_csr<T>& sorted) const {
    plan_->comm.together([&] {
        plan_->a.check(sorting_name, "A", plan_->comm, a);
        need_group(sorting_name, sorted);
        if (sorted.comm() != plan_->comm)
            throw usage_error("sorted_rows: the sorted matrix is on another group than the plan");
        for (const int rank : plan_->comm.local()) {
            const auto at = static_cast<std::size_t>(rank);
            plan_->products[at]->refresh(a.block(rank), plan_->identities[at], sorted.block(rank));
        }
    });
}

template <class T>
std::int64_t sorted_rows<T>::bytes() const {
    std::int64_t most = 0;
    for (const int rank : plan_->comm.local()) {
        const auto at = static_cast<std::size_t>(rank);
        most = std::max(most, plan_->identities[at].bytes() + plan_->products[at]->bytes());
    }
    return most;
}

#define KRYLITH_INSTANTIATE(T) template class sorted_rows<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

#include <algorithm>
#include <optional>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/distributed/products/ghost_rows.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/distributed/products/product_checks.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/sparse/spgemm.hpp>
#include <krylith/sparse/spgemm/spgemm_phases.hpp>

namespace krylith {

namespace {

constexpr const char* spgemm_name = "distributed_spgemm";

template <class T>
void check_factors(const distributed_csr<T>& a, const distributed_csr<T>& b) {
    need_group(spgemm_name, a);
    need_group(spgemm_name, b);
    if (a.comm() != b.comm())
        throw usage_error("distributed_spgemm: A and B are on different "
                          "groups");
    if (a.columns() != b.rows())
        throw usage_error("distributed_spgemm: A has " + std::to_string(a.columns()) +
                          " columns and B " + std::to_string(b.rows()) +
                          " rows; they must be as many");
    if (a.column_owners() != b.row_owners())
        throw usage_error("distributed_spgemm: the columns of A are partitioned in another way "
                          "than the rows of B");
}

} // namespace

template <class T>
struct distributed_spgemm<T>::plan {
    communicator comm;
    planned_blocks a;
    planned_blocks b;
    row_partition rows;    ///< of C
    row_partition columns; ///< of C
    std::vector<local_columns> columns_of{};
    ghost_rows fetched{};
    std::vector<device_csr<T>> factors{}; ///< the rows of B that ranks need; none on one rank
    std::vector<std::optional<spgemm<T>>> products{};

    [[nodiscard]] std::size_t at(int rank) const { return static_cast<std::size_t>(rank); }
    [[nodiscard]] const device_csr<T>& factor(const distributed_csr<T>& of_b, int rank) const {
        return factors.empty() ? of_b.block(rank) : factors[at(rank)];
    }

    /// Makes the factors, with local columns; their values are to be fetched.
    void make_factors(const distributed_csr<T>& of_a, const distributed_csr<T>& of_b) {
        on_each_rank(comm, [&](int rank) { check_order("spgemm", "B", of_b, rank); });
        const auto offsets =
            by_rank(comm, [&](int rank) { return of_b.block(rank).view().offsets; });
        fetched = ghost_rows(comm, of_a.all_columns(), offsets);
        auto own = by_rank(comm, [&](int rank) { return of_b.global_columns(rank); });
        auto all = by_rank(comm, [&](int rank) {
            return buffer<std::int32_t>(comm.handle(rank), at_size(fetched.entries(rank)),
                                        "matrix");
        });
        const auto from =
            by_rank(comm, [&](int rank) -> const std::int32_t* { return own[at(rank)].data(); });
        const auto to = by_rank(comm, [&](int rank) { return all[at(rank)].data(); });
        fetched.fetch(from, to);
        factors.resize(at(comm.ranks()));
        columns_of.resize(at(comm.ranks()));
        on_each_rank(comm, [&](int rank) {
            const auto& device = comm.handle(rank);
            own[at(rank)] = {};
            columns_of[at(rank)] =
                number_columns(device, columns.owned(rank), columns.rows(), all[at(rank)]).value();
            buffer<T> values(device, all[at(rank)].size(), "matrix");
            factors[at(rank)] = {device, columns_of[at(rank)].count(), fetched.take_offsets(rank),
                                 std::move(all[at(rank)]), std::move(values)};
            factors[at(rank)].set_ascending(true); // as the rows of B do
        });
    }

    static std::size_t at_size(std::int64_t count) { return static_cast<std::size_t>(count); }

    /// Throws usage_error for matrices that the plan was not made of.
    void check(const distributed_csr<T>& of_a, const distributed_csr<T>& of_b) const {
        a.check(spgemm_name, "A", comm, of_a);
        b.check(spgemm_name, "B", comm, of_b);
    }

    void fetch_values(const distributed_csr<T>& of_b) {
        if (factors.empty()) return;
        const auto from = by_rank(comm, [&](int rank) { return of_b.block(rank).view().values; });
        const auto to = by_rank(comm, [&](int rank) { return factors[at(rank)].values(); });
        fetched.fetch(from, to);
    }
};

template <class T>
void distributed_spgemm<T>::prepare(const distributed_csr<T>& a, const distributed_csr<T>& b) {
    check_factors(a, b);
    plan_ = std::make_unique<plan>(
        plan{a.comm(), planned_blocks(a), planned_blocks(b), a.row_owners(), b.column_owners()});
    plan& p = *plan_;
    if (p.comm.ranks() == 1)
        p.columns_of = {b.columns_of(0)};
    else
        p.make_factors(a, b);
    p.products.resize(p.at(p.comm.ranks()));
}

template <class T>
distributed_spgemm<T>::distributed_spgemm(const distributed_csr<T>& a,
                                          const distributed_csr<T>& b) {
    need_group(spgemm_name, a);
    a.comm().together([&] {
        prepare(a, b);
        plan& p = *plan_;
        on_each_rank(p.comm, [&](int rank) {
            p.products[p.at(rank)].emplace(a.block(rank), p.factor(b, rank));
        });
    });
}

template <class T>
distributed_spgemm<T>::distributed_spgemm(const distributed_csr<T>& a, const distributed_csr<T>& b,
                                          distributed_csr<T>& c) {
    need_group(spgemm_name, a);
    a.comm().together([&] {
        prepare(a, b);
        plan& p = *plan_;
        p.fetch_values(b);
        std::vector<device_csr<T>> blocks(p.at(p.comm.ranks()));
        on_each_rank(p.comm, [&](int rank) {
            p.products[p.at(rank)].emplace(a.block(rank), p.factor(b, rank), blocks[p.at(rank)]);
        });
        c = {p.comm, p.rows, p.columns, std::move(blocks), p.columns_of};
    });
}

template <class T>
distributed_spgemm<T>::distributed_spgemm(distributed_spgemm&&) noexcept = default;
template <class T>
distributed_spgemm<T>& distributed_spgemm<T>::operator=(distributed_spgemm&&) noexcept = default;
template <class T>
distributed_spgemm<T>::~distributed_spgemm() = default;

template <class T>
distributed_csr<T> distributed_spgemm<T>::multiply(const distributed_csr<T>& a,
                                                   const distributed_csr<T>& b) const {
    plan& p = *plan_;
    return p.comm.together([&]() -> distributed_csr<T> {
        p.check(a, b);
        p.fetch_values(b);
        auto blocks = by_rank(p.comm, [&](int rank) {
            return p.products[p.at(rank)]->multiply(a.block(rank), p.factor(b, rank));
        });
        return {p.comm, p.rows, p.columns, std::move(blocks), p.columns_of};
    });
}

template <class T>
distributed_csr<T> distributed_spgemm<T>::take(const distributed_csr<T>& a,
                                               const distributed_csr<T>& b) {
    plan& p = *plan_;
    p.comm.together([&] { p.check(a, b); }); // all drivers give plans away, or none does
    return p.comm.together([&]() -> distributed_csr<T> {
        p.fetch_values(b);
        auto blocks = by_rank(p.comm, [&](int rank) {
            return p.products[p.at(rank)]->take(a.block(rank), p.factor(b, rank));
        });
        return {p.comm, p.rows, p.columns, std::move(blocks), p.columns_of};
    });
}

template <class T>
void distributed_spgemm<T>::refresh(const distributed_csr<T>& a, const distributed_csr<T>& b,
                                    distributed_csr<T>& c) const {
    plan& p = *plan_;
    p.comm.together([&] {
        p.check(a, b);
        need_group(spgemm_name, c);
        if (c.comm() != p.comm)
            throw usage_error("distributed_spgemm: C is on another group than the plan");
        p.fetch_values(b);
        for (const int rank : p.comm.local())
            p.products[p.at(rank)]->refresh(a.block(rank), p.factor(b, rank), c.block(rank));
    });
}

template <class T>
std::int64_t distributed_spgemm<T>::bytes() const {
    std::int64_t most = 0;
    for (const int rank : plan_->comm.local()) {
        std::int64_t bytes = plan_->products[plan_->at(rank)]->bytes();
        if (!plan_->factors.empty())
            bytes += plan_->factors[plan_->at(rank)].bytes() + plan_->fetched.bytes(rank) +
                     plan_->columns_of[plan_->at(rank)].bytes();
        most = std::max(most, bytes);
    }
    return most;
}

#define KRYLITH_INSTANTIATE(T) template class distributed_spgemm<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

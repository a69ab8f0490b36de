#include <algorithm>
#include <utility>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/distributed/products/product_checks.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/products/transposed_pieces.hpp>
#include <krylith/sparse/transpose.hpp>

namespace krylith {

namespace {

constexpr const char* transposition_name = "distributed_transposition";

/// The pattern of the rows of A^T of a rank.
struct transposed_rows {
    buffer<std::int64_t> offsets;
    buffer<std::int32_t> columns;
    local_columns numbers;

    [[nodiscard]] std::int64_t bytes() const {
        return static_cast<std::int64_t>(offsets.size() * sizeof(std::int64_t) +
                                         columns.size() * sizeof(std::int32_t)) +
               numbers.bytes();
    }
};

} // namespace

template <class T>
struct distributed_transposition<T>::plan {
    communicator comm;
    planned_blocks a;
    row_partition rows;                        ///< of A
    row_partition columns;                     ///< of A
    std::vector<transposition> blocks{};       ///< several ranks: without their patterns
    transposed_pieces pieces{};                ///< several ranks
    std::vector<transposed_rows> transposed{}; ///< several ranks; empty after take()
    std::vector<std::int64_t> entries{};       ///< of A^T, by rank; several ranks

    [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

    /// Finds the pattern of A^T on several ranks.
    void join_patterns(const distributed_csr<T>& of_a) {
        const auto ranks = at(comm.ranks());
        std::vector<device_csr<T>> local(ranks); // transposed blocks
        std::vector<buffer<std::int32_t>> global(ranks);
        on_each_rank(comm, [&](int rank) {
            local[at(rank)] = blocks[at(rank)].take(of_a.block(rank));
            const device_csr_view<T> v = local[at(rank)].view();
            const row_range mine = rows.owned(rank);
            global[at(rank)] = {comm.handle(rank), at_size(v.nonzeros), "transposed pattern"};
            run_items(
                comm[rank],
                number_globally{{mine.begin, 0, static_cast<std::int32_t>(mine.size()), 0, nullptr},
                                v.indices,
                                global[at(rank)].data()},
                v.nonzeros);
        });
        const auto offsets =
            by_rank(comm, [&](int rank) { return local[at(rank)].view().offsets; });
        pieces = transposed_pieces(comm, of_a.all_columns(), offsets);
        transposed.resize(ranks);
        entries = by_rank(comm, [&](int rank) { return pieces.entries(rank); });
        const auto from =
            by_rank(comm, [&](int rank) -> const std::int32_t* { return global[at(rank)].data(); });
        const auto to = by_rank(comm, [&](int rank) {
            transposed_rows& mine = transposed[at(rank)];
            mine.columns = {comm.handle(rank), at_size(pieces.entries(rank)), "transposed pattern"};
            return mine.columns.data();
        });
        pieces.join(from, to);
        on_each_rank(comm, [&](int rank) {
            transposed_rows& mine = transposed[at(rank)];
            mine.offsets = pieces.take_offsets(rank);
            mine.numbers =
                number_columns(comm.handle(rank), rows.owned(rank), rows.rows(), mine.columns)
                    .value();
        });
    }

    static std::size_t at_size(std::int64_t count) { return static_cast<std::size_t>(count); }

    /// Writes the values of A^T to an array of each rank.
    void move_values(const distributed_csr<T>& of_a, const std::vector<T*>& to) const {
        const auto local = by_rank(comm, [&](int rank) {
            const device_csr_view<T> v = of_a.block(rank).view();
            buffer<T> values(comm.handle(rank), at_size(v.nonzeros), "transposed values");
            blocks[at(rank)].apply(v.values, values.data());
            return values;
        });
        const auto from =
            by_rank(comm, [&](int rank) -> const T* { return local[at(rank)].data(); });
        pieces.join(from, to);
    }

    /// Makes A^T of patterns, which are moved or copied.
    template <class Patterns>
    [[nodiscard]] distributed_csr<T> make(const distributed_csr<T>& of_a,
                                          const Patterns& pattern_of) const {
        return comm.together([&]() -> distributed_csr<T> {
            std::vector<local_columns> numbers(at(comm.ranks()));
            auto made = by_rank(comm, [&](int rank) {
                transposed_rows mine = pattern_of(rank);
                numbers[at(rank)] = mine.numbers;
                buffer<T> values(comm.handle(rank), mine.columns.size(), "transposed values");
                return device_csr<T>(comm.handle(rank), mine.numbers.count(),
                                     std::move(mine.offsets), std::move(mine.columns),
                                     std::move(values));
            });
            move_values(of_a, by_rank(comm, [&](int rank) { return made[at(rank)].values(); }));
            return {comm, columns, rows, std::move(made), std::move(numbers)};
        });
    }

    /// Throws usage_error for a matrix that the plan was not made of, and where the pattern is not
    /// here any more.
    void check(const distributed_csr<T>& of_a) const {
        comm.together([&] {
            a.check(transposition_name, "the matrix", comm, of_a);
            if (comm.ranks() > 1 && transposed.empty())
                throw usage_error("distributed_transposition: take() has given the pattern away");
        });
    }

    /// A^T of one rank, which make() gives the driver that has it.
    template <class Make>
    [[nodiscard]] distributed_csr<T> alone(const Make& make) const {
        return comm.together([&]() -> distributed_csr<T> {
            return {comm,
                    columns,
                    rows,
                    by_rank(comm, [&](int) { return make(); }),
                    {local_columns(nullptr, rows.owned(0), {})}};
        });
    }
};

template <class T>
distributed_transposition<T>::distributed_transposition(const distributed_csr<T>& a) {
    need_group(transposition_name, a);
    check_index_size(std::string(transposition_name) + ": the number of rows", a.rows());
    plan_ = std::make_unique<plan>(
        plan{a.comm(), planned_blocks(a), a.row_owners(), a.column_owners()});
    plan_->blocks.resize(plan::at(a.comm().ranks()));
    a.comm().together([&] {
        on_each_rank(a.comm(), [&](int rank) {
            plan_->blocks[plan::at(rank)] = transposition(a.block(rank));
        });
        if (a.comm().ranks() > 1) plan_->join_patterns(a);
    });
}

template <class T>
distributed_transposition<T>::distributed_transposition(distributed_transposition&&) noexcept =
    default;
template <class T>
distributed_transposition<T>&
distributed_transposition<T>::operator=(distributed_transposition&&) noexcept = default;
template <class T>
distributed_transposition<T>::~distributed_transposition() = default;

template <class T>
distributed_csr<T> distributed_transposition<T>::apply(const distributed_csr<T>& a) const {
    const plan& p = *plan_;
    p.check(a);
    if (p.comm.ranks() == 1) return p.alone([&] { return p.blocks[0].apply(a.block(0)); });
    return p.make(a, [&](int rank) {
        const transposed_rows& from = p.transposed[plan::at(rank)];
        const auto& on = p.comm.handle(rank);
        transposed_rows copy{{on, from.offsets.size(), "transposed pattern"},
                             {on, from.columns.size(), "transposed pattern"},
                             from.numbers};
        on->copy(copy.offsets.data(), from.offsets.data(),
                 from.offsets.size() * sizeof(std::int64_t));
        if (from.columns.size() != 0)
            on->copy(copy.columns.data(), from.columns.data(),
                     from.columns.size() * sizeof(std::int32_t));
        return copy;
    });
}

template <class T>
distributed_csr<T> distributed_transposition<T>::take(const distributed_csr<T>& a) {
    plan& p = *plan_;
    p.check(a);
    if (p.comm.ranks() == 1) return p.alone([&] { return p.blocks[0].take(a.block(0)); });
    distributed_csr<T> result =
        p.make(a, [&](int rank) { return std::move(p.transposed[plan::at(rank)]); });
    p.transposed.clear();
    return result;
}

template <class T>
void distributed_transposition<T>::apply(const distributed_csr<T>& a,
                                         distributed_csr<T>& transposed) const {
    const plan& p = *plan_;
    p.comm.together([&] {
        p.a.check(transposition_name, "the matrix", p.comm, a);
        need_group(transposition_name, transposed);
        if (transposed.comm() != p.comm)
            throw usage_error("distributed_transposition: A^T is on another group than the plan");
        if (p.comm.ranks() == 1) {
            for (const int rank : p.comm.local())
                p.blocks[0].apply(a.block(rank), transposed.block(rank));
            return;
        }
        p.move_values(
            a, by_rank(p.comm, [&](int rank) {
                if (transposed.block(rank).nonzeros() != p.entries[plan::at(rank)] ||
                    transposed.row_owners() != p.columns || transposed.column_owners() != p.rows)
                    throw usage_error("distributed_transposition::apply: the second matrix "
                                      "is not the first one's transposed");
                return transposed.block(rank).values();
            }));
    });
}

template <class T>
std::int64_t distributed_transposition<T>::bytes() const {
    const plan& p = *plan_;
    if (p.comm.ranks() == 1) return p.blocks[0].bytes();
    std::int64_t most = 0;
    for (const int rank : p.comm.local()) {
        std::int64_t bytes = p.blocks[plan::at(rank)].bytes() + p.pieces.bytes(rank);
        if (!p.transposed.empty()) bytes += p.transposed[plan::at(rank)].bytes();
        most = std::max(most, bytes);
    }
    return most;
}

#define KRYLITH_INSTANTIATE(T) template class distributed_transposition<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

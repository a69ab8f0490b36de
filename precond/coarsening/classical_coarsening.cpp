#include <krylith/precond/coarsening/classical_coarsening.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/device/loops/settled_on_failure.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/device/threads/each_rank.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/distributed/products/column_exchange.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/influence_steps.hpp>
#include <krylith/precond/coarsening/interpolation_steps.hpp>

namespace krylith {

namespace {

using aggregation::fill_ghosts;
using aggregation::pointers_of;

constexpr const char* memory_item = "classical coarsening";

template <class T>
void check_classical(const distributed_csr<T>& a, const classical_options& options) {
    if (a.row_owners() != a.column_owners())
        throw usage_error("classical_coarsening: the matrix has " + std::to_string(a.rows()) +
                          " rows and " + std::to_string(a.columns()) +
                          " columns; both must have the same owners");
    if (!(options.strong_threshold > 0 && options.strong_threshold <= 1))
        throw usage_error("classical_options::strong_threshold is " +
                          std::to_string(options.strong_threshold) +
                          "; allowed are 0 to 1, without 0");
}

/// The mean entries of a row on all ranks: it decides in which order lanes add up a row, which has
/// to be the same on any number of ranks.
template <class T>
std::int64_t mean_of_all(const distributed_csr<T>& a) {
    return (a.nonzeros() + a.rows() - 1) / std::max<std::int64_t>(a.rows(), 1);
}

/// Makes an array of a rank's device for each rank.
template <class V, class Size>
std::vector<buffer<V>> arrays_of(const device_group& group, const Size& size) {
    std::vector<buffer<V>> result;
    for (int rank = 0; rank < group.size(); ++rank)
        result.emplace_back(group.handle(rank), as_size(size(rank)), memory_item);
    return result;
}

/// Makes offsets of the numbers of entries of a rank's rows. Returns how many there are in all,
/// for which it waits.
std::int64_t add_up(const std::shared_ptr<device>& device, std::int64_t rows,
                    const buffer<std::int32_t>& counts, buffer<std::int64_t>& offsets) {
    offsets = {device, as_size(rows + 1), "offsets of a matrix"};
    add_up_sizes(device, rows, counts.data(), offsets.data());
    std::int64_t entries = 0;
    device->download(&entries, offsets.data() + rows, sizeof entries);
    return entries;
}

} // namespace

template <class T>
struct classical_coarsening<T>::state {
    classical_options options;
    device_group group;
    column_exchange exchange; ///< of the columns of A
    std::vector<std::int64_t> nonzeros;
    row_partition fine;
    row_partition coarse;
    std::vector<buffer<std::uint8_t>> couplings; ///< [rank][nonzeros]
    std::vector<buffer<std::int32_t>> number;    ///< [rank][local columns]
    std::vector<buffer<T>> coarse_v;             ///< [rank][coarse rows]
    distributed_csr<T> indirect;                 ///< G
    distributed_csr<T> direct;                   ///< H
    std::optional<distributed_spgemm<T>> product;
    distributed_csr<T> whole;               ///< G H
    std::vector<buffer<std::uint8_t>> kept; ///< [rank][nonzeros of G H]

    template <class Make>
    void visit_all(const distributed_csr<T>& a, std::int64_t mean, const Make& make) const {
        for (int rank = 0; rank < group.size(); ++rank)
            visit_rows(group[rank], a.block(rank).rows(), mean, make(as_size(rank)));
    }

    [[nodiscard]] aggregation::rank_rows rows_of(const distributed_csr<T>& a, std::size_t r) const {
        aggregation::rank_rows rows = aggregation::rows_of(a, static_cast<int>(r));
        if (r < couplings.size()) rows.couplings = couplings[r].data();
        return rows;
    }

    [[nodiscard]] std::vector<buffer<T>> by_columns(const distributed_csr<T>& a,
                                                    std::span<const T* const> v) const {
        return aggregation::by_local_columns(a, exchange, v);
    }

    /// Finds what influences what; returns the kinds of rows, open ones and those that are alone.
    [[nodiscard]] std::vector<buffer<std::int32_t>>
    find_influences(const distributed_csr<T>& a, const std::vector<buffer<T>>& v,
                    std::vector<buffer<std::int32_t>>& key) {
        const auto columns = [&](int rank) { return a.columns_of(rank).count(); };
        const auto largest = arrays_of<T>(group, columns);
        auto kind = arrays_of<std::int32_t>(group, columns);
        key = arrays_of<std::int32_t>(group, columns);
        auto found =
            arrays_of<std::uint8_t>(group, [&](int rank) { return a.block(rank).nonzeros(); });
        const auto values = [&](std::size_t r) {
            return a.block(static_cast<int>(r)).view().values;
        };
        visit_all(a, mean_of_all(a), [&](std::size_t r) {
            return classical::largest_influence_step<T>{rows_of(a, r), values(r), v[r].data(),
                                                        largest[r].data()};
        });
        fill_ghosts(exchange, largest);
        visit_all(a, mean_of_all(a), [&](std::size_t r) {
            return classical::influence_step<T>{rows_of(a, r),
                                                values(r),
                                                v[r].data(),
                                                largest[r].data(),
                                                static_cast<T>(options.strong_threshold),
                                                found[r].data(),
                                                key[r].data(),
                                                kind[r].data()};
        });
        couplings = std::move(found);
        fill_ghosts(exchange, key);
        fill_ghosts(exchange, kind);
        return kind;
    }

    /// Decides about all open rows.
    [[nodiscard]] std::vector<buffer<std::int32_t>>
    choose_coarse(const distributed_csr<T>& a, std::vector<buffer<std::int32_t>> kind,
                  const std::vector<buffer<std::int32_t>>& key) const {
        auto next =
            arrays_of<std::int32_t>(group, [&](int rank) { return a.columns_of(rank).count(); });
        std::vector<row_list> lists;
        for (int rank = 0; rank < group.size(); ++rank)
            lists.emplace_back(group.handle(rank), a.block(rank).rows());
        const settled_on_failure settled(group);
        // The last rounds cost a GPU next to nothing; the host looks now and then whether they were
        // enough.
        std::int64_t left = a.rows();
        for (int rounds = 8; left != 0; rounds = 4) {
            for (int round = 0; round < rounds; ++round) {
                for (int rank = 0; rank < group.size(); ++rank) {
                    const std::size_t r = as_size(rank);
                    visit_list(group[rank], lists[r], mean_of_all(a),
                               classical::choose_coarse_step{rows_of(a, r), key[r].data(),
                                                             kind[r].data(), next[r].data()});
                }
                const auto all = pointers_of(next);
                exchange.fill_in_turn(std::span<std::int32_t* const>(all));
                std::swap(kind, next);
            }
            left = 0;
            for (const row_list& list : lists) left += list.size();
        }
        return kind;
    }

    void number_coarse(const distributed_csr<T>& a, const std::vector<buffer<std::int32_t>>& kind) {
        std::vector<buffer<std::int32_t>> before;
        for (int rank = 0; rank < group.size(); ++rank) {
            const std::int64_t rows = a.block(rank).rows();
            before.emplace_back(group.handle(rank), as_size(rows + 1), memory_item);
            add_up_sizes(
                group.handle(rank), rows,
                classical::is_coarse{kind[as_size(rank)].data() + a.columns_of(rank).first_owned()},
                before.back().data());
        }
        for (int rank = 0; rank < group.size(); ++rank) {
            std::int32_t count = 0;
            group[rank].download(&count, before[as_size(rank)].data() + a.block(rank).rows(),
                                 sizeof count);
            coarse.begin.push_back(coarse.begin.back() + count);
        }
        number =
            arrays_of<std::int32_t>(group, [&](int rank) { return a.columns_of(rank).count(); });
        visit_all(a, 1, [&](std::size_t r) {
            return classical::number_coarse_step{{},
                                                 rows_of(a, r),
                                                 kind[r].data(),
                                                 before[r].data(),
                                                 static_cast<std::int32_t>(coarse.begin[r]),
                                                 number[r].data()};
        });
        fill_ghosts(exchange, number);
        coarse_v = arrays_of<T>(group, [&](int rank) { return coarse.owned(rank).size(); });
    }

    /// What both ways of making G and H begin with.
    struct weights {
        std::vector<buffer<T>> v;
        std::vector<buffer<double>> beta;
        std::vector<buffer<double>> inverse;
        std::vector<buffer<std::int32_t>> entries; ///< of rows of G
        std::vector<buffer<std::int32_t>> direct;  ///< of rows of H
    };

    [[nodiscard]] classical::interpolated_rows<T>
    interpolated(const distributed_csr<T>& a, const weights& of, std::size_t r) const {
        return {rows_of(a, r), a.block(static_cast<int>(r)).view().values, of.v[r].data(),
                number[r].data()};
    }

    [[nodiscard]] weights weigh(const distributed_csr<T>& a, std::span<const T* const> near_null,
                                bool count) const {
        const auto rows = [&](int rank) { return a.block(rank).rows(); };
        weights of;
        of.v = by_columns(a, near_null);
        of.beta = arrays_of<double>(group, [&](int rank) { return a.columns_of(rank).count(); });
        of.inverse = arrays_of<double>(group, rows);
        if (count) {
            of.entries = arrays_of<std::int32_t>(group, rows);
            of.direct = arrays_of<std::int32_t>(group, rows);
        }
        visit_all(a, mean_of_all(a), [&](std::size_t r) {
            return classical::coarse_influence_step<T>{interpolated(a, of, r), of.beta[r].data()};
        });
        fill_ghosts(exchange, of.beta);
        visit_all(a, mean_of_all(a), [&](std::size_t r) {
            return classical::row_weight_step<T>{
                interpolated(a, of, r), of.beta[r].data(), of.inverse[r].data(),
                count ? of.entries[r].data() : nullptr, count ? of.direct[r].data() : nullptr};
        });
        visit_all(a, 1, [&](std::size_t r) {
            return classical::inject_step<T>{{},
                                             number[r].data() +
                                                 a.columns_of(static_cast<int>(r)).first_owned(),
                                             near_null[r],
                                             static_cast<std::int32_t>(coarse.begin[r]),
                                             coarse_v[r].data()};
        });
        return of;
    }

    /// Makes G and H with their patterns.
    void make_factors(const distributed_csr<T>& a, const weights& of) {
        std::vector<device_csr<T>> g(as_size(group.size()));
        std::vector<device_csr<T>> h(as_size(group.size()));
        std::vector<local_columns> of_h(as_size(group.size()));
        on_each_rank(group, [&](int rank) {
            const std::size_t r = as_size(rank);
            const auto& device = group.handle(rank);
            const std::int64_t rows = a.block(rank).rows();
            const auto make = [&](const buffer<std::int32_t>& counts, const auto& fill) {
                buffer<std::int64_t> offsets;
                const std::size_t entries = as_size(add_up(device, rows, counts, offsets));
                buffer<std::int32_t> columns(device, entries, "columns of a matrix");
                buffer<T> values(device, entries, "values of a matrix");
                fill(offsets.data(), columns.data(), values.data());
                return std::tuple(std::move(offsets), std::move(columns), std::move(values));
            };
            auto [g_offsets, g_columns, g_values] =
                make(of.entries[r], [&](auto* offsets, auto* columns, auto* values) {
                    fill_indirect(a, of, r, offsets, columns, values);
                });
            g[r] = {device, a.columns_of(rank).count(), std::move(g_offsets), std::move(g_columns),
                    std::move(g_values)};
            auto [h_offsets, h_columns, h_values] =
                make(of.direct[r], [&](auto* offsets, auto* columns, auto* values) {
                    fill_direct(a, of, r, offsets, columns, values);
                });
            of_h[r] =
                group.size() == 1
                    ? local_columns(device, coarse.owned(rank), {})
                    : number_columns(device, coarse.owned(rank), coarse.rows(), h_columns).value();
            h[r] = {device, of_h[r].count(), std::move(h_offsets), std::move(h_columns),
                    std::move(h_values)};
            g[r].set_ascending(true);
            h[r].set_ascending(true);
        });
        indirect = {group, fine, fine, std::move(g),
                    std::vector<local_columns>(a.all_columns().begin(), a.all_columns().end())};
        direct = {group, fine, coarse, std::move(h), std::move(of_h)};
    }

    void fill_indirect(const distributed_csr<T>& a, const weights& of, std::size_t r,
                       const std::int64_t* offsets, std::int32_t* columns, T* values) const {
        visit_rows(group[static_cast<int>(r)], a.block(static_cast<int>(r)).rows(), 1,
                   classical::fill_indirect_step<T>{{},
                                                    interpolated(a, of, r),
                                                    of.beta[r].data(),
                                                    of.inverse[r].data(),
                                                    offsets,
                                                    columns,
                                                    values});
    }
    void fill_direct(const distributed_csr<T>& a, const weights& of, std::size_t r,
                     const std::int64_t* offsets, std::int32_t* columns, T* values) const {
        visit_rows(
            group[static_cast<int>(r)], a.block(static_cast<int>(r)).rows(), 1,
            classical::fill_direct_step<T>{{}, interpolated(a, of, r), offsets, columns, values});
    }

    /// What rows of G H are cut by; says which entries stay unless that is known.
    [[nodiscard]] std::vector<buffer<T>> cut(bool refresh,
                                             std::vector<buffer<std::int32_t>>& counts) {
        const auto rows = [&](int rank) { return whole.block(rank).rows(); };
        std::vector<const T*> owned;
        for (const auto& of_rank : coarse_v) owned.push_back(of_rank.data());
        const auto v = aggregation::by_local_columns(
            whole, column_exchange(group, whole.all_columns()), std::span<const T* const>(owned));
        auto factor = arrays_of<T>(group, rows);
        if (!refresh) {
            counts = arrays_of<std::int32_t>(group, rows);
            kept = arrays_of<std::uint8_t>(group,
                                           [&](int rank) { return whole.block(rank).nonzeros(); });
        }
        visit_all(whole, mean_of_all(whole), [&](std::size_t r) {
            const auto rank = static_cast<int>(r);
            return classical::truncate_step<T>{aggregation::rows_of(whole, rank),
                                               whole.block(rank).view().values,
                                               v[r].data(),
                                               refresh,
                                               kept[r].data(),
                                               factor[r].data(),
                                               refresh ? nullptr : counts[r].data()};
        });
        group.synchronize(); // v goes
        return factor;
    }

    void fill_truncated(int rank, const std::vector<buffer<T>>& factor, const std::int64_t* offsets,
                        std::int32_t* columns, T* values) const {
        const std::size_t r = as_size(rank);
        visit_rows(group[rank], whole.block(rank).rows(), 1,
                   classical::fill_truncated_step<T>{{},
                                                     aggregation::rows_of(whole, rank),
                                                     whole.block(rank).view().values,
                                                     kept[r].data(),
                                                     factor[r].data(),
                                                     offsets,
                                                     columns,
                                                     values});
    }

    /// Throws unless the matrix has the shape of that of the constructor.
    void check_again(const distributed_csr<T>& a, std::span<const T* const> near_null) const {
        bool same = a.row_owners() == fine;
        for (int rank = 0; same && rank < group.size(); ++rank)
            same = a.block(rank).nonzeros() == nonzeros[as_size(rank)];
        if (!same || near_null.size() != as_size(group.size()))
            throw usage_error("classical_coarsening: the matrix has " +
                              std::to_string(a.nonzeros()) + " nonzeros and " +
                              std::to_string(near_null.size()) +
                              " near-null vectors' parts, or other owners of rows; it must be as "
                              "that of the constructor, with a part a rank");
    }
};

template <class T>
classical_coarsening<T>::classical_coarsening(const distributed_csr<T>& a,
                                              const classical_options& options,
                                              std::span<const T* const> near_null) {
    check_classical(a, options);
    state_.reset(new state{.options = options,
                           .group = a.group(),
                           .exchange = {a.group(), a.all_columns()},
                           .nonzeros = {},
                           .fine = a.row_owners(),
                           .coarse = {},
                           .couplings = {},
                           .number = {},
                           .coarse_v = {},
                           .indirect = {},
                           .direct = {},
                           .product = {},
                           .whole = {},
                           .kept = {}});
    for (int rank = 0; rank < a.group().size(); ++rank)
        state_->nonzeros.push_back(a.block(rank).nonzeros());
    state_->check_again(a, near_null);
    std::vector<buffer<std::int32_t>> key;
    const auto v = state_->by_columns(a, near_null);
    auto kind = state_->find_influences(a, v, key);
    state_->number_coarse(a, state_->choose_coarse(a, std::move(kind), key));
    a.group().synchronize(); // what the rounds needed goes
}

template <class T>
classical_coarsening<T>::classical_coarsening(classical_coarsening&&) noexcept = default;
template <class T>
classical_coarsening<T>&
classical_coarsening<T>::operator=(classical_coarsening&&) noexcept = default;
template <class T>
classical_coarsening<T>::~classical_coarsening() = default;

template <class T>
const row_partition& classical_coarsening<T>::coarse() const noexcept {
    return state_->coarse;
}

template <class T>
distributed_csr<T> classical_coarsening<T>::prolongation(const distributed_csr<T>& a,
                                                         std::span<const T* const> near_null) {
    state& s = *state_;
    s.check_again(a, near_null);
    {
        const auto weights = s.weigh(a, near_null, true);
        s.make_factors(a, weights);
    }
    s.product.emplace(s.indirect, s.direct, s.whole);
    std::vector<buffer<std::int32_t>> counts;
    const auto factor = s.cut(false, counts);
    std::vector<device_csr<T>> blocks(as_size(s.group.size()));
    on_each_rank(s.group, [&](int rank) {
        const std::size_t r = as_size(rank);
        const auto& device = s.group.handle(rank);
        buffer<std::int64_t> offsets;
        const std::size_t entries =
            as_size(add_up(device, s.whole.block(rank).rows(), counts[r], offsets));
        buffer<std::int32_t> columns(device, entries, "columns of a matrix");
        buffer<T> values(device, entries, "values of a matrix");
        s.fill_truncated(rank, factor, offsets.data(), columns.data(), values.data());
        blocks[r] = {device, s.whole.columns_of(rank).count(), std::move(offsets),
                     std::move(columns), std::move(values)};
        blocks[r].set_ascending(true);
    });
    return {s.group, s.fine, s.coarse, std::move(blocks),
            std::vector<local_columns>(s.whole.all_columns().begin(), s.whole.all_columns().end())};
}

template <class T>
void classical_coarsening<T>::refresh(const distributed_csr<T>& a,
                                      std::span<const T* const> near_null, distributed_csr<T>& p) {
    state& s = *state_;
    s.check_again(a, near_null);
    const auto weights = s.weigh(a, near_null, false);
    for (int rank = 0; rank < s.group.size(); ++rank) {
        const std::size_t r = as_size(rank);
        s.fill_indirect(a, weights, r, s.indirect.block(rank).view().offsets, nullptr,
                        s.indirect.block(rank).values());
        s.fill_direct(a, weights, r, s.direct.block(rank).view().offsets, nullptr,
                      s.direct.block(rank).values());
    }
    s.product->refresh(s.indirect, s.direct, s.whole);
    std::vector<buffer<std::int32_t>> none;
    const auto factor = s.cut(true, none);
    for (int rank = 0; rank < s.group.size(); ++rank)
        s.fill_truncated(rank, factor, p.block(rank).view().offsets, nullptr,
                         p.block(rank).values());
}

template <class T>
const T* classical_coarsening<T>::coarse_near_null(int rank) const noexcept {
    return state_->coarse_v[as_size(rank)].data();
}

template <class T>
std::int64_t classical_coarsening<T>::bytes() const noexcept {
    const state& s = *state_;
    std::size_t most = 0;
    for (std::size_t r = 0; r < s.couplings.size(); ++r)
        most = std::max(most, s.couplings[r].size() + s.number[r].size() * sizeof(std::int32_t) +
                                  s.coarse_v[r].size() * sizeof(T) +
                                  (r < s.kept.size() ? s.kept[r].size() : 0));
    if (!s.product) return static_cast<std::int64_t>(most);
    return static_cast<std::int64_t>(most) + s.indirect.bytes() + s.direct.bytes() +
           s.product->bytes() + s.whole.bytes();
}

#define KRYLITH_INSTANTIATE(T) template class classical_coarsening<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

#include <krylith/precond/coarsening/classical_coarsening.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/coarse_rows.hpp>
#include <krylith/precond/coarsening/interpolation_steps.hpp>
#include <krylith/precond/coarsening/truncation_steps.hpp>

namespace krylith {

namespace {

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
    communicator comm;
    exchange ghosts;                    ///< of the columns of A
    std::vector<std::int64_t> nonzeros; ///< [rank]
    row_partition fine;
    classical::coarse_rows chosen;
    std::vector<buffer<T>> coarse_v; ///< [rank][coarse rows]
    distributed_csr<T> indirect;     ///< G
    distributed_csr<T> direct;       ///< H
    std::optional<distributed_spgemm<T>> product;
    distributed_csr<T> whole;               ///< G H
    std::vector<buffer<std::uint8_t>> kept; ///< [rank][nonzeros of G H]

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
        return {chosen.rows_of(a, r), a.block(static_cast<int>(r)).view().values, of.v[r].data(),
                chosen.number[r].data()};
    }

    [[nodiscard]] weights weigh(const distributed_csr<T>& a, std::span<const T* const> near_null,
                                bool count) const {
        const auto rows = [&](int rank) { return a.block(rank).rows(); };
        weights of;
        of.v = aggregation::by_local_columns(a, ghosts, near_null);
        of.beta = classical::arrays_of<double>(
            comm, [&](int rank) { return a.columns_of(rank).count(); });
        of.inverse = classical::arrays_of<double>(comm, rows);
        if (count) {
            of.entries = classical::arrays_of<std::int32_t>(comm, rows);
            of.direct = classical::arrays_of<std::int32_t>(comm, rows);
        }
        classical::visit_all(a, classical::mean_of_all(a), [&](std::size_t r) {
            return classical::coarse_influence_step<T>{interpolated(a, of, r), of.beta[r].data()};
        });
        ghosts.fetch(of.beta);
        classical::visit_all(a, classical::mean_of_all(a), [&](std::size_t r) {
            return classical::row_weight_step<T>{
                interpolated(a, of, r), of.beta[r].data(), of.inverse[r].data(),
                count ? of.entries[r].data() : nullptr, count ? of.direct[r].data() : nullptr};
        });
        classical::visit_all(a, 1, [&](std::size_t r) {
            return classical::inject_step<T>{{},
                                             chosen.number[r].data() +
                                                 a.columns_of(static_cast<int>(r)).first_owned(),
                                             near_null[r],
                                             static_cast<std::int32_t>(chosen.owners.begin[r]),
                                             coarse_v[r].data()};
        });
        return of;
    }

    /// Makes G and H with their patterns.
    void make_factors(const distributed_csr<T>& a, const weights& of) {
        std::vector<device_csr<T>> g(as_size(comm.ranks()));
        std::vector<device_csr<T>> h(as_size(comm.ranks()));
        std::vector<local_columns> of_h(as_size(comm.ranks()));
        on_each_rank(comm, [&](int rank) {
            const std::size_t r = as_size(rank);
            const auto& device = comm.handle(rank);
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
            of_h[r] = comm.ranks() == 1 ? local_columns(device, chosen.owners.owned(rank), {})
                                        : number_columns(device, chosen.owners.owned(rank),
                                                         chosen.owners.rows(), h_columns)
                                              .value();
            h[r] = {device, of_h[r].count(), std::move(h_offsets), std::move(h_columns),
                    std::move(h_values)};
            g[r].set_ascending(true);
            h[r].set_ascending(true);
        });
        indirect = {comm, fine, fine, std::move(g),
                    std::vector<local_columns>(a.all_columns().begin(), a.all_columns().end())};
        direct = {comm, fine, chosen.owners, std::move(h), std::move(of_h)};
    }

    void fill_indirect(const distributed_csr<T>& a, const weights& of, std::size_t r,
                       const std::int64_t* offsets, std::int32_t* columns, T* values) const {
        visit_rows(comm[static_cast<int>(r)], a.block(static_cast<int>(r)).rows(), 1,
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
            comm[static_cast<int>(r)], a.block(static_cast<int>(r)).rows(), 1,
            classical::fill_direct_step<T>{{}, interpolated(a, of, r), offsets, columns, values});
    }

    /// What rows of G H are cut by; says which entries stay unless that is known.
    [[nodiscard]] std::vector<buffer<T>> cut(bool refresh,
                                             std::vector<buffer<std::int32_t>>& counts) {
        const auto rows = [&](int rank) { return whole.block(rank).rows(); };
        const std::vector<T*> places = pointers_of(coarse_v);
        const std::vector<const T*> owned(places.begin(), places.end());
        const auto v = aggregation::by_local_columns(whole, exchange_of_ghosts(whole),
                                                     std::span<const T* const>(owned));
        auto factor = classical::arrays_of<T>(comm, rows);
        if (!refresh) {
            counts = classical::arrays_of<std::int32_t>(comm, rows);
            kept = classical::arrays_of<std::uint8_t>(
                comm, [&](int rank) { return whole.block(rank).nonzeros(); });
        }
        classical::visit_all(whole, classical::mean_of_all(whole), [&](std::size_t r) {
            const auto rank = static_cast<int>(r);
            return classical::truncate_step<T>{aggregation::rows_of(whole, rank),
                                               whole.block(rank).view().values,
                                               v[r].data(),
                                               refresh,
                                               kept[r].data(),
                                               factor[r].data(),
                                               refresh ? nullptr : counts[r].data()};
        });
        return factor;
    }

    void fill_truncated(int rank, const std::vector<buffer<T>>& factor, const std::int64_t* offsets,
                        std::int32_t* columns, T* values) const {
        const std::size_t r = as_size(rank);
        visit_rows(comm[rank], whole.block(rank).rows(), 1,
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
        for (const int rank : comm.local())
            same = same && a.block(rank).nonzeros() == nonzeros[as_size(rank)];
        if (!same || near_null.size() != as_size(comm.ranks()))
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
                           .comm = a.comm(),
                           .ghosts = exchange_of_ghosts(a),
                           .nonzeros = {},
                           .fine = a.row_owners(),
                           .chosen = {},
                           .coarse_v = {},
                           .indirect = {},
                           .direct = {},
                           .product = {},
                           .whole = {},
                           .kept = {}});
    state_->nonzeros = by_rank(a.comm(), [&](int rank) { return a.block(rank).nonzeros(); });
    state_->check_again(a, near_null);
    state_->chosen = classical::find_coarse_rows(a, state_->ghosts, near_null,
                                                 static_cast<T>(options.strong_threshold));
    state_->coarse_v = classical::arrays_of<T>(
        a.comm(), [&](int rank) { return state_->chosen.owners.owned(rank).size(); });
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
    return state_->chosen.owners;
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
    std::vector<device_csr<T>> blocks(as_size(s.comm.ranks()));
    on_each_rank(s.comm, [&](int rank) {
        const std::size_t r = as_size(rank);
        const auto& device = s.comm.handle(rank);
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
    return {s.comm, s.fine, s.chosen.owners, std::move(blocks),
            std::vector<local_columns>(s.whole.all_columns().begin(), s.whole.all_columns().end())};
}

template <class T>
void classical_coarsening<T>::refresh(const distributed_csr<T>& a,
                                      std::span<const T* const> near_null, distributed_csr<T>& p) {
    state& s = *state_;
    s.check_again(a, near_null);
    const auto weights = s.weigh(a, near_null, false);
    for (const int rank : s.comm.local()) {
        const std::size_t r = as_size(rank);
        s.fill_indirect(a, weights, r, s.indirect.block(rank).view().offsets, nullptr,
                        s.indirect.block(rank).values());
        s.fill_direct(a, weights, r, s.direct.block(rank).view().offsets, nullptr,
                      s.direct.block(rank).values());
    }
    s.product->refresh(s.indirect, s.direct, s.whole);
    std::vector<buffer<std::int32_t>> none;
    const auto factor = s.cut(true, none);
    for (const int rank : s.comm.local())
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
    for (std::size_t r = 0; r < s.coarse_v.size(); ++r)
        most = std::max(most, s.chosen.couplings[r].size() +
                                  s.chosen.number[r].size() * sizeof(std::int32_t) +
                                  s.coarse_v[r].size() * sizeof(T) +
                                  (r < s.kept.size() ? s.kept[r].size() : 0));
    if (!s.product) return static_cast<std::int64_t>(most);
    return static_cast<std::int64_t>(most) + s.indirect.bytes() + s.direct.bytes() +
           s.product->bytes() + s.whole.bytes();
}

#define KRYLITH_INSTANTIATE(T) template class classical_coarsening<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

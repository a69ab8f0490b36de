#include <algorithm>
#include <bit>
#include <utility>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/strength_steps.hpp>

namespace krylith::aggregation {

namespace {

/// The diagonal and its roots on one rank.
template <class T>
struct diagonal_arrays {
    std::vector<buffer<T>> diagonal; ///< [rows]
    std::vector<buffer<T>> scale;    ///< [local columns]
};

template <class T>
diagonal_arrays<T> find_diagonals(const distributed_csr<T>& a, const rank_parts<T>& parts) {
    diagonal_arrays<T> found;
    for (int rank = 0; rank < a.group().size(); ++rank) {
        const auto& device = a.group().handle(rank);
        const auto& block = a.block(rank);
        found.diagonal.emplace_back(device, as_size(block.rows()), memory_item);
        found.scale.emplace_back(device, as_size(a.columns_of(rank).count()), memory_item);
        visit_rows(*device, block.rows(), mean_entries(a, rank),
                   diagonal_step<T>{rows_of(a, parts[as_size(rank)], rank), block.view().values,
                                    found.diagonal.back().data(), found.scale.back().data()});
    }
    return found;
}

/// The largest bounds of rows, as bits, for each rank.
std::vector<buffer<unsigned long long>> make_bounds(const device_group& group) {
    std::vector<buffer<unsigned long long>> bounds;
    for (int rank = 0; rank < group.size(); ++rank) {
        bounds.emplace_back(group.handle(rank), 1, memory_item);
        bounds.back().zero();
    }
    return bounds;
}

double largest_of(const std::vector<buffer<unsigned long long>>& bounds) {
    double most = 1;
    for (const auto& bound : bounds)
        most = std::max(most, std::bit_cast<double>(bound.download().front()));
    return most;
}

} // namespace

template <class T>
std::vector<buffer<T>> by_local_columns(const distributed_csr<T>& a,
                                        const column_exchange& exchange,
                                        std::span<const T* const> v) {
    std::vector<buffer<T>> local;
    for (int rank = 0; rank < a.group().size() && !v.empty(); ++rank) {
        const auto& device = a.group().handle(rank);
        const local_columns& columns = a.columns_of(rank);
        local.emplace_back(device, as_size(columns.count()), memory_item);
        const auto owned = as_size(columns.owned().size());
        if (owned != 0)
            device->copy(local.back().data() + columns.first_owned(), v[as_size(rank)],
                         owned * sizeof(T));
    }
    if (!v.empty()) fill_ghosts(exchange, local);
    return local;
}

template <class T>
double find_strength(const distributed_csr<T>& a, const strength_rule& rule,
                     const column_exchange& exchange, std::span<const T* const> near_null,
                     rank_parts<T>& parts, std::vector<buffer<std::uint8_t>>& states) {
    const device_group& group = a.group();
    parts.resize(as_size(group.size()));
    const diagonal_arrays<T> found = find_diagonals(a, parts);
    fill_ghosts(exchange, found.scale);
    const auto v = by_local_columns(a, exchange, near_null);
    const auto bounds = make_bounds(group);
    states.clear();
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto& device = group.handle(rank);
        const auto& block = a.block(rank);
        rank_part<T>& part = parts[as_size(rank)];
        part.couplings = {device, as_size(block.nonzeros()), memory_item};
        part.filtered = {device, as_size(block.rows()), memory_item};
        states.emplace_back(device, as_size(a.columns_of(rank).count()), memory_item);
        visit_rows(*device, block.rows(), mean_entries(a, rank),
                   strength_step<T>{rows_of(a, part, rank),
                                    block.view().values,
                                    found.scale[as_size(rank)].data(),
                                    v.empty() ? nullptr : v[as_size(rank)].data(),
                                    {found.diagonal[as_size(rank)].data(), part.filtered.data(),
                                     bounds[as_size(rank)].data()},
                                    static_cast<T>(rule.theta),
                                    static_cast<T>(rule.large),
                                    part.couplings.data(),
                                    states.back().data()});
    }
    fill_ghosts(exchange, states);
    return largest_of(bounds);
}

template <class T>
double filter_again(const distributed_csr<T>& a, const column_exchange& exchange,
                    std::span<const T* const> near_null, rank_parts<T>& parts) {
    const device_group& group = a.group();
    const diagonal_arrays<T> found = find_diagonals(a, parts);
    const auto v = by_local_columns(a, exchange, near_null);
    const auto bounds = make_bounds(group);
    for (int rank = 0; rank < group.size(); ++rank) {
        rank_part<T>& part = parts[as_size(rank)];
        visit_rows(group[rank], a.block(rank).rows(), mean_entries(a, rank),
                   filter_step<T>{rows_of(a, part, rank),
                                  a.block(rank).view().values,
                                  v.empty() ? nullptr : v[as_size(rank)].data(),
                                  {found.diagonal[as_size(rank)].data(), part.filtered.data(),
                                   bounds[as_size(rank)].data()}});
    }
    return largest_of(bounds);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template double find_strength(const distributed_csr<T>&, const strength_rule&,                 \
                                  const column_exchange&, std::span<const T* const>,               \
                                  rank_parts<T>&, std::vector<buffer<std::uint8_t>>&);             \
    template double filter_again(const distributed_csr<T>&, const column_exchange&,                \
                                 std::span<const T* const>, rank_parts<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation

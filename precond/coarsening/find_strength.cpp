#include <algorithm>
#include <bit>
#include <utility>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/rank_numbers.hpp>
#include <krylith/precond/coarsening/strength_steps.hpp>

namespace krylith::aggregation {

namespace {

/// The diagonal and its roots on each rank, and row_extremes::least_along() where it is asked for.
template <class T>
struct diagonal_arrays {
    std::vector<buffer<T>> diagonal; ///< [rows]
    std::vector<buffer<T>> scale;    ///< [local columns]
    std::vector<buffer<T>> along;    ///< [local columns]

    [[nodiscard]] T* along_of(int rank) const {
        return along.empty() ? nullptr : along[as_size(rank)].data();
    }
};

template <class T>
diagonal_arrays<T> find_diagonals(const distributed_csr<T>& a, const rank_parts<T>& parts,
                                  bool directions = false) {
    const communicator& comm = a.comm();
    const auto columns = [&](int rank) {
        return buffer<T>(comm.handle(rank), as_size(a.columns_of(rank).count()), memory_item);
    };
    diagonal_arrays<T> found;
    found.diagonal = by_rank(comm, [&](int rank) {
        return buffer<T>(comm.handle(rank), as_size(a.block(rank).rows()), memory_item);
    });
    found.scale = by_rank(comm, columns);
    if (directions) found.along = by_rank(comm, columns);
    for (const int rank : comm.local()) {
        const std::size_t r = as_size(rank);
        visit_rows(comm[rank], a.block(rank).rows(), mean_entries(a, rank),
                   diagonal_step<T>{rows_of(a, parts[r], rank), a.block(rank).view().values,
                                    found.diagonal[r].data(), found.scale[r].data(),
                                    found.along_of(rank)});
    }
    return found;
}

/// Of larger matrices one row in so many is asked whether it has a direction: additions to one
/// number follow one another.
constexpr std::int64_t most_asked = 65536;
constexpr std::uint32_t sampled_of_many = 256;

/// For each rank the largest bound of its rows, as bits, and how many rows of the sample have no
/// direction.
rank_numbers<unsigned long long> make_facts(const communicator& comm) {
    return {comm, 2, memory_item};
}

strength_facts facts_of(const rank_numbers<unsigned long long>& ranks, std::uint32_t sampled = 1) {
    strength_facts facts;
    for (const auto& numbers : ranks.of_all()) {
        facts.bound = std::max(facts.bound, std::bit_cast<double>(numbers[0]));
        facts.undirected += sampled * static_cast<std::int64_t>(numbers[1]);
    }
    return facts;
}

} // namespace

template <class T>
std::vector<buffer<T>> by_local_columns(const distributed_csr<T>& a, const exchange& ghosts,
                                        std::span<const T* const> v) {
    if (v.empty()) return {};
    auto local = by_rank(a.comm(), [&](int rank) {
        const auto& device = a.comm().handle(rank);
        const local_columns& columns = a.columns_of(rank);
        buffer<T> all(device, as_size(columns.count()), memory_item);
        const auto owned = as_size(columns.owned().size());
        if (owned != 0)
            device->copy(all.data() + columns.first_owned(), v[as_size(rank)], owned * sizeof(T));
        return all;
    });
    ghosts.fetch(local);
    return local;
}

template <class T>
strength_facts find_strength(const distributed_csr<T>& a, const strength_rule& rule,
                             const exchange& ghosts, std::span<const T* const> near_null,
                             rank_parts<T>& parts, std::vector<buffer<std::uint8_t>>& states) {
    const communicator& comm = a.comm();
    parts.resize(as_size(comm.ranks()));
    const diagonal_arrays<T> found = find_diagonals(a, parts, rule.directions);
    ghosts.fetch(found.scale);
    if (!found.along.empty()) ghosts.fetch(found.along);
    const auto v = by_local_columns(a, ghosts, near_null);
    const auto facts = make_facts(comm);
    const std::uint32_t sampled = a.rows() <= most_asked ? 1 : sampled_of_many;
    states = by_rank(comm, [&](int rank) {
        return buffer<std::uint8_t>(comm.handle(rank), as_size(a.columns_of(rank).count()),
                                    memory_item);
    });
    for (const int rank : comm.local()) {
        const auto& device = comm.handle(rank);
        const auto& block = a.block(rank);
        rank_part<T>& part = parts[as_size(rank)];
        part.couplings = {device, as_size(block.nonzeros()), memory_item};
        part.filtered = {device, as_size(block.rows()), memory_item};
        visit_rows(*device, block.rows(), mean_entries(a, rank),
                   strength_step<T>{
                       rows_of(a, part, rank),
                       block.view().values,
                       found.scale[as_size(rank)].data(),
                       v.empty() ? nullptr : v[as_size(rank)].data(),
                       {found.diagonal[as_size(rank)].data(), part.filtered.data(), facts.of(rank)},
                       {static_cast<T>(rule.theta), found.along_of(rank)},
                       static_cast<T>(rule.large),
                       facts.of(rank) + 1,
                       sampled,
                       part.couplings.data(),
                       states[as_size(rank)].data()});
    }
    ghosts.fetch(states);
    return facts_of(facts, sampled);
}

template <class T>
double filter_again(const distributed_csr<T>& a, const exchange& ghosts,
                    std::span<const T* const> near_null, rank_parts<T>& parts) {
    const communicator& comm = a.comm();
    const diagonal_arrays<T> found = find_diagonals(a, parts);
    const auto v = by_local_columns(a, ghosts, near_null);
    const auto facts = make_facts(comm);
    for (const int rank : comm.local()) {
        rank_part<T>& part = parts[as_size(rank)];
        visit_rows(comm[rank], a.block(rank).rows(), mean_entries(a, rank),
                   filter_step<T>{rows_of(a, part, rank),
                                  a.block(rank).view().values,
                                  v.empty() ? nullptr : v[as_size(rank)].data(),
                                  {found.diagonal[as_size(rank)].data(), part.filtered.data(),
                                   facts.of(rank)}});
    }
    return facts_of(facts).bound;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<buffer<T>> by_local_columns(const distributed_csr<T>&, const exchange&,   \
                                                     std::span<const T* const>);                   \
    template strength_facts find_strength(const distributed_csr<T>&, const strength_rule&,         \
                                          const exchange&, std::span<const T* const>,              \
                                          rank_parts<T>&, std::vector<buffer<std::uint8_t>>&);     \
    template double filter_again(const distributed_csr<T>&, const exchange&,                       \
                                 std::span<const T* const>, rank_parts<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation

#include <krylith/precond/coarsening/coarse_rows.hpp>

#include <numeric>
#include <utility>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/precond/coarsening/influence_steps.hpp>

namespace krylith::classical {

namespace {

/// Finds what influences what; returns the kinds of rows, open ones and those that are alone.
template <class T>
std::vector<buffer<std::int32_t>>
find_influences(const distributed_csr<T>& a, const exchange& ghosts,
                std::span<const T* const> near_null, T threshold, coarse_rows& result,
                std::vector<buffer<std::int32_t>>& key) {
    const communicator& comm = a.comm();
    const auto v = aggregation::by_local_columns(a, ghosts, near_null);
    const auto columns = [&](int rank) { return a.columns_of(rank).count(); };
    const auto largest = arrays_of<T>(comm, columns);
    auto kind = arrays_of<std::int32_t>(comm, columns);
    key = arrays_of<std::int32_t>(comm, columns);
    result.couplings =
        arrays_of<std::uint8_t>(comm, [&](int rank) { return a.block(rank).nonzeros(); });
    const auto values = [&](std::size_t r) { return a.block(static_cast<int>(r)).view().values; };
    visit_all(a, mean_of_all(a), [&](std::size_t r) {
        return largest_influence_step<T>{aggregation::rows_of(a, static_cast<int>(r)), values(r),
                                         v[r].data(), largest[r].data()};
    });
    ghosts.fetch(largest);
    visit_all(a, mean_of_all(a), [&](std::size_t r) {
        return influence_step<T>{aggregation::rows_of(a, static_cast<int>(r)),
                                 values(r),
                                 v[r].data(),
                                 largest[r].data(),
                                 threshold,
                                 result.couplings[r].data(),
                                 key[r].data(),
                                 kind[r].data()};
    });
    ghosts.fetch(key);
    ghosts.fetch(kind);
    return kind;
}

/// Decides about all open rows.
template <class T>
std::vector<buffer<std::int32_t>> choose_coarse(const distributed_csr<T>& a, const exchange& ghosts,
                                                const coarse_rows& result,
                                                std::vector<buffer<std::int32_t>> kind,
                                                const std::vector<buffer<std::int32_t>>& key) {
    const communicator& comm = a.comm();
    auto next = arrays_of<std::int32_t>(comm, [&](int rank) { return a.columns_of(rank).count(); });
    auto lists =
        by_rank(comm, [&](int rank) { return row_list(comm.handle(rank), a.block(rank).rows()); });
    const settled_on_failure settled(comm);
    // The last rounds cost a GPU next to nothing; the host looks now and then whether they were
    // enough.
    std::int64_t left = a.rows();
    for (int rounds = 8; left != 0; rounds = 4) {
        for (int round = 0; round < rounds; ++round) {
            for (const int rank : comm.local()) {
                const std::size_t r = as_size(rank);
                visit_list(comm[rank], lists[r], mean_of_all(a),
                           choose_coarse_step{result.rows_of(a, r), key[r].data(), kind[r].data(),
                                              next[r].data()});
            }
            ghosts.fetch_in_turn(pointers_of(next));
            std::swap(kind, next);
        }
        auto sizes = by_rank(comm, [&](int rank) { return lists[as_size(rank)].size(); });
        comm.all_gather(sizes);
        left = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    }
    return kind;
}

/// Numbers coarse rows, in their order, over all ranks.
template <class T>
void number_coarse(const distributed_csr<T>& a, const exchange& ghosts,
                   const std::vector<buffer<std::int32_t>>& kind, coarse_rows& result) {
    const communicator& comm = a.comm();
    const auto before =
        arrays_of<std::int32_t>(comm, [&](int rank) { return a.block(rank).rows() + 1; });
    for (const int rank : comm.local())
        add_up_sizes(comm.handle(rank), a.block(rank).rows(),
                     is_coarse{kind[as_size(rank)].data() + a.columns_of(rank).first_owned()},
                     before[as_size(rank)].data());
    result.owners = aggregation::owners_of_last(comm, before);
    result.number =
        arrays_of<std::int32_t>(comm, [&](int rank) { return a.columns_of(rank).count(); });
    visit_all(a, 1, [&](std::size_t r) {
        return number_coarse_step{{},
                                  aggregation::rows_of(a, static_cast<int>(r)),
                                  kind[r].data(),
                                  before[r].data(),
                                  static_cast<std::int32_t>(result.owners.begin[r]),
                                  result.number[r].data()};
    });
    ghosts.fetch(result.number);
}

} // namespace

template <class T>
coarse_rows find_coarse_rows(const distributed_csr<T>& a, const exchange& ghosts,
                             std::span<const T* const> near_null, T threshold) {
    coarse_rows result;
    std::vector<buffer<std::int32_t>> key;
    auto kind = find_influences(a, ghosts, near_null, threshold, result, key);
    kind = choose_coarse(a, ghosts, result, std::move(kind), key);
    number_coarse(a, ghosts, kind, result); // and orders the last exchange of kinds
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template coarse_rows find_coarse_rows(const distributed_csr<T>&, const exchange&,              \
                                          std::span<const T* const>, T);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::classical

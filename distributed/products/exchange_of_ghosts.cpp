#include <krylith/distributed/products/exchange_of_ghosts.hpp>

#include <utility>
#include <vector>

#include <krylith/distributed/source/partition_check.hpp>

namespace krylith {

exchange exchange_of_ghosts(const communicator& comm, std::span<const local_columns> columns,
                            exchange::lists where) {
    if (comm.ranks() == 1) return {comm, {}};
    const auto of = [&](int rank) -> const local_columns& {
        return columns[static_cast<std::size_t>(rank)];
    };
    const index_map map = map_of(
        comm, rows_of_parts(comm, [&](int rank) { return of(rank).owned().size(); }), columns);
    auto first_owned = by_rank(comm, [&](int rank) { return of(rank).first_owned(); });
    comm.all_gather(first_owned);
    std::vector<shared_items> items;
    for (int user = 0; user < comm.ranks(); ++user)
        for (const neighbour_ghosts& from : map.neighbours(user)) {
            shared_items m;
            m.owner = from.owner;
            m.user = user;
            m.count = from.count;
            m.at_owner = first_owned[static_cast<std::size_t>(from.owner)];
            m.at_user = from.first;
            m.is_listed = true;
            m.list_first = map.owned(from.owner).begin;
            if (comm.is_local(user)) {
                m.list = of(user).resident_ghosts();
                m.list_begin = of(user).place(from.first);
            }
            items.push_back(std::move(m));
        }
    return {comm, std::move(items), where};
}

} // namespace krylith

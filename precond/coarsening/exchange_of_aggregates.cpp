#include <krylith/precond/coarsening/exchange_of_aggregates.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace krylith::aggregation {

exchange exchange_of_aggregates(const communicator& comm, const row_partition& aggregates,
                                std::vector<row_range> used) {
    comm.all_gather(used);
    std::vector<shared_items> items;
    for (int owner = 0; owner < comm.ranks(); ++owner)
        for (int user = 0; user < comm.ranks(); ++user) {
            const row_range own = aggregates.owned(owner);
            const row_range& of_user = used[static_cast<std::size_t>(user)];
            const std::int64_t begin = std::max(own.begin, of_user.begin);
            const std::int64_t end = std::min(own.end, of_user.end);
            if (owner != user && begin < end)
                items.push_back({owner, user, end - begin, begin, begin});
        }
    return {comm, std::move(items)};
}

} // namespace krylith::aggregation

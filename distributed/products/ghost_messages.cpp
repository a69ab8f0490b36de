#include <krylith/distributed/products/ghost_messages.hpp>

#include <algorithm>
#include <utility>

#include <krylith/comm/exchange/of_messages.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/distributed/source/partition_check.hpp>

namespace krylith {

namespace {

/// Makes the lists of messages ones that their owners have.
void bring_to_owners(const communicator& comm, std::span<ghost_message> messages) {
    std::vector<std::shared_ptr<const buffer<std::int32_t>>> there(messages.size());
    const auto to = of_messages(
        comm, messages.size(), [&](std::size_t k) { return messages[k].owner; },
        [&](std::size_t k) -> std::int32_t* {
            if (!messages[k].copied) return nullptr;
            buffer<std::int32_t> list(comm.handle(messages[k].owner),
                                      static_cast<std::size_t>(messages[k].count),
                                      "places of ghosts");
            std::int32_t* const data = list.data();
            there[k] = std::make_shared<const buffer<std::int32_t>>(std::move(list));
            return data;
        });
    const settled_on_failure settled(comm); // before they are freed
    for (std::size_t k = 0; k < messages.size(); ++k) {
        ghost_message& m = messages[k];
        if (!m.copied) continue;
        if (comm.is_local(m.receiver))
            comm.copy(m.receiver, m.list->data() + m.begin, m.owner, to[k],
                      static_cast<std::size_t>(m.count) * sizeof(std::int32_t));
        m.list = there[k];
        m.begin = 0;
    }
    comm.join(); // the owners' kernels, and the end of the receivers' lists, come after
}

} // namespace

std::vector<ghost_message> make_ghost_messages(const communicator& comm,
                                               std::span<const local_columns> columns,
                                               ghost_lists lists) {
    const auto of = [&](int rank) -> const local_columns& {
        return columns[static_cast<std::size_t>(rank)];
    };
    const index_map map = map_of(
        comm, rows_of_parts(comm, [&](int rank) { return of(rank).owned().size(); }), columns);
    std::vector<ghost_message> messages;
    for (int receiver = 0; receiver < comm.ranks(); ++receiver)
        for (const neighbour_ghosts& from : map.neighbours(receiver)) {
            ghost_message m;
            m.owner = from.owner;
            m.receiver = receiver;
            m.first = from.first;
            m.count = from.count;
            m.staged = comm.path(receiver, from.owner) == peer_path::staged;
            m.first_of_owner = static_cast<std::int32_t>(map.owned(from.owner).begin);
            m.copied = m.staged || lists == ghost_lists::owners;
            if (comm.is_local(receiver)) {
                m.list = of(receiver).resident_ghosts();
                m.begin = of(receiver).place(from.first);
            }
            messages.push_back(std::move(m));
        }
    if (std::ranges::any_of(messages, &ghost_message::copied)) bring_to_owners(comm, messages);
    return messages;
}

} // namespace krylith

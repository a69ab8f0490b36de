#include <krylith/distributed/products/ghost_messages.hpp>

#include <utility>

#include <krylith/comm/local/settled_on_failure.hpp>

namespace krylith {

namespace {

/// Makes the list of a message one that its owner has.
void bring_to_owner(const communicator& comm, ghost_message& m) {
    buffer<std::int32_t> there(comm.handle(m.owner), static_cast<std::size_t>(m.count),
                               "places of ghosts");
    const settled_on_failure settled(comm); // before it is freed
    comm.copy(m.receiver, m.list->data() + m.begin, m.owner, there.data(),
              there.size() * sizeof(std::int32_t));
    m.list = std::make_shared<const buffer<std::int32_t>>(std::move(there));
    m.begin = 0;
}

} // namespace

std::vector<ghost_message> make_ghost_messages(const communicator& comm,
                                               std::span<const local_columns> columns,
                                               ghost_lists lists) {
    row_partition owners;
    for (const local_columns& of_rank : columns) owners.begin.push_back(of_rank.owned().end);
    const index_map map = map_of(std::move(owners), columns);
    std::vector<ghost_message> messages;
    bool copied = false;
    const settled_on_failure settled(comm);
    for (const int receiver : comm.local()) {
        const local_columns& mine = columns[static_cast<std::size_t>(receiver)];
        for (const neighbour_ghosts& from : map.neighbours(receiver)) {
            ghost_message m;
            m.owner = from.owner;
            m.receiver = receiver;
            m.first = from.first;
            m.count = from.count;
            m.staged = comm.path(receiver, from.owner) == peer_path::staged;
            m.list = mine.resident_ghosts();
            m.begin = mine.place(from.first);
            m.first_of_owner = static_cast<std::int32_t>(map.owned(from.owner).begin);
            m.copied = m.staged || lists == ghost_lists::owners;
            messages.push_back(std::move(m));
            if (messages.back().copied) bring_to_owner(comm, messages.back());
            copied = copied || messages.back().copied;
        }
    }
    if (copied) comm.join(); // the owners' kernels, and the end of their lists, come after
    return messages;
}

} // namespace krylith

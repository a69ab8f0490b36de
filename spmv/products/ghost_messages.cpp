#include <krylith/spmv/products/ghost_messages.hpp>

#include <algorithm>

namespace krylith {

std::vector<ghost_message> make_ghost_messages(const device_group& group,
                                               std::span<const local_columns> columns,
                                               ghost_lists lists) {
    std::vector<ghost_message> messages;
    for (int receiver = 0; receiver < group.size(); ++receiver) {
        const local_columns& mine = columns[static_cast<std::size_t>(receiver)];
        const std::vector<std::int32_t>& ghosts = mine.ghosts();
        auto begin = ghosts.begin();
        for (int owner = 0; owner < group.size() && begin != ghosts.end(); ++owner) {
            const row_range theirs = columns[static_cast<std::size_t>(owner)].owned();
            const auto end = std::lower_bound(begin, ghosts.end(), theirs.end);
            if (owner == receiver || begin == end) continue;
            ghost_message m;
            m.owner = owner;
            m.receiver = receiver;
            m.first = begin - ghosts.begin();
            if (m.first >= mine.first_owned()) m.first += mine.owned().size();
            m.count = end - begin;
            m.staged = group.path(receiver, owner) == peer_path::staged;
            std::vector<std::int32_t> places;
            places.reserve(static_cast<std::size_t>(m.count));
            for (; begin != end; ++begin)
                places.push_back(*begin - static_cast<std::int32_t>(theirs.begin));
            m.places = buffer<std::int32_t>(
                group.handle(lists == ghost_lists::owners ? owner : m.packer()),
                std::span<const std::int32_t>(places), "places of ghosts");
            messages.push_back(std::move(m));
        }
    }
    return messages;
}

} // namespace krylith

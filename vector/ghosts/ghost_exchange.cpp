#include <krylith/vector/ghosts/ghost_exchange.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/words/host_block.hpp>

namespace krylith {

namespace {

/// Calls visit(tile, first, count) for the tiles of ascending rows, which rows [first, first +
/// count) are of.
template <class T, class Visit>
void each_tile(std::span<const std::int32_t> rows, const Visit& visit) {
    for (std::size_t first = 0; first < rows.size();) {
        const std::int32_t tile = rows[first] / tile_size<T>;
        const std::int64_t end = (std::int64_t{tile} + 1) * tile_size<T>;
        std::size_t last = first + 1;
        while (last < rows.size() && rows[last] < end) ++last;
        visit(static_cast<std::size_t>(tile), first, last - first);
        first = last;
    }
}

/// The number of entries to send that lie in tiles before each one, and of all.
template <class T>
std::vector<std::int32_t> first_entries(const std::vector<listed_send>& sends, std::size_t tiles) {
    std::vector<std::int32_t> begin(tiles + 1);
    for (const listed_send& send : sends)
        each_tile<T>(send.rows, [&](std::size_t tile, std::size_t, std::size_t count) {
            begin[tile + 1] += static_cast<std::int32_t>(count);
        });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    return begin;
}

/// The entries to send by tile, then receiver, then place there; those of one ascend in both. An
/// exchange may be as large as a level of multigrid.
template <class T>
std::vector<put_entry> in_tiles(const std::vector<listed_send>& sends,
                                std::vector<std::int32_t> next) {
    std::vector<put_entry> entries(static_cast<std::size_t>(next.back()));
    std::int32_t receiver = -1;
    for (const listed_send& send : sends) {
        ++receiver;
        each_tile<T>(send.rows, [&](std::size_t tile, std::size_t first, std::size_t count) {
            put_entry* const to = entries.data() + next[tile];
            const auto place =
                static_cast<std::int32_t>(send.position) + static_cast<std::int32_t>(first);
            for (std::size_t i = 0; i < count; ++i)
                to[i] = {send.rows[first + i], place + static_cast<std::int32_t>(i), receiver};
            next[tile] += static_cast<std::int32_t>(count);
        });
    }
    return entries;
}

/// The entries of others that a rank wants: for each owner the place of the first one here, as
/// listed_send counts it, then their numbers there.
std::vector<addressed_list<std::int32_t>> wanted_by(const index_map& map, int rank) {
    std::vector<addressed_list<std::int32_t>> lists;
    const local_indices& here = map.local(rank);
    for (const neighbour_ghosts& from : map.neighbours(rank)) {
        auto& list = lists.emplace_back(addressed_list<std::int32_t>{rank, from.owner, {}}).items;
        list.resize(static_cast<std::size_t>(from.count) + 1);
        list[0] = static_cast<std::int32_t>(from.first - here.first_owned());
        std::int32_t* const rows = list.data() + 1;
        const std::int64_t* const ghosts = here.ghosts().data() + here.place(from.first);
        const std::int64_t begin = map.owned(from.owner).begin;
#pragma omp parallel for schedule(static) if (from.count > 1 << 20)
        for (std::int64_t k = 0; k < from.count; ++k)
            rows[k] = static_cast<std::int32_t>(ghosts[k] - begin);
    }
    return lists;
}

/// What the entries of a put become where every entry is a row of k: sends in ascending order of
/// peers, rows and places.
struct wide_send {
    std::int64_t position;
    std::vector<std::int32_t> rows;
};
std::map<std::int32_t, wide_send> columns_of(const std::vector<put_entry>& entries,
                                             std::int64_t k) {
    std::map<std::int32_t, wide_send> by_peer; // entries of one ascend in rows and places
    for (const put_entry& entry : entries) {
        const auto place =
            by_peer.try_emplace(entry.receiver, wide_send{std::int64_t{entry.position} * k, {}});
        for (std::int64_t j = 0; j < k; ++j)
            place.first->second.rows.push_back(static_cast<std::int32_t>(entry.row * k + j));
    }
    return by_peer;
}

} // namespace

template <class T>
put_schedule<T>::put_schedule(layout_handle layout, index_map map)
    : layout_(std::move(layout)),
      map_(std::move(map)),
      local_(static_cast<std::size_t>(map_.ranks())) {
    const communicator& comm = layout_->comm;
    for (const int rank : comm.local())
        local_[static_cast<std::size_t>(rank)].ghosts = map_.local(rank).ghost_count();
    below_ = by_rank(comm, [&](int rank) { return map_.local(rank).first_owned(); });
    comm.all_gather(below_);
    if (map_.is_whole()) {
        for (const int rank : comm.local()) take_all(rank);
        return;
    }
    std::vector<std::vector<addressed_list<std::int32_t>>> wanted(local_.size());
    on_each_rank(comm,
                 [&](int rank) { wanted[static_cast<std::size_t>(rank)] = wanted_by(map_, rank); });
    std::vector<addressed_list<std::int32_t>> lists;
    for (auto& of_rank : wanted) std::ranges::move(of_rank, std::back_inserter(lists));
    lists = comm.deliver(std::move(lists));
    std::ranges::sort(lists, {}, &addressed_list<std::int32_t>::from);
    on_each_rank(comm, [&](int rank) {
        std::vector<listed_send> sends;
        for (const auto& list : lists)
            if (list.to == rank)
                sends.push_back({list.from, std::span(list.items).subspan(1), list.items[0]});
        this->list(rank, sends);
    });
}

template <class T>
put_schedule<T>::put_schedule(layout_handle layout, const put_schedule& of, int columns)
    : layout_(std::move(layout)),
      map_(of.map_),
      columns_(of.columns_ * columns),
      local_(of.local_.size()),
      below_(of.below_) {
    for (std::int64_t& below : below_) below *= columns;
    on_each_rank(layout_->comm, [&](int rank) {
        const local_put& local = of.local(rank);
        if (local.dense != 0)
            throw usage_error("put_schedule: vectors of several columns have no dense put");
        const std::int64_t k = columns;
        local_put& wide = local_[static_cast<std::size_t>(rank)];
        wide.ghosts = local.ghosts * k;
        const auto by_peer = columns_of(local.entries.download(), k);
        std::vector<listed_send> sends;
        for (const auto& [receiver, send] : by_peer)
            sends.push_back({local.messages[static_cast<std::size_t>(receiver)].peer, send.rows,
                             send.position});
        list(rank, sends);
    });
}

template <class T>
std::vector<typename put_schedule<T>::message> put_schedule<T>::received(int rank) const {
    std::vector<message> all;
    for (const neighbour_ghosts& from : map_.neighbours(rank))
        all.push_back({from.owner, (from.first - map_.local(rank).first_owned()) * columns_,
                       from.count * columns_});
    return all;
}

/// Lists the put of a rank: who gets what of its entries.
template <class T>
void put_schedule<T>::list(int rank, const std::vector<listed_send>& sends) {
    const std::string item = "halo plan";
    const auto& d = layout_->comm.handle(rank);
    local_put& to = local_[static_cast<std::size_t>(rank)];
    for (const auto& s : sends)
        to.messages.push_back({s.peer, s.position, static_cast<std::int64_t>(s.rows.size())});
    const auto tiles =
        static_cast<std::size_t>((layout_->held(rank) + tile_size<T> - 1) / tile_size<T>);
    std::vector<std::int32_t> begin = first_entries<T>(sends, tiles);
    std::vector<std::int32_t> order;
    std::vector<std::int32_t> first{0};
    order.reserve(tiles);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        if (begin[tile + 1] == begin[tile]) continue;
        order.push_back(static_cast<std::int32_t>(tile));
        first.push_back(begin[tile + 1]);
    }
    to.sending_tiles = static_cast<std::int32_t>(order.size());
    for (std::size_t tile = 0; tile < tiles; ++tile)
        if (begin[tile + 1] == begin[tile]) order.push_back(static_cast<std::int32_t>(tile));
    const std::vector<put_entry> entries = in_tiles<T>(sends, std::move(begin));

    to.tile_order = buffer<std::int32_t>(d, std::span<const std::int32_t>(order), item);
    to.first_entry = buffer<std::int32_t>(d, std::span<const std::int32_t>(first), item);
    to.entries = buffer<put_entry>(d, std::span<const put_entry>(entries), item);
}

/// All that the rank owns goes to all that have all entries.
template <class T>
void put_schedule<T>::take_all(int rank) {
    local_put& to = local_[static_cast<std::size_t>(rank)];
    const row_range owned = map_.owned(rank);
    for (int peer = 0; peer < map_.ranks(); ++peer)
        for (const neighbour_ghosts& from : map_.neighbours(peer)) {
            if (from.owner != rank) continue;
            to.messages.push_back({peer, owned.begin - map_.owned(peer).begin, owned.size()});
        }
    if (to.messages.empty()) return;
    // Every rank begins with the one after it, so that not all send to the same rank at once.
    const auto first =
        std::ranges::find_if(to.messages, [&](const message& m) { return m.peer > rank; });
    std::rotate(to.messages.begin(), first, to.messages.end());
    to.dense = owned.size();
    to.sending_tiles = static_cast<std::int32_t>((owned.size() + tile_size<T> - 1) / tile_size<T>);
}

template <class T>
struct ghost_exchange<T>::rank_state {
    std::vector<buffer<T>> staging; ///< [receivers], empty unless the path is staged
    std::vector<std::shared_ptr<std::byte>> outboxes; ///< the same where it is posted
    buffer<T*> places;                                ///< ghost_put::ghosts
};

template <class T>
ghost_exchange<T>::ghost_exchange(std::shared_ptr<const put_schedule<T>> schedule,
                                  std::span<T* const> arrays)
    : schedule_(std::move(schedule)) {
    const communicator& comm = schedule_->layout()->comm;
    // An array may end where the rank's own entries would begin: what is told is where it begins.
    std::vector<T*> whole(arrays.begin(), arrays.end());
    for (const int rank : comm.local()) whole[static_cast<std::size_t>(rank)] -= below(rank);
    first_owned_ = comm.addresses(std::span<T* const>(whole));
    for (int rank = 0; rank < comm.ranks(); ++rank)
        if (first_owned_[static_cast<std::size_t>(rank)] != nullptr)
            first_owned_[static_cast<std::size_t>(rank)] += below(rank);
    ranks_ = by_rank(comm, [](int) { return std::make_shared<rank_state>(); });
    for (const int rank : comm.local()) find_places(rank);
    const auto posted = posted_data();
    channel_ = channel(comm,
                       by_rank(comm,
                               [&](int rank) {
                                   std::vector<int> receivers;
                                   for (const auto& m : schedule_->local(rank).messages)
                                       receivers.push_back(m.peer);
                                   return receivers;
                               }),
                       "ghost exchange", 0, posted);
}

/// The puts between local ranks and those of other machines.
template <class T>
std::vector<channel::posted_data> ghost_exchange<T>::posted_data() const {
    const communicator& comm = schedule_->layout()->comm;
    std::vector<channel::posted_data> all;
    if (comm.carrier() == nullptr) return all;
    for (const int rank : comm.local()) {
        const auto at = static_cast<std::size_t>(rank);
        const auto& messages = schedule_->local(rank).messages;
        for (std::size_t k = 0; k < messages.size(); ++k)
            if (comm.path(rank, messages[k].peer) == peer_path::posted)
                all.push_back({rank, messages[k].peer, ranks_[at]->outboxes[k], nullptr,
                               static_cast<std::size_t>(messages[k].count) * sizeof(T)});
        for (const auto& m : schedule_->received(rank))
            if (comm.path(m.peer, rank) == peer_path::posted)
                all.push_back({m.peer, rank, nullptr,
                               reinterpret_cast<std::byte*>(first_owned_[at] + m.position),
                               static_cast<std::size_t>(m.count) * sizeof(T)});
    }
    return all;
}

/// Lists the places where a rank writes on its peers.
template <class T>
void ghost_exchange<T>::find_places(int rank) {
    const communicator& comm = schedule_->layout()->comm;
    const auto& d = comm.handle(rank);
    rank_state& own = *ranks_[static_cast<std::size_t>(rank)];
    const bool dense = schedule_->local(rank).dense != 0;
    std::vector<T*> places;
    for (const auto& m : schedule_->local(rank).messages) {
        const peer_path path = comm.path(rank, m.peer);
        const auto count = static_cast<std::size_t>(m.count);
        own.staging.emplace_back(d, path == peer_path::staged ? count : 0, "ghost exchange");
        own.outboxes.push_back(path == peer_path::posted ? make_host_block(d, count * sizeof(T))
                                                         : nullptr);
        // Lists count from the first entry that the peer owns, dense puts from the first one sent.
        T* const aside = path == peer_path::posted ? reinterpret_cast<T*>(own.outboxes.back().get())
                                                   : own.staging.back().data();
        if (path != peer_path::direct)
            places.push_back(aside - (dense ? 0 : m.position));
        else
            places.push_back(first_owned_[static_cast<std::size_t>(m.peer)] +
                             (dense ? m.position : 0));
    }
    own.places = {d, std::span<T* const>(places), "ghost exchange"};
}

template <class T>
ghost_put<T> ghost_exchange<T>::put(int rank, bool ordered) const {
    const auto& local = schedule_->local(rank);
    return {local.tile_order.data(),
            local.first_entry.data(),
            local.entries.data(),
            ranks_[static_cast<std::size_t>(rank)]->places.data(),
            channel_.view(rank),
            local.sending_tiles,
            ordered,
            local.dense};
}

template <class T>
void ghost_exchange<T>::forward() const {
    const communicator& comm = schedule_->layout()->comm;
    if (comm.concurrent()) return;
    for (const int from : comm.local()) {
        const auto& staging = ranks_[static_cast<std::size_t>(from)]->staging;
        const auto& messages = schedule_->local(from).messages;
        for (std::size_t k = 0; k < messages.size(); ++k)
            comm.copy(from, staging[k].data(), messages[k].peer,
                      first_owned_[static_cast<std::size_t>(messages[k].peer)] +
                          messages[k].position,
                      staging[k].size() * sizeof(T));
        channel_.forward(from);
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template class put_schedule<T>;                                                                \
    template class ghost_exchange<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

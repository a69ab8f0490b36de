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

/// The entries to send by tile, then peer, then place there; those of a peer ascend in both. An
/// exchange may be as large as a level of multigrid.
template <class T>
std::vector<put_entry> in_tiles(const std::vector<listed_send>& sends,
                                std::vector<std::int32_t> next) {
    std::vector<put_entry> entries(static_cast<std::size_t>(next.back()));
    for (const listed_send& send : sends)
        each_tile<T>(send.rows, [&](std::size_t tile, std::size_t first, std::size_t count) {
            put_entry* const to = entries.data() + next[tile];
            const auto place =
                static_cast<std::int32_t>(send.position) + static_cast<std::int32_t>(first);
            for (std::size_t i = 0; i < count; ++i)
                to[i] = {send.rows[first + i], place + static_cast<std::int32_t>(i), send.peer};
            next[tile] += static_cast<std::int32_t>(count);
        });
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
    std::map<std::int32_t, wide_send> by_peer; // entries of a peer ascend in rows and places
    for (const put_entry& entry : entries) {
        const auto place =
            by_peer.try_emplace(entry.peer, wide_send{std::int64_t{entry.position} * k, {}});
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
    for (const int rank : layout_->comm.local()) {
        local_put& local = local_[static_cast<std::size_t>(rank)];
        local.ghosts = map_.local(rank).ghost_count();
        local.below = map_.local(rank).first_owned();
        for (const neighbour_ghosts& from : map_.neighbours(rank)) local.from |= 1u << from.owner;
    }
    const communicator& comm = layout_->comm;
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
      local_(of.local_.size()) {
    on_each_rank(layout_->comm, [&](int rank) {
        const local_put& local = of.local(rank);
        if (local.dense != 0)
            throw usage_error("put_schedule: vectors of several columns have no dense put");
        const std::int64_t k = columns;
        local_put& wide = local_[static_cast<std::size_t>(rank)];
        wide.ghosts = local.ghosts * k;
        wide.below = local.below * k;
        wide.from = local.from;
        const auto by_peer = columns_of(local.entries.download(), k);
        std::vector<listed_send> sends;
        for (const auto& [peer, send] : by_peer) sends.push_back({peer, send.rows, send.position});
        list(rank, sends);
    });
}

/// Lists the put of a rank: who gets what of its entries.
template <class T>
void put_schedule<T>::list(int rank, const std::vector<listed_send>& sends) {
    const std::string item = "halo plan";
    const auto& d = layout_->comm.handle(rank);
    local_put& to = local_[static_cast<std::size_t>(rank)];
    for (const auto& s : sends) {
        to.to |= 1u << s.peer;
        to.messages.push_back({s.peer, s.position, static_cast<std::int64_t>(s.rows.size())});
    }
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
            to.to |= 1u << peer;
            to.messages.push_back({peer, owned.begin - map_.owned(peer).begin, owned.size()});
        }
    if (to.to == 0) return;
    to.dense = owned.size();
    to.sending_tiles = static_cast<std::int32_t>((owned.size() + tile_size<T> - 1) / tile_size<T>);
}

/// Words that peers write on this rank, and tables of the places where this rank writes on its
/// peers. A cycle of multigrid has a dozen exchanges: each has two arrays a rank, and no more.
template <class T>
struct ghost_exchange<T>::rank_state {
    /// Who writes a word has it on other cache lines than others have theirs.
    static constexpr std::size_t line = 128 / sizeof(std::uint64_t);

    rank_state(const std::shared_ptr<device>& d, std::size_t peers)
        : ranks(peers), words(d, 3 * of_peers() + 2 * line, "ghost exchange"), staging(peers) {
        words.zero();
    }

    [[nodiscard]] std::size_t of_peers() const { return (ranks + line - 1) / line * line; }
    /// [ranks] written by the peers, as credits(). Their places are the same in all ranks' words.
    [[nodiscard]] std::uint64_t* sent() const { return sent_in(words.data()); }
    [[nodiscard]] std::uint64_t* sent_in(std::uint64_t* of_rank) const { return of_rank; }
    [[nodiscard]] std::uint64_t* credits() const { return credits_in(words.data()); }
    [[nodiscard]] std::uint64_t* credits_in(std::uint64_t* of_rank) const {
        return of_rank + of_peers();
    }
    [[nodiscard]] std::uint64_t* staged_words() const { return words.data() + 2 * of_peers(); }
    /// ghost_put::put_count and credited.
    [[nodiscard]] std::uint64_t* counters() const { return words.data() + 3 * of_peers(); }
    [[nodiscard]] unsigned* ticket() const {
        return reinterpret_cast<unsigned*>(counters() + line);
    }
    [[nodiscard]] T** ghosts() const { return reinterpret_cast<T**>(tables.data()); }
    [[nodiscard]] std::uint64_t** sents() const { return word_table(1); }
    [[nodiscard]] std::uint64_t** peer_credits() const { return word_table(2); }
    [[nodiscard]] std::uint64_t** word_table(std::size_t number) const {
        return reinterpret_cast<std::uint64_t**>(tables.data() + number * ranks);
    }

    std::size_t ranks;
    buffer<std::uint64_t> words;
    std::vector<buffer<T>> staging; ///< [ranks], empty where the path is direct
    buffer<std::uintptr_t> tables;  ///< [3][ranks] addresses
};

template <class T>
ghost_exchange<T>::ghost_exchange(std::shared_ptr<const put_schedule<T>> schedule,
                                  std::span<T* const> arrays)
    : schedule_(std::move(schedule)) {
    const communicator& comm = schedule_->layout()->comm;
    ranks_ = by_rank(comm, [&](int rank) {
        const auto& d = comm.handle(rank);
        auto s = std::make_shared<rank_state>(d, static_cast<std::size_t>(comm.ranks()));
        for (const auto& m : schedule_->local(rank).messages)
            if (comm.path(rank, m.peer) == peer_path::staged)
                s->staging[static_cast<std::size_t>(m.peer)] =
                    buffer<T>(d, static_cast<std::size_t>(m.count), "ghost exchange");
        return s;
    });
    first_owned_ = comm.addresses(arrays);
    const auto words = by_rank(
        comm, [&](int rank) { return ranks_[static_cast<std::size_t>(rank)]->words.data(); });
    words_ = comm.addresses(std::span(words));
    for (const int rank : comm.local()) tabulate(rank);
    comm.join(); // words are zero before any peer writes them
    restoration_ = comm.when_restored([ranks = ranks_] {
        for (const auto& s : ranks)
            if (s != nullptr) s->words.zero();
    });
}

/// Lists the places where a rank writes on its peers.
template <class T>
void ghost_exchange<T>::tabulate(int rank) {
    const communicator& comm = schedule_->layout()->comm;
    const auto p = static_cast<std::size_t>(comm.ranks());
    const auto r = static_cast<std::size_t>(rank);
    rank_state& own = *ranks_[r];
    std::vector<T*> ghosts(p);
    std::vector<std::uintptr_t> tables(3 * p);
    for (std::size_t to = 0; to < p; ++to) {
        const bool staged = comm.path(rank, static_cast<int>(to)) == peer_path::staged;
        // Events order a staged exchange, so no kernel reads the credits of a staged peer.
        ghosts[to] = staged ? own.staging[to].data() : first_owned_[to];
        std::uint64_t* const there = words_[to];
        tables[p + to] = reinterpret_cast<std::uintptr_t>(staged ? own.staged_words() + to
                                                                 : own.sent_in(there) + rank);
        tables[2 * p + to] = reinterpret_cast<std::uintptr_t>(
            staged ? own.staged_words() + rank : own.credits_in(there) + rank);
    }
    // Lists count from the first entry that the peer owns, dense puts from the first one sent.
    for (const auto& m : schedule_->local(rank).messages) {
        const bool staged = comm.path(rank, m.peer) == peer_path::staged;
        const bool dense = schedule_->local(rank).dense != 0;
        if (staged && !dense) ghosts[static_cast<std::size_t>(m.peer)] -= m.position;
        if (!staged && dense) ghosts[static_cast<std::size_t>(m.peer)] += m.position;
    }
    std::ranges::transform(ghosts, tables.begin(),
                           [](T* at) { return reinterpret_cast<std::uintptr_t>(at); });
    own.tables = buffer<std::uintptr_t>(comm.handle(rank), std::span<const std::uintptr_t>(tables),
                                        "ghost exchange");
}

template <class T>
ghost_put<T> ghost_exchange<T>::put(int rank, bool ordered) const {
    const auto& local = schedule_->local(rank);
    const auto& s = *ranks_[static_cast<std::size_t>(rank)];
    return {local.tile_order.data(),
            local.first_entry.data(),
            local.entries.data(),
            s.ghosts(),
            s.sents(),
            s.credits(),
            s.peer_credits(),
            s.counters(),
            s.counters() + 1,
            s.ticket(),
            local.sending_tiles,
            local.to,
            local.from,
            ordered,
            local.dense};
}

template <class T>
put_signal ghost_exchange<T>::arrived(int rank) const {
    const auto& s = *ranks_[static_cast<std::size_t>(rank)];
    return {s.sent(), s.counters(), schedule_->local(rank).from};
}

template <class T>
void ghost_exchange<T>::forward() const {
    const layout& layout = *schedule_->layout();
    for (const int from : layout.comm.local()) {
        const auto& s = *ranks_[static_cast<std::size_t>(from)];
        for (const auto& m : schedule_->local(from).messages) {
            if (layout.comm.path(from, m.peer) != peer_path::staged) continue;
            const auto to = static_cast<std::size_t>(m.peer);
            layout.comm.copy(from, s.staging[to].data(), m.peer, first_owned_[to] + m.position,
                             static_cast<std::size_t>(m.count) * sizeof(T));
            layout.comm.copy(from, s.staged_words() + to, m.peer, s.sent_in(words_[to]) + from,
                             sizeof(std::uint64_t));
        }
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template class put_schedule<T>;                                                                \
    template class ghost_exchange<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

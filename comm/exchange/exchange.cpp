#include <krylith/comm/exchange/exchange.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/run_items.hpp>

namespace krylith {

namespace {

constexpr const char* exchange_item = "items of other ranks";

template <class Word>
void gather_words(device& device, const shared_items& m, const std::byte* from, std::byte* to,
                  std::int64_t numbers) {
    run_items(device,
              gather_items<Word, std::int64_t>{m.places(), reinterpret_cast<const Word*>(from),
                                               reinterpret_cast<Word*>(to), numbers},
              m.count * numbers);
}

/// Copies listed items, whose numbers have so many bytes, side by side.
void gather_listed(device& device, const shared_items& m, const std::byte* from, std::byte* to,
                   std::size_t word, std::int64_t numbers) {
    switch (word) {
    case 8: return gather_words<std::uint64_t>(device, m, from, to, numbers);
    case 4: return gather_words<std::uint32_t>(device, m, from, to, numbers);
    default:
        return gather_words<std::uint8_t>(device, m, from, to,
                                          numbers * static_cast<std::int64_t>(word));
    }
}

} // namespace

exchange::exchange(const communicator& comm, std::vector<shared_items> items, lists where)
    : comm_(std::make_shared<const communicator>(comm)), items_(std::move(items)), lists_(where) {
    for (const shared_items& m : items_) {
        any_posted_ = any_posted_ || posted(m);
        if (m.owner != m.user && !posted(m)) orders_.push_back({m.owner, m.user});
    }
    orders_ = both_ways(std::move(orders_));
    bring_lists();
}

bool exchange::apart(const shared_items& m) const {
    return comm().path(m.owner, m.user) != peer_path::direct;
}

bool exchange::posted(const shared_items& m) const {
    return comm().path(m.owner, m.user) == peer_path::posted;
}

/// Gives owners the lists that they need.
void exchange::bring_lists() {
    const auto moves = [&](const shared_items& m) { return m.is_listed && !fetched(m); };
    if (std::ranges::none_of(items_, moves)) return;
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(comm().ranks()), 0);
    for (const shared_items& m : items_)
        if (moves(m)) sizes[static_cast<std::size_t>(m.owner)] += m.count;
    using place_buffer = buffer<std::int64_t>;
    const auto lists = by_rank(comm(), [&](int rank) { // those of an owner are side by side
        const auto size = static_cast<std::size_t>(sizes[static_cast<std::size_t>(rank)]);
        return std::make_shared<const place_buffer>(comm().handle(rank), size, exchange_item);
    });
    const auto own =
        by_rank(comm(), [&](int rank) { return lists[static_cast<std::size_t>(rank)]->data(); });
    const auto to = comm().addresses(std::span(own));
    const settled_on_failure settled(comm()); // before they are freed
    std::ranges::fill(sizes, 0);
    std::vector<carried_bytes> carried;
    std::vector<std::shared_ptr<const place_buffer>> read_later;
    for (shared_items& m : items_) {
        if (!moves(m)) continue;
        const auto owner = static_cast<std::size_t>(m.owner);
        const std::int64_t place = std::exchange(sizes[owner], sizes[owner] + m.count);
        const std::size_t bytes = static_cast<std::size_t>(m.count) * sizeof(std::int64_t);
        const std::int64_t* const given =
            comm().is_local(m.user) ? m.list->data() + m.list_begin : nullptr;
        if (posted(m))
            carried.push_back({m.user, reinterpret_cast<const std::byte*>(given), m.owner,
                               comm().is_local(m.owner)
                                   ? reinterpret_cast<std::byte*>(to[owner] + place)
                                   : nullptr,
                               bytes});
        else if (given != nullptr)
            comm().copy(m.user, given, m.owner, to[owner] + place, bytes);
        read_later.push_back(std::exchange(m.list, lists[owner]));
        m.list_begin = place;
    }
    if (any_posted_) comm().carry(carried);
    comm().order(orders_); // the owners' kernels, and the end of the users' lists, come after
}

/// The arrays of all ranks, as local devices reach them. The array of a rank may begin where
/// nothing is: what drivers tell each other is the address of its first item that travels.
template <class Byte>
std::vector<Byte*> exchange::reached(std::vector<Byte*> arrays, int shared_items::*rank,
                                     std::int64_t shared_items::*at, std::size_t bytes) const {
    if (comm().has_one_driver()) return arrays;
    std::vector<std::int64_t> first(arrays.size(), -1);
    for (const shared_items& m : items_) {
        std::int64_t& least = first[static_cast<std::size_t>(m.*rank)];
        least = least < 0 ? m.*at : std::min(least, m.*at);
    }
    const auto shift = [&](std::size_t r) {
        return std::max<std::int64_t>(first[r], 0) * static_cast<std::int64_t>(bytes);
    };
    for (const int r : comm().local()) {
        const auto at = static_cast<std::size_t>(r);
        if (first[at] < 0)
            arrays[at] = nullptr; // nothing of it travels, and nothing need be there
        else
            arrays[at] += shift(at);
    }
    arrays = comm().addresses(std::span<Byte* const>(arrays));
    for (std::size_t r = 0; r < arrays.size(); ++r)
        if (arrays[r] != nullptr) arrays[r] -= shift(r);
    return arrays;
}

/// Has the hosts carry items.
void exchange::carry_items(const std::vector<const std::byte*>& owners,
                           const std::vector<std::byte*>& users, item_width width) const {
    const std::size_t size = static_cast<std::size_t>(width.numbers) * width.word;
    const auto at = [&](std::int64_t place) { return place * static_cast<std::int64_t>(size); };
    std::vector<carried_bytes> moves;
    std::vector<buffer<std::byte>> packed;
    for (const shared_items& m : items_) {
        if (!posted(m)) continue;
        carried_bytes move{m.owner, nullptr, m.user, nullptr,
                           static_cast<std::size_t>(m.count) * size};
        if (comm().is_local(m.owner)) {
            move.source = owners[static_cast<std::size_t>(m.owner)] + at(m.at_owner);
            if (m.is_listed) {
                packed.emplace_back(comm().handle(m.owner), move.bytes, exchange_item);
                gather_listed(comm()[m.owner], m, move.source, packed.back().data(), width.word,
                              width.numbers);
                move.source = packed.back().data();
            }
        }
        if (comm().is_local(m.user))
            move.target = users[static_cast<std::size_t>(m.user)] + at(m.at_user);
        moves.push_back(move);
    }
    comm().carry(moves);
}

/// Enqueues what the owner does where the user's kernels don't fetch items.
void exchange::send(const shared_items& m, const std::byte* from, std::byte* to,
                    item_width width) const {
    const std::size_t bytes = static_cast<std::size_t>(m.count * width.numbers) * width.word;
    if (!m.is_listed) return comm().copy(m.owner, from, m.user, to, bytes);
    const buffer<std::byte> packed(comm().handle(m.owner), bytes, exchange_item);
    gather_listed(comm()[m.owner], m, from, packed.data(), width.word, width.numbers);
    comm().copy(m.owner, packed.data(), m.user, to, bytes);
}

void exchange::fetch_items(std::vector<const std::byte*> owners, std::vector<std::byte*> users,
                           item_width width, bool in_turn) const {
    if (!comm_) return;
    for (const std::size_t arrays : {owners.size(), users.size()})
        if (arrays != static_cast<std::size_t>(comm().ranks()))
            throw usage_error("exchange::fetch: there are " + std::to_string(arrays) +
                              " arrays for " + std::to_string(comm().ranks()) + " ranks");
    if (items_.empty()) return;
    const settled_on_failure settled(comm());
    const std::size_t bytes = static_cast<std::size_t>(width.numbers) * width.word;
    const auto by_user = [&](const shared_items& m) { return fetched(m); };
    const bool any_sent = !std::ranges::all_of(
        items_, [&](const shared_items& m) { return fetched(m) || posted(m); });
    // Addresses of local ranks, as they were given.
    const auto own = any_posted_ ? owners : std::vector<const std::byte*>();
    const auto own_copies = any_posted_ ? users : std::vector<std::byte*>();
    if (std::ranges::any_of(items_, by_user))
        owners = reached(std::move(owners), &shared_items::owner, &shared_items::at_owner, bytes);
    if (any_sent)
        users = reached(std::move(users), &shared_items::user, &shared_items::at_user, bytes);
    comm().order(orders_); // owners' items are there, users need their old ones no more
    for (const shared_items& m : items_) {
        if (posted(m) || !comm().is_local(by_user(m) ? m.user : m.owner)) continue;
        const auto at = [&](std::int64_t place) {
            return place * static_cast<std::int64_t>(bytes);
        };
        const std::byte* const first = owners[static_cast<std::size_t>(m.owner)] + at(m.at_owner);
        std::byte* const copy = users[static_cast<std::size_t>(m.user)] + at(m.at_user);
        if (by_user(m))
            gather_listed(comm()[m.user], m, first, copy, width.word, width.numbers);
        else
            send(m, first, copy, width);
    }
    if (any_posted_) carry_items(own, own_copies, width);
    if (!in_turn || any_sent) comm().order(orders_);
}

/// Brings users' items to where owners read them.
exchange::brought_items exchange::bring(std::vector<std::byte*> users, std::size_t bytes) const {
    const auto size = [&](const shared_items& m) {
        return static_cast<std::size_t>(m.count) * bytes;
    };
    brought_items result;
    result.at.resize(items_.size());
    std::vector<std::size_t> room(users.size(), 0);
    for (const shared_items& m : items_)
        if (apart(m)) room[static_cast<std::size_t>(m.owner)] += size(m);
    const bool any_apart = std::ranges::any_of(room, [](std::size_t r) { return r != 0; });
    result.copies = by_rank(comm(), [&](int owner) {
        return buffer<std::byte>(comm().handle(owner), room[static_cast<std::size_t>(owner)],
                                 exchange_item);
    });
    const auto own = any_posted_ ? users : std::vector<std::byte*>();
    users = reached(std::move(users), &shared_items::user, &shared_items::at_user, bytes);
    std::vector<std::byte*> next = pointers_of(result.copies);
    if (any_apart) next = comm().addresses(std::span<std::byte* const>(next));
    comm().order(orders_);
    std::vector<carried_bytes> carried;
    for (std::size_t k = 0; k < items_.size(); ++k) {
        const shared_items& m = items_[k];
        const auto& arrays = posted(m) ? own : users;
        std::byte* const first = arrays[static_cast<std::size_t>(m.user)];
        std::byte* const given =
            first == nullptr ? nullptr : first + m.at_user * static_cast<std::int64_t>(bytes);
        result.at[k] = given;
        if (!apart(m)) continue;
        std::byte*& place = next[static_cast<std::size_t>(m.owner)];
        if (posted(m))
            carried.push_back({m.user, given, m.owner, place, size(m)});
        else if (comm().is_local(m.user))
            comm().copy(m.user, given, m.owner, place, size(m));
        result.at[k] = place;
        if (place != nullptr) place += size(m);
    }
    if (any_posted_) comm().carry(carried);
    if (any_apart) comm().order(orders_);
    return result;
}

exchange exchange::inverse() const {
    std::vector<shared_items> items;
    for (const shared_items& m : items_)
        items.push_back({m.user, m.owner, m.count, m.at_user, m.at_owner});
    return {comm(), std::move(items)};
}

exchange gather_to(int to, const communicator& comm, std::span<const std::int64_t> begin) {
    std::vector<shared_items> items;
    for (int owner = 0; owner < comm.ranks(); ++owner) {
        const auto at = static_cast<std::size_t>(owner);
        if (begin[at] != begin[at + 1])
            items.push_back({owner, to, begin[at + 1] - begin[at], 0, begin[at]});
    }
    return {comm, std::move(items)};
}

} // namespace krylith

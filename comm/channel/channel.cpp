#include <krylith/comm/channel/channel.hpp>

#include <krylith/comm/channel/posted_routes.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/words/host_block.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace krylith {

namespace {

/// Who writes a count has it on other cache lines than others have theirs.
constexpr std::size_t line = 128 / sizeof(std::uint64_t);
constexpr std::size_t words_a_count = sizeof(peer_count) / sizeof(std::uint64_t);

constexpr std::size_t in_lines(std::size_t words) {
    return (words + line - 1) / line * line;
}

/// Where the words of a rank lie, from its numbers of peers.
struct places {
    places(std::size_t senders, std::size_t receivers)
        : credits(in_lines(words_a_count * senders)),
          staged_signals(credits + in_lines(words_a_count * receivers)),
          staged_credits(staged_signals + in_lines(receivers)),
          counters(staged_credits + in_lines(senders)),
          ticket(counters + line),
          signal_table(ticket + line),
          credit_table(signal_table + receivers),
          size(credit_table + senders) {}

    [[nodiscard]] static std::size_t count_of(std::size_t number) { return words_a_count * number; }
    std::size_t credits; ///< the senders' counts lie before them
    std::size_t staged_signals;
    std::size_t staged_credits;
    std::size_t counters;
    std::size_t ticket;
    std::size_t signal_table;
    std::size_t credit_table;
    std::size_t size;
};

/// Kernels wait for and tell their peers by the lanes of one warp.
constexpr std::size_t most_peers_of_gpu = 32;

void check_peers(const communicator& comm, const std::vector<std::vector<int>>& peers) {
    if (comm.kind() != backend::cuda) return;
    for (const std::vector<int>& of_rank : peers)
        if (of_rank.size() > most_peers_of_gpu)
            throw usage_error("a GPU sends to, or receives from, " +
                              std::to_string(of_rank.size()) + " others: allowed are " +
                              std::to_string(most_peers_of_gpu));
}

std::size_t place_in(const std::vector<int>& ranks, int rank) {
    return static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
}

} // namespace

struct channel::state {
    communicator comm;
    std::vector<std::vector<int>> receivers; ///< of all ranks, as `senders`
    std::vector<std::vector<int>> senders;
    std::vector<buffer<std::uint64_t>> words;        ///< [ranks]
    std::vector<std::vector<std::uint64_t>> first{}; ///< [ranks] what the words begin with
    std::vector<std::uint64_t*> places_of_all{};     ///< the words of all ranks
    std::vector<channel_view> views{};               ///< [ranks]
    std::unique_ptr<posted_routes> routes{};         ///< null where no path is posted

    [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
    [[nodiscard]] places layout(int rank) const {
        return {senders[at(rank)].size(), receivers[at(rank)].size()};
    }
    /// This rank's count of puts at a receiver, as local devices reach it.
    [[nodiscard]] std::uint64_t* signal_at(int receiver, int rank) const {
        return places_of_all[at(receiver)] +
               places::count_of(place_in(senders[at(receiver)], rank));
    }
    [[nodiscard]] std::uint64_t* credit_at(int sender, int rank) const {
        return places_of_all[at(sender)] + layout(sender).credits +
               places::count_of(place_in(receivers[at(sender)], rank));
    }
    [[nodiscard]] bool staged(int from, int to) const {
        return comm.path(from, to) == peer_path::staged;
    }
    [[nodiscard]] bool posted(int from, int to) const {
        return comm.path(from, to) == peer_path::posted;
    }
    [[nodiscard]] std::uint64_t* put_route(int rank, int receiver, std::uint64_t* credit,
                                           std::span<const posted_data> data) const;
    [[nodiscard]] std::uint64_t* credit_route(int rank, int sender, std::uint64_t* signal,
                                              std::span<const posted_data> data) const;
    void fill(int rank, std::uint64_t ahead, std::span<const posted_data> data);
    void restore() const {
        for (const int rank : comm.local())
            comm[rank].upload(words[at(rank)].data(), first[at(rank)].data(),
                              first[at(rank)].size() * sizeof(std::uint64_t));
    }
};

namespace {

constexpr std::uint32_t put_kind = 0;
constexpr std::uint32_t credit_kind = 1;

std::shared_ptr<std::uint64_t> make_posted_count(const std::shared_ptr<device>& device) {
    const auto block = make_host_block(device, sizeof(std::uint64_t));
    return {block, reinterpret_cast<std::uint64_t*>(block.get())};
}

channel::posted_data data_between(int from, int to, std::span<const channel::posted_data> data) {
    const auto found = std::ranges::find_if(
        data, [&](const auto& one) { return one.from == from && one.to == to; });
    return found == data.end() ? channel::posted_data{from, to} : *found;
}

} // namespace

/// Makes the routes by which a rank puts to a receiver and gets its credit, and returns where its
/// kernels signal.
std::uint64_t* channel::state::put_route(int rank, int receiver, std::uint64_t* credit,
                                         std::span<const posted_data> data) const {
    const posted_data of = data_between(rank, receiver, data);
    const auto count = make_posted_count(comm.handle(rank));
    routes->add(posted_routes::outgoing{rank, receiver, put_kind, count, of.outbox, of.bytes});
    routes->add(posted_routes::incoming{receiver, rank, credit_kind, credit});
    return count.get();
}

/// The same by which it gets what a sender puts and gives credit.
std::uint64_t* channel::state::credit_route(int rank, int sender, std::uint64_t* signal,
                                            std::span<const posted_data> data) const {
    const posted_data of = data_between(sender, rank, data);
    const auto count = make_posted_count(comm.handle(rank));
    routes->add(posted_routes::outgoing{rank, sender, credit_kind, count, nullptr, 0, put_kind});
    routes->add(posted_routes::incoming{sender, rank, put_kind, signal, of.target, of.bytes});
    return count.get();
}

void channel::state::fill(int rank, std::uint64_t ahead, std::span<const posted_data> data) {
    const std::vector<int>& to = receivers[at(rank)];
    const std::vector<int>& from = senders[at(rank)];
    const places p = layout(rank);
    std::uint64_t* const own = words[at(rank)].data();
    std::vector<std::uint64_t> image(p.size);
    const auto address = [](std::uint64_t* word) { return reinterpret_cast<std::uintptr_t>(word); };
    for (std::size_t k = 0; k < from.size(); ++k) {
        image[places::count_of(k) + 1] = static_cast<std::uint64_t>(from[k]);
        // Events order what is staged, so that no kernel reads credits of staged peers.
        image[p.credit_table + k] = address(
            staged(rank, from[k])   ? own + p.staged_credits + k
            : posted(rank, from[k]) ? credit_route(rank, from[k], own + places::count_of(k), data)
                                    : credit_at(from[k], rank));
    }
    for (std::size_t k = 0; k < to.size(); ++k) {
        image[p.credits + places::count_of(k)] = ahead;
        image[p.credits + places::count_of(k) + 1] = static_cast<std::uint64_t>(to[k]);
        image[p.signal_table + k] =
            address(staged(rank, to[k]) ? own + p.staged_signals + k
                    : posted(rank, to[k])
                        ? put_route(rank, to[k], own + p.credits + places::count_of(k), data)
                        : signal_at(to[k], rank));
    }
    image[p.counters + 1] = ahead;
    views[at(rank)] = {reinterpret_cast<std::uint64_t**>(own + p.signal_table),
                       reinterpret_cast<peer_count*>(own + p.credits),
                       reinterpret_cast<std::uint64_t**>(own + p.credit_table),
                       reinterpret_cast<peer_count*>(own),
                       own + p.counters,
                       own + p.counters + 1,
                       reinterpret_cast<unsigned*>(own + p.ticket),
                       static_cast<std::int32_t>(to.size()),
                       static_cast<std::int32_t>(from.size())};
    first[at(rank)] = std::move(image);
}

channel::channel(const communicator& comm, std::vector<std::vector<int>> receivers,
                 const std::string& item, std::uint64_t ahead,
                 std::span<const posted_data> posted) {
    comm.all_gather_lists(receivers);
    const std::size_t ranks = receivers.size();
    std::vector<std::vector<int>> senders(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank)
        for (const int to : receivers[rank])
            senders[static_cast<std::size_t>(to)].push_back(static_cast<int>(rank));
    check_peers(comm, receivers);
    check_peers(comm, senders);
    auto made = std::make_shared<state>(state{comm, std::move(receivers), std::move(senders), {}});
    made->words = by_rank(comm, [&](int rank) {
        return buffer<std::uint64_t>(comm.handle(rank), made->layout(rank).size, item);
    });
    const auto own = by_rank(comm, [&](int rank) { return made->words[state::at(rank)].data(); });
    made->places_of_all = comm.addresses(std::span(own));
    made->first.resize(ranks);
    made->views.resize(ranks);
    if (comm.carrier() != nullptr) made->routes = std::make_unique<posted_routes>(comm);
    for (const int rank : comm.local()) made->fill(rank, ahead, posted);
    made->restore();
    comm.join(); // counts are right before any peer writes them
    restoration_ = comm.when_restored([made] { made->restore(); });
    state_ = std::move(made);
}

const std::vector<int>& channel::receivers(int rank) const {
    return state_->receivers[state::at(rank)];
}

const channel_view& channel::view(int rank) const {
    return state_->views[state::at(rank)];
}

void channel::forward(int rank) const {
    const std::vector<int>& to = receivers(rank);
    const std::uint64_t* const staged =
        state_->words[state::at(rank)].data() + state_->layout(rank).staged_signals;
    for (std::size_t k = 0; k < to.size(); ++k)
        if (state_->staged(rank, to[k]))
            state_->comm.copy(rank, staged + k, to[k], state_->signal_at(to[k], rank),
                              sizeof(std::uint64_t));
}

} // namespace krylith

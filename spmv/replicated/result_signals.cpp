#include <krylith/spmv/replicated/result_signals.hpp>

#include <span>
#include <string>
#include <utility>

namespace krylith {

result_signals::result_signals(const communicator& comm) {
    const std::string item = "result signals";
    const auto p = static_cast<std::size_t>(comm.ranks());
    for (const int rank : comm.local()) {
        rank_words w;
        w.sent = buffer<std::uint64_t>(comm.handle(rank), p, item);
        w.credits = buffer<std::uint64_t>(comm.handle(rank), p, item);
        w.put_count = buffer<std::uint64_t>(comm.handle(rank), 1, item);
        w.reset();
        for (const int other : comm.local()) {
            if (other == rank) continue;
            if (comm.path(rank, other) == peer_path::direct) w.to |= 1u << other;
            if (comm.path(other, rank) == peer_path::direct) w.from |= 1u << other;
        }
        words_.push_back(std::move(w));
    }
    for (std::size_t rank = 0; rank < p; ++rank) {
        std::vector<std::uint64_t*> sents;
        std::vector<std::uint64_t*> peer_credits;
        for (std::size_t to = 0; to < p; ++to) {
            sents.push_back(words_[to].sent.data() + rank);
            peer_credits.push_back(words_[to].credits.data() + rank);
        }
        const auto& d = comm.handle(static_cast<int>(rank));
        words_[rank].sents =
            buffer<std::uint64_t*>(d, std::span<std::uint64_t* const>(sents), item);
        words_[rank].peer_credits =
            buffer<std::uint64_t*>(d, std::span<std::uint64_t* const>(peer_credits), item);
    }
    comm.synchronize(); // peers may write only after the words are zero
}

void result_signals::begin(execution& run) const {
    if (run.identity() != last_run_ && run.ordered()) {
        run.join_if_ordered();
        for (const rank_words& w : words_) w.reset();
        last_run_ = run.identity();
    }
    run.join_if_ordered(); // orders the product after the readers of the last result
}

std::vector<put_signal> result_signals::signals() const {
    std::vector<put_signal> all;
    for (const rank_words& w : words_) all.push_back({w.sent.data(), w.put_count.data(), w.from});
    return all;
}

} // namespace krylith

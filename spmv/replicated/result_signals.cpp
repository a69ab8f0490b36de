#include <krylith/spmv/replicated/result_signals.hpp>

#include <span>
#include <string>
#include <utility>

namespace krylith {

result_words::result_words(const device_group& group) {
    const std::string item = "result exchange";
    const auto p = static_cast<std::size_t>(group.size());
    for (int rank = 0; rank < group.size(); ++rank) {
        rank_words w;
        w.sent = buffer<std::uint64_t>(group.share(rank), p, item);
        w.ready = buffer<std::uint64_t>(group.share(rank), p, item);
        w.pushed = buffer<std::uint64_t>(group.share(rank), 1, item);
        w.reset();
        for (int other = 0; other < group.size(); ++other) {
            if (other == rank) continue;
            if (group.path(rank, other) == transport::direct) w.to |= 1u << other;
            if (group.path(other, rank) == transport::direct) w.from |= 1u << other;
        }
        words_.push_back(std::move(w));
    }
    for (std::size_t rank = 0; rank < p; ++rank) {
        std::vector<std::uint64_t*> sents;
        std::vector<std::uint64_t*> readies;
        for (std::size_t to = 0; to < p; ++to) {
            sents.push_back(words_[to].sent.data() + rank);
            readies.push_back(words_[to].ready.data() + rank);
        }
        const auto& d = group.share(static_cast<int>(rank));
        words_[rank].sents =
            buffer<std::uint64_t*>(d, std::span<std::uint64_t* const>(sents), item);
        words_[rank].readies =
            buffer<std::uint64_t*>(d, std::span<std::uint64_t* const>(readies), item);
    }
    group.synchronize(); // words are zero before any peer writes them
}

void result_words::begin(execution& run) const {
    if (run.identity() != last_run_ && run.ordered()) {
        run.join_if_ordered();
        for (const rank_words& w : words_) w.reset();
        last_run_ = run.identity();
    }
    run.join_if_ordered(); // readers of the last result are done
}

std::vector<arrival> result_words::arrivals() const {
    std::vector<arrival> all;
    for (const rank_words& w : words_) all.push_back({w.sent.data(), w.pushed.data(), w.from});
    return all;
}

} // namespace krylith

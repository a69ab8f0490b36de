// The signals and credits by which devices agree when a product may store its results into the
// peers' copies of y, and when all have arrived (result_put, sparse/device_matrix.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

class result_signals {
public:
    /// Makes words for every pair of devices with a direct path. Waits for the devices.
    explicit result_signals(const communicator& comm);

    /// Prepares a product; to be called before its kernels. Each run counts results from 0, because
    /// a run that failed may have left the ranks' counts different.
    void begin(execution& run) const;

    /// Sets all of `put` except its copies.
    template <class T>
    void fill(result_put<T>& put, int rank, bool ordered) const {
        const rank_words& w = words_[static_cast<std::size_t>(rank)];
        put.sent = w.sents.data();
        put.credits = w.credits.data();
        put.peer_credits = w.peer_credits.data();
        put.put_count = w.put_count.data();
        put.to = w.to;
        put.ordered = ordered;
    }

    /// Returns the signals that readers of the result wait for; [ranks].
    [[nodiscard]] std::vector<put_signal> signals() const;

private:
    /// The words that peers write, and the addresses of the peers' words.
    struct rank_words {
        buffer<std::uint64_t> sent;
        buffer<std::uint64_t> credits;
        buffer<std::uint64_t> put_count;
        buffer<std::uint64_t*> sents;
        buffer<std::uint64_t*> peer_credits;
        std::uint32_t to = 0;   ///< a bit for each rank whose memory this one can write
        std::uint32_t from = 0; ///< a bit for each rank that can write this one's memory

        void reset() const {
            for (const auto* words : {&sent, &credits, &put_count}) words->zero();
        }
    };
    std::vector<rank_words> words_;
    mutable std::uint64_t last_run_ = 0; ///< the execution in which the words were counted
};

} // namespace krylith

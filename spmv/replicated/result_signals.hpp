// The words by which devices agree when a product may store its results into the peers' copies of
// y, and when all have come (result_put, device_matrix.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

class result_signals {
public:
    /// Of every pair of devices with a direct path. Waits for the devices.
    explicit result_signals(const device_group& group);

    /// Before a product's kernels. Results are counted from 0 in each run: one that failed may have
    /// left the ranks' counts apart.
    void begin(execution& run) const;

    /// Sets all of `put` but the copies.
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

    /// [ranks] what readers of the result wait for.
    [[nodiscard]] std::vector<signal> signals() const;

private:
    /// Words that peers write, and tables of where theirs are.
    struct rank_words {
        buffer<std::uint64_t> sent;
        buffer<std::uint64_t> credits;
        buffer<std::uint64_t> put_count;
        buffer<std::uint64_t*> sents;
        buffer<std::uint64_t*> peer_credits;
        std::uint32_t to = 0;   ///< bit set: ranks whose memory this one can write
        std::uint32_t from = 0; ///< ranks that can write this one's

        void reset() const {
            for (const auto* words : {&sent, &credits, &put_count}) words->zero();
        }
    };
    std::vector<rank_words> words_;
    mutable std::uint64_t last_run_ = 0; ///< the execution that the words were counted in
};

} // namespace krylith

// The words by which devices agree when a product may store its results into the peers' copies of
// y, and when all have come (result_push, device_matrix.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

class result_words {
public:
    /// Of every pair of devices with a direct path. Waits for the devices.
    explicit result_words(const device_group& group);

    /// Before a product's kernels. Results are counted from 0 in each run: one that failed may have
    /// left the ranks' counts apart.
    void begin(execution& run) const;

    /// Sets all of `push` but the copies.
    template <class T>
    void fill(result_push<T>& push, int rank, bool ordered) const {
        const rank_words& w = words_[static_cast<std::size_t>(rank)];
        push.sent = w.sents.data();
        push.ready = w.ready.data();
        push.readies = w.readies.data();
        push.pushed = w.pushed.data();
        push.to = w.to;
        push.ordered = ordered;
    }

    /// [ranks] what readers of the result wait for.
    [[nodiscard]] std::vector<arrival> arrivals() const;

private:
    /// Words that peers write, and tables of where theirs are.
    struct rank_words {
        buffer<std::uint64_t> sent;
        buffer<std::uint64_t> ready;
        buffer<std::uint64_t> pushed;
        buffer<std::uint64_t*> sents;
        buffer<std::uint64_t*> readies;
        std::uint32_t to = 0;   ///< bit set: ranks whose memory this one can write
        std::uint32_t from = 0; ///< ranks that can write this one's

        void reset() const {
            for (const auto* words : {&sent, &ready, &pushed}) words->zero();
        }
    };
    std::vector<rank_words> words_;
    mutable std::uint64_t last_run_ = 0; ///< the execution that the words were counted in
};

} // namespace krylith

// Work of several GPUs begins once all of it has been launched. On other devices it may begin at
// once.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <krylith/device/posted_words.hpp>

#include "../support/groups.hpp"
#include "posted_words_test.hpp"

namespace krylith {

namespace {

/// Enqueues a posting on every device of the group.
struct postings {
    explicit postings(const device_group& group) {
        for (int r = 0; r < group.size(); ++r)
            words.push_back(std::make_unique<posted_words>(group.share(r), 1));
    }

    void enqueue(const device_group& group, int r) {
        const post_address to = words[static_cast<std::size_t>(r)]->next();
        addresses.push_back(to);
        testing::enqueue_post(group[r], to, 5, 1);
    }

    [[nodiscard]] bool any_has_run() const {
        for (const post_address& to : addresses)
            if (std::atomic_ref(*to.posted).load(std::memory_order_acquire) == to.number)
                return true;
        return false;
    }

    std::vector<std::unique_ptr<posted_words>> words;
    std::vector<post_address> addresses;
};

} // namespace

KRYLITH_GROUP_TEST("launch together: nothing begins before all is launched") {
    const bool waits = group.kind() == backend::cuda && group.concurrent() && group.size() > 1;
    for (int round = 0; round < 3; ++round) {
        postings p(group);
        group.launch_together([&] {
            for (int r = 0; r < group.size(); ++r) {
                p.enqueue(group, r);
                if (!waits) continue;
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                CHECK_FALSE(p.any_has_run());
            }
        });
        for (const auto& words : p.words) CHECK(words->wait()[0] == 5);
    }
}

KRYLITH_GROUP_TEST("launch together: what was launched before a failure runs") {
    postings p(group);
    CHECK_THROWS_AS(group.launch_together([&] {
        p.enqueue(group, 0);
        throw std::runtime_error("between two launches");
    }),
                    std::runtime_error);
    CHECK(p.words.front()->wait()[0] == 5);
    group.synchronize();
}

} // namespace krylith

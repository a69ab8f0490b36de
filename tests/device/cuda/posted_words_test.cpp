// Numbers that a kernel posts to the host. The kernel is in posted_words_test.cu.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>

#include <krylith/tests/device/cuda/posted_words_test.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace testing {

void enqueue_post(device& device, const post_address& to, std::int64_t first, int count) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return enqueue_post_on_cuda(device, to, first, count);
#endif
    static_cast<host_device&>(device).submit([to, first, count] {
        for (int w = 0; w < count; ++w) to.words[w] = first + w;
        std::atomic_ref(*to.posted).store(to.number, std::memory_order_release);
    });
}

} // namespace testing

KRYLITH_GROUP_TEST("posted words: each posting is seen, of any size and on every device") {
    for (int r = 0; r < group.size(); ++r)
        for (const int count : {1, 2, 64, 4096}) {
            CAPTURE(r);
            CAPTURE(count);
            posted_words words(group.handle(r), count);
            for (std::int64_t round = 1; round <= 200; ++round) {
                const std::int64_t first = round * (std::int64_t{1} << 40) - 7;
                testing::enqueue_post(group[r], words.next(), first, count);
                const auto seen = words.wait();
                REQUIRE(seen.size() == static_cast<std::size_t>(count));
                REQUIRE(seen.front() == first);
                REQUIRE(seen.back() == first + count - 1);
            }
        }
}

KRYLITH_GROUP_TEST("posted words: work that doesn't post is an error, and not an endless wait") {
    posted_words words(group.handle(0), 1);
    (void)words.next();
    CHECK_THROWS_AS((void)words.wait(), device_error);
    testing::enqueue_post(group[0], words.next(), 5, 1);
    CHECK(words.wait().front() == 5);
    group[0].synchronize(); // no error is left behind
}

KRYLITH_GROUP_TEST("posted words: 1 to 4096 of them") {
    for (const int count : {-1, 0, 4097}) {
        std::string message;
        try {
            const posted_words words(group.handle(0), count);
        } catch (const usage_error& e) {
            message = e.what();
        }
        CHECK(message ==
              "posted words: " + std::to_string(count) + " words, allowed are 1 to 4096");
    }
}

TEST_CASE("posted words: what failed before is thrown on host devices") {
    const auto device = std::make_shared<host_device>(0, 1);
    posted_words words(device, 1);
    device->submit([] { throw device_error("a planted failure"); });
    testing::enqueue_post(*device, words.next(), 1, 1);
    CHECK_THROWS_AS((void)words.wait(), device_error);
}

} // namespace krylith

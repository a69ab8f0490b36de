// Kernels that wait for kernels which the host has yet to launch: their time-out begins when it has
// launched them. The kernel is in launch_together_test.cu.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>

#include <krylith/config.hpp>
#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/memory/buffer.hpp>

#include <krylith/tests/device/launch_together_test.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

KRYLITH_GROUP_TEST("launch together: launches are under way until they are done or have failed") {
    const std::uint32_t* const word = group.launching();
    CHECK((word != nullptr) ==
          (group.kind() == backend::cuda && group.size() > 1 && group.concurrent()));
    const auto under_way = [&] { return word != nullptr && *word != 0; };
    CHECK_FALSE(under_way());
    int runs = 0;
    group.launch_together([&] {
        ++runs;
        CHECK(under_way() == (word != nullptr));
    });
    CHECK(runs == 1);
    CHECK_FALSE(under_way());
    CHECK_THROWS_AS(group.launch_together([] { throw std::runtime_error("between two launches"); }),
                    std::runtime_error);
    CHECK_FALSE(under_way());
}

#if KRYLITH_HAVE_CUDA

namespace {

using std::chrono::steady_clock;

constexpr double timeout = 0.1; // seconds

/// A kernel of a device that waits for a word which the host can write.
class waiting_kernel {
public:
    waiting_kernel(const device_group& group, int rank)
        : device_(group.handle(rank)),
          word_(device_, 1),
          failure_(device_, 1, "test"),
          result_(device_, 1, "test") {
        failure_.zero();
        result_.zero();
        std::int32_t* const failures[] = {failure_.data()};
        failures_ =
            buffer<std::int32_t*>(device_, std::span<std::int32_t* const>(failures), "test");
        all_reduce_slots all_reduce{};
        all_reduce.failure = failure_.data();
        all_reduce.failures = failures_.data();
        all_reduce.launching = group.launching();
        all_reduce.timeout_ns = static_cast<std::uint64_t>(timeout * 1e9);
        all_reduce.ranks = 1;
        testing::enqueue_wait_on_cuda(*device_, all_reduce, word(), result_.data());
    }
    void tell() { std::atomic_ref(*word()).store(1, std::memory_order_release); }
    /// Returns whether the word came in time.
    [[nodiscard]] bool came() { return result_.download().front() == 2; }

private:
    std::uint64_t* word() { return posted_; }

    std::shared_ptr<device> device_;
    posted_words word_;
    std::uint64_t* posted_ = word_.next().posted;
    buffer<std::int32_t> failure_;
    buffer<std::int32_t> result_;
    buffer<std::int32_t*> failures_;
};

void sleep_for_three_timeouts() {
    std::this_thread::sleep_for(std::chrono::duration<double>(3 * timeout));
}

double seconds_since(steady_clock::time_point start) {
    return std::chrono::duration<double>(steady_clock::now() - start).count();
}

} // namespace

TEST_CASE("launch together: a kernel waits for launches, and not for ever [cuda]") {
    for (const auto& group : testing::cuda_groups()) {
        if (group.launching() == nullptr) continue;
        INFO(testing::describe(group));
        { // like a process that is stopped between two launches
            std::unique_ptr<waiting_kernel> first;
            group.launch_together([&] {
                first = std::make_unique<waiting_kernel>(group, 0);
                sleep_for_three_timeouts();
                first->tell();
            });
            CHECK(first->came());
        }
        { // all have been launched, and nobody answers
            std::unique_ptr<waiting_kernel> first;
            group.launch_together([&] {
                first = std::make_unique<waiting_kernel>(group, 0);
                sleep_for_three_timeouts();
            });
            const auto start = steady_clock::now();
            CHECK_FALSE(first->came());
            CHECK(seconds_since(start) < 3 * timeout);
        }
        { // there are no launches
            waiting_kernel alone(group, 0);
            sleep_for_three_timeouts();
            alone.tell();
            CHECK_FALSE(alone.came());
        }
    }
}

#endif

} // namespace krylith

#include <krylith/spmspv/kernels/host_ranges.hpp>

#include <atomic>

namespace krylith::host {
namespace {

constexpr std::int64_t usual_worth = 16384; // some microseconds, as long as a team takes to start

std::atomic<std::int64_t> worth_in_force = usual_worth;

} // namespace

std::int64_t worth_a_thread() noexcept {
    return worth_in_force.load(std::memory_order_relaxed);
}

mocked_thread_worth::mocked_thread_worth(std::int64_t entries) noexcept {
    worth_in_force = entries;
}

mocked_thread_worth::~mocked_thread_worth() {
    worth_in_force = usual_worth;
}

} // namespace krylith::host

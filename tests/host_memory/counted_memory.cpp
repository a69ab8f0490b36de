#include <krylith/tests/host_memory/counted_memory.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> before_failure = -1;
std::atomic<std::int64_t> blocks = 0;

} // namespace

namespace krylith::testing {

void fail_allocation(std::int64_t k) noexcept {
    before_failure = k;
}
bool allocation_failed() noexcept {
    return before_failure < 0;
}
std::int64_t live_blocks() noexcept {
    return blocks;
}

} // namespace krylith::testing

// The array and nothrow forms of the standard library call these.
void* operator new(std::size_t bytes) {
    if (before_failure >= 0 && before_failure-- == 0) throw std::bad_alloc();
    void* const pointer = std::malloc(bytes == 0 ? 1 : bytes);
    if (pointer == nullptr) throw std::bad_alloc();
    ++blocks;
    return pointer;
}
void operator delete(void* pointer) noexcept {
    if (pointer == nullptr) return;
    --blocks;
    std::free(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
    operator delete(pointer);
}

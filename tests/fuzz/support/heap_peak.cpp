#include <krylith/tests/fuzz/support/heap_peak.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KRYLITH_FUZZ_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KRYLITH_FUZZ_SANITIZER
#endif

#ifdef KRYLITH_FUZZ_SANITIZER
// Sanitizers have an operator new of their own, and hooks. Only clang's headers declare them.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*,
                                                                  std::size_t),
                                                         void (*)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);
#endif

namespace krylith::fuzz {
namespace {

std::atomic<std::int64_t> now = 0;
std::atomic<std::int64_t> most = 0;

void add(std::int64_t bytes) {
    const std::int64_t sum = now.fetch_add(bytes) + bytes;
    std::int64_t seen = most.load();
    while (sum > seen && !most.compare_exchange_weak(seen, sum)) {
    }
}

#ifdef KRYLITH_FUZZ_SANITIZER

void on_malloc(const volatile void*, std::size_t bytes) {
    add(static_cast<std::int64_t>(bytes));
}

void on_free(const volatile void* place) {
    if (place != nullptr) {
        add(-static_cast<std::int64_t>(__sanitizer_get_allocated_size(place)));
    }
}

const int hooked = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);

#endif

} // namespace

std::int64_t heap_bytes() {
    return now;
}

std::int64_t heap_peak() {
    return most;
}

void forget_heap_peak() {
    most = now.load();
}

} // namespace krylith::fuzz

#ifndef KRYLITH_FUZZ_SANITIZER

// The sized and array forms of the standard library call these.
void* operator new(std::size_t bytes) {
    void* const place = std::malloc(std::max<std::size_t>(bytes, 1));
    if (place == nullptr) {
        throw std::bad_alloc();
    }
    krylith::fuzz::add(static_cast<std::int64_t>(malloc_usable_size(place)));
    return place;
}

void operator delete(void* place) noexcept {
    if (place != nullptr) {
        krylith::fuzz::add(-static_cast<std::int64_t>(malloc_usable_size(place)));
        std::free(place);
    }
}

void operator delete(void* place, std::size_t) noexcept {
    operator delete(place);
}

#endif

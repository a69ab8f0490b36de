// How much memory the process holds from the heap, and the most it held.
#pragma once

#include <cstdint>

namespace krylith::fuzz {

/// Bytes now. With a sanitizer of all allocations, else of operator new alone.
[[nodiscard]] std::int64_t heap_bytes();

/// The most since forget_heap_peak().
[[nodiscard]] std::int64_t heap_peak();

void forget_heap_peak();

} // namespace krylith::fuzz

// The memory that the process holds from the heap, and the most it held.
#pragma once

#include <cstdint>

namespace krylith::fuzz {

/// The bytes at this moment: all allocations with a sanitizer, else those of operator new alone.
[[nodiscard]] std::int64_t heap_bytes();

/// The most bytes after forget_heap_peak().
[[nodiscard]] std::int64_t heap_peak();

void forget_heap_peak();

} // namespace krylith::fuzz

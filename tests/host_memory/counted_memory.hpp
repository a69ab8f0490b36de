// This program's own operator new, which counts blocks, and fails once where it is told to.
#pragma once

#include <cstdint>

namespace krylith::testing {

/// Makes allocation number `k` from this call on (from 0, of any thread) throw std::bad_alloc,
/// once; -1 makes none.
void fail_allocation(std::int64_t k) noexcept;
/// Returns whether it has thrown, or none was to.
[[nodiscard]] bool allocation_failed() noexcept;
[[nodiscard]] std::int64_t live_blocks() noexcept;

} // namespace krylith::testing

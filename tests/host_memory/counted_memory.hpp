// operator new of this program, replaced: counts blocks, and fails once where it is told to.
#pragma once

#include <cstdint>

namespace krylith::testing {

/// Allocation number `k` from here on (from 0, of any thread) throws std::bad_alloc, once; -1:
/// none.
void fail_allocation(std::int64_t k) noexcept;
/// Whether it has, or none was to.
[[nodiscard]] bool allocation_failed() noexcept;
[[nodiscard]] std::int64_t live_blocks() noexcept;

} // namespace krylith::testing

#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>

namespace krylith::testing {

/// Enqueues a kernel that waits for *word and then leaves 1 + whether it came in *result.
void enqueue_wait_on_cuda(device& device, const all_reduce_slots& all_reduce,
                          const std::uint64_t* word, std::int32_t* result);

} // namespace krylith::testing

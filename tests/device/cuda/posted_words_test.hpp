#pragma once

#include <cstdint>

#include <krylith/device/cuda/posted_words.hpp>

namespace krylith::testing {

/// Enqueues work that posts first, first + 1, ...
void enqueue_post(device& device, const post_address& to, std::int64_t first, int count);
void enqueue_post_on_cuda(device& device, const post_address& to, std::int64_t first, int count);

} // namespace krylith::testing

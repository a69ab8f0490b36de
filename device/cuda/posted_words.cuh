// How a kernel posts.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/atomics.cuh>
#include <krylith/device/cuda/posted_words.hpp>

namespace krylith::cuda {

/// Posts the words; one thread calls it, once. What other threads wrote before is visible to the
/// host too where it was visible to this one.
template <class... Words>
__device__ inline void post(const post_address& to, Words... words) {
    [[maybe_unused]] int place = 0;
    ((to.words[place++] = static_cast<std::int64_t>(words)), ...);
    store_release(to.posted, to.number);
}

} // namespace krylith::cuda

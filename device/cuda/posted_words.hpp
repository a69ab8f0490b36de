// A few numbers that work of a device hands to the host without a copy of the runtime's: a kernel
// stores them into host memory, and the host, which decides by them what to enqueue next, looks
// there. On an H200 that takes about 3 us from the kernel's end, where a copy and a wait take
// about 10.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/device/device.hpp>

namespace krylith {

/// Where a kernel posts: words first, then, ordered behind them (release, system scope), `number`
/// into *posted. Plain data for kernels.
struct post_address {
    std::int64_t* words;
    std::uint64_t* posted;
    std::uint64_t number;
};

/// Not copyable. One posting at a time: next(), then work that posts, then wait().
class posted_words {
public:
    /// At most 4096 words. Throws device_error where there is no such memory.
    posted_words(std::shared_ptr<device> device, int count);
    posted_words(const posted_words&) = delete;
    posted_words& operator=(const posted_words&) = delete;
    ~posted_words();

    /// For work that will be enqueued next.
    [[nodiscard]] post_address next();
    /// Until the words of the last next() are there. Throws device_error where the device failed
    /// before. On host devices this waits for all work given to the device.
    [[nodiscard]] std::span<const std::int64_t> wait();

private:
    std::shared_ptr<device> device_;
    std::byte* memory_ = nullptr; ///< the number posted, then the words
    int count_;
    std::uint64_t number_ = 0;
};

} // namespace krylith

// A few numbers that a kernel hands to the host without a copy by the runtime: the kernel stores
// them into host memory, and the host, which decides by them what to enqueue next, polls it. On an
// H200 that takes about 3 us from the kernel's end, where a copy and a wait take about 10.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <krylith/device/device.hpp>

namespace krylith {

/// The place where a kernel posts: words first, then, ordered behind them (release, system scope),
/// `number` into *posted. Plain data for kernels.
struct post_address {
    std::int64_t* words;
    std::uint64_t* posted;
    std::uint64_t number;
};

/// The memory of one posting at a time: next(), then the kernel that posts, then wait(). Not
/// copyable.
class posted_words {
public:
    /// `count` is at most 4096; `item` is what the ledger of a host device says. Throws
    /// device_error where there is no such memory.
    posted_words(std::shared_ptr<device> device, int count, std::string item = "posted words");
    posted_words(const posted_words&) = delete;
    posted_words& operator=(const posted_words&) = delete;
    ~posted_words();

    /// The address for the kernel that will be enqueued next.
    [[nodiscard]] post_address next();
    /// Waits until the words of the last next() are there. Throws device_error where the device
    /// failed before. On host devices this waits for all work given to the device.
    [[nodiscard]] std::span<const std::int64_t> wait();

private:
    std::shared_ptr<device> device_;
    std::byte* memory_ = nullptr; ///< the number posted, then the words
    int count_;
    std::string item_;
    std::uint64_t number_ = 0;
};

} // namespace krylith

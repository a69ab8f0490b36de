#include <krylith/device/cuda/posted_words.hpp>

#include <atomic>
#include <string>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>

namespace krylith {

namespace {

constexpr int most_words = 4096;

std::size_t bytes_of(int count) {
    return sizeof(std::uint64_t) + static_cast<std::size_t>(count) * sizeof(std::int64_t);
}

} // namespace

posted_words::posted_words(std::shared_ptr<device> device, int count, std::string item)
    : device_(std::move(device)), count_(count), item_(std::move(item)) {
    if (count < 1 || count > most_words)
        throw usage_error("posted words: " + std::to_string(count) + " words, allowed are 1 to " +
                          std::to_string(most_words));
#if KRYLITH_HAVE_CUDA
    if (device_->kind() == backend::cuda)
        memory_ = static_cast<std::byte*>(cuda::allocate_post(*device_, bytes_of(count)));
#endif
    if (device_->kind() == backend::host)
        memory_ = static_cast<std::byte*>(device_->allocate(bytes_of(count), item_));
    *reinterpret_cast<std::uint64_t*>(memory_) = 0;
}

posted_words::~posted_words() {
#if KRYLITH_HAVE_CUDA
    if (device_->kind() == backend::cuda) cuda::free_post(*device_, memory_);
#endif
    if (device_->kind() == backend::host) device_->deallocate(memory_, bytes_of(count_), item_);
}

post_address posted_words::next() {
    ++number_;
    auto* const posted = reinterpret_cast<std::uint64_t*>(memory_);
    return {reinterpret_cast<std::int64_t*>(posted + 1), posted, number_};
}

std::span<const std::int64_t> posted_words::wait() {
    auto* const posted = reinterpret_cast<std::uint64_t*>(memory_);
#if KRYLITH_HAVE_CUDA
    if (device_->kind() == backend::cuda) cuda::wait_for_post(*device_, posted, number_);
#endif
    if (device_->kind() == backend::host) {
        device_->synchronize();
        if (std::atomic_ref(*posted).load(std::memory_order_acquire) != number_)
            throw device_error(device_->description() + ": all work is done, and none of it has " +
                               "posted what is waited for");
    }
    return {reinterpret_cast<const std::int64_t*>(posted + 1), static_cast<std::size_t>(count_)};
}

} // namespace krylith

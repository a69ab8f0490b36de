// Device memory with an owner.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/device/memory/unmoved.hpp>

namespace krylith {

/// `size` elements of T on one device, freed with the buffer, which keeps the device alive.
/// Contents are undefined until written. Move-only.
template <class T>
class buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    buffer() = default;

    buffer(std::shared_ptr<device> device, std::size_t size, std::string item)
        : device_(std::move(device)), size_(size), item_(std::move(item)) {
        if (size_ != 0) data_ = static_cast<T*>(device_->allocate(size_ * sizeof(T), item_));
    }

    /// Allocates and uploads.
    buffer(std::shared_ptr<device> device, std::span<const T> contents, std::string item)
        : buffer(std::move(device), contents.size(), std::move(item)) {
        upload(contents);
    }

    buffer(buffer&& other) noexcept { swap(other); }

    buffer& operator=(buffer&& other) noexcept {
        buffer(std::move(other)).swap(*this);
        return *this;
    }

    ~buffer() {
        if (data_ != nullptr) device_->deallocate(data_, size_ * sizeof(T), item_);
    }

    [[nodiscard]] T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    void upload(std::span<const T> contents) {
        if (!contents.empty()) device_->upload(data_, contents.data(), contents.size_bytes());
    }

    void zero() const {
        if (size_ != 0) device_->zero(data_, size_ * sizeof(T));
    }

    [[nodiscard]] std::vector<T> download() const {
        std::vector<T> result(size_);
        if (size_ != 0) device_->download(result.data(), data_, size_ * sizeof(T));
        return result;
    }

    void swap(buffer& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(item_, other.item_);
    }

private:
    unmoved<std::shared_ptr<device>> device_;
    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::string item_;
};

} // namespace krylith

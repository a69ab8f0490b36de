// An array of a device's block: a copy of krylith, or the caller's array, used in place.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

template <class T>
class block_array {
public:
    block_array() = default;

    /// Makes a copy of host memory.
    block_array(std::shared_ptr<device> device, std::span<const T> contents,
                const std::string& item)
        : own_(std::move(device), contents, item), data_(own_.data()), size_(contents.size()) {}

    /// Makes an array whose contents follow.
    block_array(std::shared_ptr<device> device, std::size_t size, const std::string& item)
        : own_(std::move(device), size, item), data_(own_.data()), size_(size) {}

    /// Uses `size` entries in memory of the device in place, or copies them.
    block_array(const std::shared_ptr<device>& device, const T* there, std::size_t size,
                bool borrow, const std::string& item)
        : data_(there), size_(size), borrowed_(borrow) {
        if (borrow) return;
        own_ = buffer<T>(device, size, item);
        data_ = own_.data();
        copy_from(*device, there);
    }

    [[nodiscard]] const T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Whether the array is the caller's, who may write to it at any time.
    [[nodiscard]] bool borrowed() const noexcept { return borrowed_; }

    /// Takes new contents from host memory. Throws usage_error where the array is the caller's.
    void upload(std::span<const T> contents) {
        check_own();
        own_.upload(contents);
    }

    /// Returns the array for new contents; throws as upload() does.
    [[nodiscard]] T* own_data() const {
        check_own();
        return own_.data();
    }

    /// Takes new contents from memory of the device, which is used in place from this call on if
    /// the old array was.
    void take(device& device, const T* there) {
        if (borrowed_)
            data_ = there;
        else
            copy_from(device, there);
    }

private:
    void check_own() const {
        if (borrowed_)
            throw usage_error("update: the operator uses the caller's array of values in place "
                              "(operator_options::borrow): write the new values there, or name "
                              "another array by update_on_devices()");
    }

    void copy_from(device& device, const T* there) {
        if (size_ != 0) device.copy(own_.data(), there, size_ * sizeof(T));
    }

    buffer<T> own_;
    const T* data_ = nullptr;
    std::size_t size_ = 0;
    bool borrowed_ = false;
};

/// The intake of a block whose values lie on the device in the order of the host.
template <class T>
class whole_intake : public value_intake<T> {
public:
    [[nodiscard]] typename value_intake<T>::piece next_piece(std::int64_t first) override {
        return {array().own_data() + first, static_cast<std::int64_t>(array().size()) - first};
    }
    void take_piece(std::int64_t, const typename value_intake<T>::piece&) override {}
    void end_update() override {}

private:
    [[nodiscard]] virtual const block_array<T>& array() const = 0;
};

/// A block's values in CSR order.
template <class T>
[[nodiscard]] block_array<T> values_of(const std::shared_ptr<device>& device,
                                       const local_csr<T>& block, const std::string& item) {
    if (block.values_follow) return {device, static_cast<std::size_t>(block.nonzeros()), item};
    if (block.device_values == nullptr) return {device, block.values, item};
    return {device, block.device_values, static_cast<std::size_t>(block.nonzeros()), block.borrow,
            item};
}

/// A block's local columns in CSR order.
template <class T>
[[nodiscard]] block_array<std::int32_t> columns_of(const std::shared_ptr<device>& device,
                                                   const local_csr<T>& block,
                                                   const std::string& item) {
    const auto count = static_cast<std::size_t>(block.nonzeros());
    if (block.device_indices != nullptr && block.borrow)
        return {device, block.device_indices, count, true, item};
    if (block.there != nullptr) return {device, block.there->columns, count, false, item};
    return {device, block.indices, item};
}

} // namespace krylith

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <krylith/device/device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/distributed/source/pointer_check.hpp>

namespace krylith {

/// An array as kernels of the device read it: where it lies, or a copy of one in host memory.
template <class V>
class read_there {
public:
    read_there(const std::shared_ptr<device>& device, const V* given, std::size_t count,
               const std::string& part, const char* name)
        : data_(given) {
        if (given != nullptr && device->lies_elsewhere(given) == host_memory_name) {
            copy_ = buffer<V>(device, std::span<const V>(given, count), matrix_item);
            data_ = copy_.data();
        }
        if (count != 0) check_pointer(*device, part, data_, name);
    }
    [[nodiscard]] const V* data() const noexcept { return data_; }

private:
    const V* data_;
    buffer<V> copy_;
};

/// Refuses what read_there can't read.
inline void check_readable(device& device, const std::string& part, const void* pointer,
                           const char* name) {
    if (pointer == nullptr || device.lies_elsewhere(pointer) != host_memory_name)
        check_pointer(device, part, pointer, name);
}

} // namespace krylith

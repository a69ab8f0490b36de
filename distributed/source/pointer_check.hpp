#pragma once

#include <string>

#include <krylith/device/device.hpp>
#include <krylith/device/error.hpp>

namespace krylith {

/// Refuses a null pointer and a pointer to memory of another device than the one that has the part.
/// Messages begin with `part`.
inline void check_pointer(device& device, const std::string& part, const void* pointer,
                          const char* name) {
    if (pointer == nullptr) throw usage_error(part + name + " is null");
    const std::string elsewhere = device.lies_elsewhere(pointer);
    if (!elsewhere.empty())
        throw usage_error(part + name + " is " + elsewhere + ", allowed is memory of " +
                          device.description());
}

} // namespace krylith

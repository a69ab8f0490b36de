#include <krylith/spmspv/product/kernel_name.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/nearest_name.hpp>

namespace krylith::spmspv {

kernel parse_kernel(std::string_view name) {
    const auto* const found = std::find(kernel_names.begin(), kernel_names.end(), name);
    if (found == kernel_names.end()) {
        throw usage_error("unknown kernel '" + std::string(name) + "'" +
                          name_advice(name, kernel_names));
    }
    return static_cast<kernel>(found - kernel_names.begin());
}

} // namespace krylith::spmspv

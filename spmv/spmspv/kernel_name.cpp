#include <krylith/spmv/spmspv/kernel_name.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/nearest_name.hpp>

namespace krylith::spmspv {

kernel parse_kernel(std::string_view name) {
    const auto* const found = std::find(kernel_names.begin(), kernel_names.end(), name);
    if (found == kernel_names.end()) {
        std::string message = "unknown kernel '" + std::string(name) + "': did you mean '" +
                              nearest_name(name, kernel_names) + "'? Valid are";
        for (const auto valid : kernel_names) message.append(" ").append(valid);
        throw usage_error(message);
    }
    return static_cast<kernel>(found - kernel_names.begin());
}

} // namespace krylith::spmspv

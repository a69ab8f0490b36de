#include <krylith/tools/cli/exit_status.hpp>

#include <krylith/device/error.hpp>

namespace krylith::tool {

exit_status status_of(const std::exception& failure) noexcept {
    if (dynamic_cast<const usage_error*>(&failure) != nullptr) return exit_status::usage;
    if (dynamic_cast<const input_error*>(&failure) != nullptr) return exit_status::bad_input;
    if (dynamic_cast<const communication_error*>(&failure) != nullptr)
        return exit_status::communication_failure;
    return exit_status::device_failure;
}

} // namespace krylith::tool

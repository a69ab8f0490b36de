// The error where what was to be timed did not happen.
#pragma once

#include <krylith/device/error.hpp>

namespace krylith::bench {

class measurement_failed : public error {
public:
    using error::error;
};

} // namespace krylith::bench

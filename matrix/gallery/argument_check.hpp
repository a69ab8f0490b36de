// Refusals of the generators' arguments.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

/// Throws usage_error unless least <= value <= most (so for NaN too).
template <class Number>
void check_argument(const char* generator, const char* argument, Number value, Number least,
                    Number most) {
    if (!(value >= least && value <= most)) {
        std::ostringstream text;
        text << generator << ": " << argument << " is " << value << ", allowed are " << least
             << " to " << most;
        throw usage_error(text.str());
    }
}

} // namespace krylith

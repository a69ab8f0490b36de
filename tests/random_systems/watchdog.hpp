// Reports which case was under way when the program hangs or dies.
#pragma once

#include <string>

namespace random_systems {

/// Reports crashes from this call on, and ends the program after so many seconds in one case.
void watch(int seconds);

/// Sets the case that begins, which the watchdog prints.
void begin_case(const std::string& line);

} // namespace random_systems

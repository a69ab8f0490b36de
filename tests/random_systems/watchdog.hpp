// Says which case was under way when the program hangs or dies.
#pragma once

#include <string>

namespace random_systems {

/// Crashes are told from here on, and after so many seconds in one case the program ends.
void watch(int seconds);

/// The case that begins: what the watchdog prints.
void begin_case(const std::string& line);

} // namespace random_systems

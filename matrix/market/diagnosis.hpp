// The messages of a refused Matrix Market file: "FILE:LINE: what was found, what is allowed".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krylith::market {

/// The text in double quotes, at most 40 characters of it; unprintable ones as \xNN.
[[nodiscard]] std::string quoted(std::string_view text);

/// Throws input_error "FILE:LINE: WHAT"; lines count from 1.
[[noreturn]] void refuse(const std::string& file, std::int64_t line, const std::string& what);

/// Throws input_error "FILE: WHAT", for a defect that no line of the file has.
[[noreturn]] void refuse(const std::string& file, const std::string& what);

} // namespace krylith::market

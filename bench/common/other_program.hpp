// Programs that a benchmark runs beside krylith.
#pragma once

#include <string>
#include <vector>

namespace krylith::bench {

struct program_outcome {
    int status = 0;   ///< 0: it succeeded
    std::string text; ///< what it printed, errors too
};

/// Runs a program to its end; `words` are its name and arguments, as they are. Throws
/// measurement_failed where it can't be run.
[[nodiscard]] program_outcome run_program(const std::vector<std::string>& words);

/// Returns the last line of a text, where Python says what went wrong.
[[nodiscard]] std::string last_line(std::string text);

} // namespace krylith::bench

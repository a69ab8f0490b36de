// A contestant of `krylith bench read`: a program that reads a file once, in a process of its own,
// so that its peak memory is that of one read, and reports itself in one line of JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace krylith::bench {

/// One read, as the process that did it reports it.
struct read_sample {
    double seconds = 0;          ///< from the file's name to CSR
    double seconds_to_coo = 0;   ///< to coordinates, where that is a step of its own; else 0
    double cpu_seconds = 0;      ///< of all threads
    std::int64_t peak_bytes = 0; ///< resident at the most, above what was before
    std::int64_t rows = 0;
    std::int64_t nnz = 0;
    double sum = 0; ///< of all values, on which the readers must agree
    std::string version;
};

struct read_contestant {
    std::string name;
    std::vector<std::string> command; ///< followed by the file
};

/// Returns this library, SciPy and fast_matrix_market. `python` runs the latter two, and only where
/// it has them; the reason why one is missing is appended to `missing`.
[[nodiscard]] std::vector<read_contestant> read_contestants(const std::string& python,
                                                            std::vector<std::string>& missing);

/// Runs it. Throws measurement_failed with its output where it fails.
[[nodiscard]] read_sample read_once(const read_contestant& contestant,
                                    const std::filesystem::path& file);

/// Reads the file and prints the line, in the process of this library's contestant.
void read_and_report(const std::filesystem::path& file);

} // namespace krylith::bench

// The whole of `krylith bench read`: each file by each reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/read/read_contestant.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct read_request {
    std::vector<std::string> matrices;
    std::string folder = std::filesystem::temp_directory_path().string();
    std::string python = "python3";
    int repetitions = 7;
    std::string once; ///< the file of a contestant's own process; empty: this is no such process
    std::string report_file;
};

void add_options(CLI::App& app, read_request& q);

class read_run {
public:
    explicit read_run(const read_request& request);

    /// Runs and prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    void run_gallery(const std::string& name);
    void measure(const std::string& matrix, const std::string& order,
                 const std::filesystem::path& file, std::int64_t bytes);
    void report_row(const std::string& matrix, const std::string& order, const std::string& reader,
                    std::int64_t bytes, const std::vector<read_sample>& samples,
                    const read_sample& expected);

    read_request request_;
    report report_;
    std::vector<read_contestant> contestants_;
};

} // namespace krylith::bench

#include <krylith/bench/read/read_contestant.hpp>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <numeric>

#include <nlohmann/json.hpp>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/common/other_program.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {
namespace {

using json = nlohmann::ordered_json;

/// A figure of /proc/self/status, in bytes.
std::int64_t memory_figure(const std::string& name) {
    std::ifstream status("/proc/self/status");
    std::string key;
    for (std::string rest; status >> key; std::getline(status, rest)) {
        std::int64_t kibibytes = 0;
        if (key == name + ":" && status >> kibibytes) {
            return kibibytes * 1024;
        }
    }
    throw measurement_failed("/proc/self/status has no " + name);
}

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

} // namespace

std::vector<read_contestant> read_contestants(const std::string& python,
                                              std::vector<std::string>& missing) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    std::vector<read_contestant> contestants{{"krylith", {self, "bench", "read", "--once"}}};
    for (const std::string name : {"scipy", "fast_matrix_market"}) {
        const std::vector<std::string> command{python, KRYLITH_BENCH_READ_BASELINE, name};
        const program_outcome there = run_program(command);
        if (there.status == 0) {
            contestants.push_back({name, command});
        } else {
            missing.push_back(name + ": " + python + " has none (" + last_line(there.text) + ")");
        }
    }
    return contestants;
}

read_sample read_once(const read_contestant& contestant, const std::filesystem::path& file) {
    std::vector<std::string> command = contestant.command;
    command.push_back(file.string());
    const program_outcome done = run_program(command);
    if (done.status != 0) {
        throw measurement_failed(contestant.name + " failed: " + done.text);
    }
    const json line = json::parse(done.text, nullptr, false);
    if (line.is_discarded()) {
        throw measurement_failed(contestant.name + " printed no JSON: " + done.text);
    }
    return {line.at("seconds"),    line.at("seconds_to_coo"), line.at("cpu_seconds"),
            line.at("peak_bytes"), line.at("rows"),           line.at("nnz"),
            line.at("sum"),        line.at("version")};
}

void read_and_report(const std::filesystem::path& file) {
    const std::int64_t before = memory_figure("VmRSS");
    const double cpu_before = cpu_seconds();
    const tool::stopwatch watch;
    const auto matrix = read_matrix_market<double>(file);
    const double seconds = watch.seconds();
    const double cpu = cpu_seconds() - cpu_before;
    const json line = {{"seconds", seconds},
                       {"seconds_to_coo", 0},
                       {"cpu_seconds", cpu},
                       {"peak_bytes", memory_figure("VmHWM") - before},
                       {"rows", matrix.rows},
                       {"nnz", matrix.nnz()},
                       {"sum", std::accumulate(matrix.values.begin(), matrix.values.end(), 0.0)},
                       {"version", ""}};
    tool::print_raw(stdout, line.dump() + "\n");
}

} // namespace krylith::bench

#include <krylith/tools/cli/device_selection.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string_view>
#include <thread>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_threads.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/tools/cli/names.hpp>

namespace krylith::tool {

namespace {

group_options settings(const device_options& options) {
    check_name("transport", options.transport, group_transport_names);
    if (options.transport == posted_transport)
        throw usage_error("--transport posted is for several processes, which mpirun starts");
    group_options group;
    if (options.threads < 0 || options.threads > most_host_threads())
        throw usage_error("--threads is " + std::to_string(options.threads) +
                          ": allowed are 0 (one a core) to " + std::to_string(most_host_threads()) +
                          " here");
    group.staged = options.transport == "staged";
    group.host_threads = options.threads;
    return group;
}

int parse_number(const std::string& option, const std::string& all, std::string_view part) {
    int number = 0;
    const auto [stop, code] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (code != std::errc() || stop != part.data() + part.size() || number < 0)
        throw usage_error(option + " is '" + all +
                          "': allowed are a number, or numbers separated by commas" +
                          (option == "--devices" ? ", and auto for solve" : ""));
    return number;
}

/// Host devices have no identity, so that a list of them can only count.
int host_count(const std::vector<int>& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i] != static_cast<int>(i))
            throw usage_error("--devices: host devices are counted from 0 without gaps: write "
                              "--devices " +
                              std::to_string(list.size()));
    return static_cast<int>(list.size());
}

} // namespace

void check_count(const std::string& option, int count) {
    if (count < 1 || count > max_ranks)
        throw usage_error(option + " asks for " + std::to_string(count) +
                          " devices: allowed are 1 to " + std::to_string(max_ranks));
}

std::vector<int> parse_list(const std::string& option, const std::string& text) {
    std::vector<int> numbers;
    std::string_view rest = text;
    while (!rest.empty()) { // a comma may end the list: "2," is a list of one
        const std::size_t comma = rest.find(',');
        numbers.push_back(parse_number(option, text, rest.substr(0, comma)));
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    if (numbers.empty()) (void)parse_number(option, text, text);
    return numbers;
}

std::vector<int> parse_counts(const std::string& option, const std::string& text) {
    const std::vector<int> counts = parse_list(option, text);
    for (const int count : counts) check_count(option, count);
    return counts;
}

backend select_backend(const device_options& options) {
    static constexpr std::array<name_alias, 4> aliases = {
        {{"gpu", "cuda"}, {"gpus", "cuda"}, {"nvidia", "cuda"}, {"cpu", "host"}}};
    check_name("backend", options.backend, backend_names, aliases);
    if (options.backend == "auto") return cuda_device_count() > 0 ? backend::cuda : backend::host;
    return options.backend == "cuda" ? backend::cuda : backend::host;
}

device_group first_devices(const device_options& options, int count) {
    if (select_backend(options) == backend::host)
        return device_group::host(count, settings(options));
    std::vector<int> ordinals(static_cast<std::size_t>(std::max(count, 0)));
    std::iota(ordinals.begin(), ordinals.end(), 0);
    return some_devices(options, ordinals);
}

device_group some_devices(const device_options& options, const std::vector<int>& ordinals) {
    return device_group::cuda(ordinals, settings(options));
}

device_group select_devices(const device_options& options) {
    const std::vector<int> list = parse_list("--devices", options.devices);
    const bool counted = options.devices.find(',') == std::string::npos;
    check_count("--devices", counted ? list.front() : static_cast<int>(list.size()));
    if (counted) return first_devices(options, list.front());
    if (select_backend(options) == backend::host) return first_devices(options, host_count(list));
    return some_devices(options, list);
}

std::vector<int> default_counts(const device_options& options) {
    const int most = select_backend(options) == backend::cuda
                         ? cuda_device_count()
                         : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    std::vector<int> counts;
    for (int count = 1; count < most; count *= 2) counts.push_back(count);
    counts.push_back(std::max(1, most));
    return counts;
}

std::vector<std::string> descriptions(const communicator& comm) {
    std::vector<std::string> result;
    for (int rank = 0; rank < comm.ranks(); ++rank) result.push_back(comm.description(rank));
    return result;
}

} // namespace krylith::tool

#include <krylith/tools/cli/processes.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <omp.h>

#include <krylith/comm/agreement/failure_words.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::tool {

namespace {

/// How many processes --processes asks for; nothing for auto.
std::optional<int> parse_processes(const std::string& text) {
    if (text == "auto") return std::nullopt;
    int number = 0;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || stop != text.data() + text.size() || number < 1)
        throw usage_error("--processes is '" + text + "': allowed are auto, and 1 or more");
    return number;
}

} // namespace

void add_processes(CLI::App& app, device_options& options) {
    app.add_option("--processes", options.processes,
                   "Of mpirun, mpiexec or srun that solve together, each with the devices above: "
                   "auto, all that were started; 1, each alone; N, or an error")
        ->type_name("N|auto")
        ->capture_default_str()
        ->group("Devices");
}

process_team::process_team(const device_options& options) {
    const std::optional<int> wanted = parse_processes(options.processes);
    if (wanted == 1) return;
    link_ = link_launched_processes(options.link_timeout_seconds());
    const int there = has_one() ? 1 : link_->drivers();
    if (wanted && *wanted != there)
        throw usage_error(
            fmt::format("--processes is {}, but the launcher has started {}", *wanted, there));
    if (has_one()) return;
    // MPICH's launcher sends SIGUSR1 to the processes that are left when one has died and it was
    // told to let them live. Whoever doesn't expect it would die of it, too.
    struct sigaction now {};
    if (sigaction(SIGUSR1, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
        (void)std::signal(SIGUSR1, SIG_IGN);
    share_ = find_machine_share(*link_);
}

device_group process_team::select_own(const device_options& options) const {
    if (options.devices.find(',') != std::string::npos)
        throw usage_error("--devices is a list, and several processes share the devices of the "
                          "machine: allowed is how many each takes");
    device_options own = options;
    if (own.transport == posted_transport) own.transport = automatic_name;
    if (own.threads == 0) own.threads = share_.threads();
    const std::vector<int> list = parse_list("--devices", options.devices);
    check_count("--devices", list.front());
    if (select_backend(options) == backend::host) return first_devices(own, list.front());
    return some_devices(own, share_.gpus(list.front()));
}

communicator process_team::select(const device_options& options) {
    if (has_one()) return select_devices(options);
    joined_.reset();
    // Threads that wait for work keep the cores busy for a while. Where each process had one a
    // core, those of one process would keep the others from theirs, and uploads would take thrice
    // as long.
    omp_set_num_threads(std::min(omp_get_max_threads(), share_.threads()));
    std::optional<device_group> own;
    std::exception_ptr failed;
    try {
        own = select_own(options);
    } catch (...) {
        failed = std::current_exception();
    }
    const auto words = link_->all_gather(failure_words(failed));
    if (const std::size_t first = krylith::first_failure(words); first != words.size()) {
        not_joined_ = {static_cast<int>(first), failed != nullptr};
        std::rethrow_exception(failure_of(words[first]));
    }
    joined_ =
        communicator(*own, link_, {.separate_machines = options.transport == posted_transport});
    return *joined_;
}

exit_status process_team::tell(const std::exception& failure) const {
    const failure_place place = joined_ ? joined_->last_failure() : not_joined_;
    // What all find alike the first says, but for a process that is lost: it may be the first.
    const bool lost = dynamic_cast<const communication_error*>(&failure) != nullptr;
    const bool says =
        place.driver ? *place.driver == link_->driver() : joined_ || is_first() || lost;
    if (says)
        print(stderr, fmt::format("krylith: {}{}\n",
                                  has_one() ? ""
                                            : fmt::format("process {} of {}: ", link_->driver(),
                                                          link_->drivers()),
                                  one_line(failure.what())));
    return !place.driver || place.here ? status_of(failure) : exit_status::communication_failure;
}

} // namespace krylith::tool

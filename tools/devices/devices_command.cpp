// krylith devices
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/config.hpp>
#include <krylith/matrix/files/available_memory.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/tools/model/device_figures.hpp>

namespace krylith::tool {

namespace {

struct devices_job {
    device_options devices;
    std::string report;
};

const char* path_in_words(peer_path path) {
    return path == peer_path::direct ? "direct" : "staged";
}

std::string name(const device& device) {
    return fmt::format("{}:{}", to_string(device.kind()), device.ordinal());
}

std::size_t measured_bytes(backend kind) {
    return std::size_t{kind == backend::cuda ? 256U : 64U} << 20;
}

/// What each device is and how fast it copies.
json measure_devices(const device_group& group, std::FILE* out) {
    json rows = json::array();
    for (int rank = 0; rank < group.size(); ++rank) {
        const device& device = group[rank];
        const double rate = copy_rate(group, rank, measured_bytes(group.kind())) * 1e-9;
        const std::size_t free = device.free_bytes();
        print(out, fmt::format("  {}, {} free, copies at {:.4g} GB/s (read + written)\n",
                               device.description(), in_bytes(static_cast<double>(free)), rate));
        rows.push_back({{"device", name(device)},
                        {"description", device.description()},
                        {"free_bytes", free},
                        {"copy_gigabytes_per_second", rate}});
    }
    return rows;
}

json measure_pairs(const device_group& group, std::FILE* out) {
    json rows = json::array();
    for (int from = 0; from < group.size(); ++from)
        for (int to = 0; to < group.size(); ++to) {
            if (from == to) continue;
            const double rate = peer_rate(group, from, to, measured_bytes(group.kind())) * 1e-9;
            const char* path = path_in_words(group.path(from, to));
            print(out, fmt::format("  {} to {}: {:.4g} GB/s ({})\n", name(group[from]),
                                   name(group[to]), rate, path));
            rows.push_back({{"from", name(group[from])},
                            {"to", name(group[to])},
                            {"path", path},
                            {"gigabytes_per_second", rate}});
        }
    return rows;
}

json measure_all_reduce(const device_options& options, int most, std::FILE* out) {
    json rows = json::array();
    for (int count = 1; count <= most; ++count) {
        const device_group group = first_devices(options, count);
        const double seconds = all_reduce_seconds(group);
        const char* mode = group.concurrent() ? "recorded" : "eager";
        print(out, fmt::format("  {} device{}: {} ({})\n", count, count == 1 ? "" : "s",
                               in_seconds(seconds), mode));
        rows.push_back({{"devices", count}, {"execution", mode}, {"seconds", seconds}});
    }
    return rows;
}

/// What `auto` reckons with from now on, for each number of devices on which it has a choice.
json keep_rates(const device_options& options, int most, std::FILE* out) {
    json rows = json::array();
    print(out, "\nRates for operator auto: measured, to be kept\n");
    for (int count = 2; count <= most; ++count) {
        const known_rates known = measure_and_keep(first_devices(options, count));
        print(out, fmt::format("  {} devices: {}\n", count, known.from));
        rows.push_back({{"devices", count}, {"from", known.from}, {"rates", format(known.rates)}});
    }
    return rows;
}

json measure(const device_options& options, int count, std::FILE* out) {
    json figures;
    const device_group group = first_devices(options, count);
    figures["devices"] = measure_devices(group, out);
    if (count > 1) {
        print(out, fmt::format("\nCopies from device to device\n"));
        figures["peers"] = measure_pairs(group, out);
    }
    print(out, fmt::format(
                   "\nAll-reduce: a kernel that reduces one scalar over the devices and waits for "
                   "the one before\n"));
    figures["all_reduce"] = measure_all_reduce(options, count, out);
    if (count > 1) figures["rates"] = keep_rates(options, count, out);
    return figures;
}

json measure_host(device_options options, std::FILE* out) {
    const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    print(out,
          fmt::format("Host: {} core{}, {} of memory available\n", cores, cores == 1 ? "" : "s",
                      in_bytes(static_cast<double>(available_memory()))));
    options.backend = "host";
    // Two slices even of one core: then what is measured is the way, not the speed.
    return measure(options, std::clamp(cores, 2, 4), out);
}

json measure_cuda(device_options options, std::FILE* out) {
    const int count = cuda_device_count();
    print(out,
          fmt::format("\nCUDA: {}\n",
                      KRYLITH_HAVE_CUDA == 0 ? "this krylith was built without it"
                      : count == 0           ? "no device that this process can use"
                                   : fmt::format("{} device{}", count, count == 1 ? "" : "s")));
    if (count == 0 && options.backend != "cuda") return json();
    options.backend = "cuda";
    return measure(options, std::max(count, 1), out); // says what is wrong where there is none
}

exit_status run_devices_job(const devices_job& job) {
    check_outputs({{"--report", job.report, {".json"}}}, {});
    (void)select_backend(job.devices); // checks the name
    // Standard output is for whoever reads the report, if that goes there.
    std::FILE* out = job.report == "-" ? stderr : stdout;
    json report = {{"schema_version", report_schema}, {"version", KRYLITH_VERSION}};
    if (job.devices.backend != "cuda") report["host"] = measure_host(job.devices, out);
    if (job.devices.backend != "host") report["cuda"] = measure_cuda(job.devices, out);
    if (!job.report.empty()) write_text(job.report, report.dump(2) + "\n");
    return exit_status::success;
}

} // namespace

command add_devices(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand(
        "devices",
        "Show what is there, and measure copies, all-reduce and what operator auto reckons with");
    auto job = std::make_shared<devices_job>();
    add_backend_options(*app, job->devices);
    add_report(*app, job->report);
    return {app, [job] { return run_devices_job(*job); }};
}

} // namespace krylith::tool

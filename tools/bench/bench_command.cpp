// krylith bench NAME [MATRIX...]
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include <krylith/device/error.hpp>
#include <krylith/tools/cli/command.hpp>

namespace krylith::tool {

namespace {

constexpr const char* bench_footer =
    R"(krylith bench NAME --help has the options of a benchmark. Times are medians. A row that fails a
check is marked VOID.

Exit status: 0 done, 1 a row is void, 2 usage, 3 a matrix can't be read or a file not written,
4 device failure, 5 communication failure.)";

} // namespace

command add_bench(CLI::App& parent, std::span<const benchmark> known) {
    CLI::App* app = parent.add_subcommand(
        "bench", "Time solvers, products and more over numbers of devices, against what is usual");
    app->footer(bench_footer);
    if (known.empty()) {
        app->allow_extras();
        return {app, []() -> exit_status {
                    throw usage_error("krylith-bench, which runs the benchmarks, is not beside "
                                      "this krylith: scripts/setup builds both, and cmake "
                                      "--install installs them (a build with KRYLITH_BENCH=OFF "
                                      "has no benchmarks)");
                }};
    }
    app->require_subcommand(1);
    std::vector<command> added;
    for (const benchmark& b : known) {
        // add_subcommand of a name would refuse the colon of "gmres:cgs2".
        const auto options = std::make_shared<CLI::App>(std::string(b.help), std::string(b.name));
        options->formatter(app->get_formatter());
        options->footer(bench_footer);
        app->add_subcommand(options);
        added.push_back({options.get(), b.add(*options, b.name)});
    }
    return {app, [added = std::move(added)] {
                const auto parsed = std::ranges::find_if(
                    added, [](const command& c) { return c.options->parsed(); });
                return parsed->run();
            }};
}

} // namespace krylith::tool

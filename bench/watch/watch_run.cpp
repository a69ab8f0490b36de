#include <krylith/bench/watch/watch_run.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <krylith/bench/common/long_solve.hpp>
#include <krylith/bench/common/shared_options.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr const char* watch_line = "{:<34} {:>7} {:<14} {:<10} {:>10} {:>10} {:>10}{}\n";
constexpr std::array ways = {"unwatched", "token", "callback", "paused"};

double seconds(clock::duration t) {
    return std::chrono::duration<double>(t).count();
}

solver_options options_of(std::size_t way, std::int64_t iterations, const std::stop_source& source,
                          std::int64_t& calls) {
    solver_options options{.max_iterations = iterations};
    if (way == 1) {
        options.stop = source.get_token();
        options.max_seconds = 1e6;
    }
    if (way >= 2) options.callback = [&calls](const progress&) { ++calls; };
    options.callback_interval = way == 2 ? 1 : 100;
    options.callback_pauses = way == 3;
    return options;
}

} // namespace

void add_options(CLI::App& app, watch_request& q) {
    add_matrices(app, q.matrices, "7-point Poisson 64^3");
    app.add_option("--iterations", q.iterations, "Of a solve that is timed")
        ->type_name("K")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--repetitions", q.repetitions, "Solves of each kind, which take turns")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    add_device_counts(app, q.counts, "1");
    add_backend(app, q.devices);
    tool::add_report(app, q.report_file);
}

watch_run::watch_run(const watch_request& request)
    : request_((check_files(request.report_file, "", request.matrices), request)),
      choice_(choose_devices(request.devices,
                             request.counts.empty() ? std::vector{1} : request.counts)),
      report_("watch", request.report_file) {
    if (request_.matrices.empty()) request_.matrices = {"gallery:poisson3d:64"};
    report_.describe_devices(choice_);
    report_.set_option("iterations", request_.iterations);
    report_.set_option("repetitions", request_.repetitions);
}

bool watch_run::run() {
    report_.say(fmt::format("{}\n{} iterations a solve, {} solves of each kind by turns\n\n",
                            fmt::join(descriptions(choice_.group(choice_.counts.back())), ", "),
                            request_.iterations, request_.repetitions));
    report_.say(fmt::format(fmt::runtime(watch_line), "matrix", "devices", "solver", "watched",
                            "us/iter", "ratio", "p90", ""));
    for (const std::string& name : request_.matrices) {
        const auto matrix = load_matrix<double>(name);
        for (const int count : choice_.counts) run_matrix(name, matrix, count);
    }
    return report_.finish();
}

void watch_run::run_matrix(const std::string& name, const csr_matrix<double>& matrix, int count) {
    long_solve s(choice_.group(count), matrix);
    for (const bool persistent : {false, true}) {
        const char* const solver = persistent ? "cg:persistent" : "cg";
        if (persistent && !not_persistent_because(*s.a).empty()) {
            report_.skip(solver, not_persistent_because(*s.a));
            continue;
        }
        run_watched(s, {name, count, solver}, persistent);
        run_stopped(s, {name, count, solver}, persistent);
    }
}

void watch_run::run_watched(long_solve& s, const watched_row& at, bool persistent) {
    const std::stop_source source;
    std::int64_t calls = 0;
    std::array<std::vector<double>, ways.size()> each;
    std::array<std::vector<double>, ways.size()> ratio;
    std::array<std::vector<std::string>, ways.size()> wrong;
    for (int turn = -1; turn < request_.repetitions; ++turn) // the first warms up
        for (std::size_t way = 0; way < ways.size(); ++way) {
            // What a solve costs beside its iterations drops out: the difference of two.
            const std::int64_t few = request_.iterations / 4;
            const auto start = s.solve(persistent, options_of(way, few, source, calls));
            calls = 0;
            const auto result =
                s.solve(persistent, options_of(way, request_.iterations, source, calls));
            if (result.iterations != request_.iterations && wrong[way].empty())
                wrong[way].push_back(
                    fmt::format("{} iterations: {}", result.iterations, to_string(result.reason)));
            if (way == 2 && calls != result.iterations + 1 && wrong[way].empty())
                wrong[way].push_back(
                    fmt::format("{} calls for {} iterations", calls, result.iterations));
            if (turn < 0) continue;
            each[way].push_back((result.solve_seconds - start.solve_seconds) /
                                static_cast<double>(request_.iterations - few));
            ratio[way].push_back(each[way].back() / each[0].back());
        }
    for (std::size_t way = 0; way < ways.size(); ++way) {
        const spread t = spread_of(each[way]);
        const spread r = spread_of(ratio[way]);
        report_.say(fmt::format(fmt::runtime(watch_line), at.matrix, at.devices, at.solver,
                                ways[way], fmt::format("{:.3f}", t.median * 1e6),
                                fmt::format("{:.4f}", r.median), fmt::format("{:.4f}", r.p90),
                                wrong[way].empty() ? "" : "  VOID: " + wrong[way].front()));
        report_.add({{"matrix", at.matrix},
                     {"devices", at.devices},
                     {"solver", at.solver},
                     {"watched", ways[way]},
                     {"us_an_iteration", to_json(t, 1e6)},
                     {"ratio", to_json(r, 1)},
                     {"void_because", wrong[way]}});
    }
}

void watch_run::run_stopped(long_solve& s, const watched_row& at, bool persistent) {
    std::vector<double> latency;
    std::vector<double> late;
    std::vector<std::string> wrong_end;
    for (int turn = 0; turn < request_.repetitions; ++turn) {
        std::stop_source stopper;
        clock::time_point asked;
        std::int64_t last = 0;
        std::atomic<bool> under_way = false;
        std::jthread other([&] {
            while (!under_way) std::this_thread::yield();
            asked = clock::now();
            stopper.request_stop();
        });
        std::int64_t seen = 0;
        const auto result = s.solve(persistent, {.max_iterations = 100'000'000,
                                                 .callback =
                                                     [&](const progress& now) {
                                                         if (!stopper.stop_requested())
                                                             last = now.iteration;
                                                         seen = now.iteration;
                                                         under_way = seen >= 100;
                                                     },
                                                 .callback_interval = 1,
                                                 .stop = stopper.get_token()});
        const auto ended = clock::now();
        under_way = true;
        other.join();
        if (result.reason != reason::interrupted)
            wrong_end = {std::string("ended as ") + to_string(result.reason)};
        latency.push_back(seconds(ended - asked));
        late.push_back(static_cast<double>(seen - last));
    }
    const spread t = spread_of(latency);
    const spread l = spread_of(late);
    report_.say(fmt::format("{:<34} {:>7} {:<14} stopped {:.0f} us after the request (p90 "
                            "{:.0f}), {:.0f} iterations later (p90 {:.0f}){}\n",
                            at.matrix, at.devices, at.solver, t.median * 1e6, t.p90 * 1e6, l.median,
                            l.p90, wrong_end.empty() ? "" : "  VOID: " + wrong_end.front()));
    report_.add({{"matrix", at.matrix},
                 {"devices", at.devices},
                 {"solver", at.solver},
                 {"watched", "stopped"},
                 {"us_to_the_end", to_json(t, 1e6)},
                 {"iterations_to_the_end", to_json(l, 1)},
                 {"void_because", wrong_end}});
}

} // namespace krylith::bench

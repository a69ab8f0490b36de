#include <krylith/bench/processes/processes_run.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/common/long_solve.hpp>
#include <krylith/bench/common/shared_options.hpp>
#include <krylith/config.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr const char* table_line = "{:<26} {:<9} {:>10} {:>10} {:>10}{}\n";

double seconds_since(clock::time_point begin) {
    return std::chrono::duration<double>(clock::now() - begin).count();
}

/// A loop whose trips have so many inner products, each behind the one before, of a vector so short
/// that they take what an all-reduce takes.
class chained_sums {
public:
    chained_sums(const communicator& comm, int sums)
        : run_(comm, {}),
          v_(std::make_shared<layout>(layout{comm, equal_rows(rows(comm), comm.ranks())})),
          total_(run_),
          sums_(sums) {
        v_.upload(std::vector<double>(static_cast<std::size_t>(rows(comm)), 1.0));
    }

    /// Returns the seconds of so many trips.
    [[nodiscard]] double time(std::int64_t trips) {
        constexpr double never = std::numeric_limits<double>::infinity();
        for (const auto reg : {control::state, control::iteration, control::best_at})
            run_.set(reg, 0);
        for (const auto reg :
             {control::pause_at, control::ceiling, control::best, control::patience})
            run_.set(reg, never);
        run_.set(control::target, -1);
        run_.set(control::limit, static_cast<double>(trips));
        run_.comm().synchronize_all();
        const auto begin = clock::now();
        (void)run_.repeat([&] {
            for (int k = 0; k < sums_; ++k) fused(run_, total_ = dot(v_, v_));
            test_residual(total_);
        });
        return seconds_since(begin);
    }

private:
    [[nodiscard]] static std::int64_t rows(const communicator& comm) { return 64 * comm.ranks(); }

    execution run_;
    vector<double> v_;
    scalar total_;
    int sums_;
};

/// Times a solve's iterations, or a loop's trips: what each run costs besides drops out, as the
/// difference of two. All processes run as often.
template <class Timed>
spread time_steps(std::int64_t steps, int repetitions, double parts, const Timed& timed) {
    std::vector<double> samples;
    for (int turn = -1; turn < repetitions; ++turn) { // the first warms up
        const double few = timed(steps / 4);
        const double many = timed(steps);
        if (turn >= 0)
            samples.push_back((many - few) / static_cast<double>(steps - steps / 4) / parts);
    }
    return spread_of(samples);
}

} // namespace

void add_options(CLI::App& app, processes_request& q) {
    add_matrices(app, q.matrices, "7-point Poisson 16^3, 64^3 and 128^3");
    add_list(app, "--transports", q.transports,
             "auto: the paths of one machine; posted: those of several. Without: both");
    app.add_option("--iterations", q.iterations, "Of a solve that is timed, less a quarter of them")
        ->type_name("K")
        ->check(CLI::Range(8, 400))
        ->capture_default_str();
    app.add_option("--repetitions", q.repetitions, "Of all that is timed")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    add_backend(app, q.devices);
    tool::add_report(app, q.report_file);
}

processes_run::processes_run(const processes_request& request)
    : request_((check_files(request.report_file, "", request.matrices), request)),
      team_(request.devices),
      report_("processes", team_.is_first() ? request.report_file : "") {
    if (team_.has_one() || team_.link().drivers() != 2)
        throw usage_error("krylith bench processes is for two processes: mpirun -n 2 krylith bench "
                          "processes");
    tag_ = team_.link().take_tags(1);
    if (request_.matrices.empty())
        request_.matrices = {"gallery:poisson3d:16", "gallery:poisson3d:64",
                             "gallery:poisson3d:128"};
    if (request_.transports.empty()) request_.transports = {"auto", "posted"};
    for (const std::string& name : request_.matrices)
        matrices_.push_back(load_matrix<double>(name));
    report_.set_option("iterations", request_.iterations);
    report_.set_option("repetitions", request_.repetitions);
}

bool processes_run::run() {
    if (team_.is_first())
        report_.say(
            fmt::format(fmt::runtime(table_line), "what", "transport", "us", "p10", "p90", ""));
    for (const std::string& transport : request_.transports) run_transport(transport);
    return report_.finish();
}

void processes_run::run_transport(const std::string& transport) {
    tool::device_options devices = request_.devices;
    devices.transport = transport;
    const communicator comm = team_.select(devices);
    if (transport == request_.transports.front()) {
        report_.set_option("devices", tool::descriptions(comm));
        run_bare(comm);
    }
    run_sums(comm, transport);
    for (std::size_t k = 0; k < matrices_.size(); ++k) run_matrix(comm, transport, k);
}

void processes_run::run_bare(const communicator& comm) {
    const process_pair pair{team_.link(), comm.handle(comm.first_local()), tag_};
    constexpr int times = 400;
#if KRYLITH_HAVE_CUDA
    if (comm.kind() == backend::cuda)
        tell("bare sum", "", time_bare_sums(pair, 100, request_.repetitions));
#endif
    tell("bare exchange of 16 bytes", "", time_exchanges(pair, 16, times), "", 16);
    for (const auto& matrix : matrices_) {
        const auto a = make_operator(comm, matrix, {.kind = operators::halo});
        auto ghosts = by_rank(comm, [&](int rank) { return a->received(rank); });
        comm.all_gather(ghosts);
        const auto bytes = *std::ranges::max_element(ghosts) * std::int64_t{sizeof(double)};
        tell(fmt::format("bare exchange of {} bytes", bytes), "",
             time_exchanges(pair, static_cast<std::size_t>(bytes), times), "", bytes);
    }
}

void processes_run::run_sums(const communicator& comm, const std::string& transport) {
    constexpr int more = 15;
    chained_sums one(comm, 1);
    chained_sums many(comm, 1 + more);
    tell("sum in a loop", transport,
         time_steps(request_.iterations, request_.repetitions, more,
                    [&](std::int64_t trips) { return many.time(trips) - one.time(trips); }));
}

void processes_run::run_matrix(const communicator& comm, const std::string& transport,
                               std::size_t which) {
    long_solve s(comm, matrices_[which], {.kind = operators::halo});
    for (const bool persistent : {false, true}) {
        if (persistent && !not_persistent_because(*s.a).empty()) continue;
        std::string wrong;
        const auto solve = [&](std::int64_t iterations) {
            const solve_result result = s.solve(persistent, {.max_iterations = iterations});
            if (result.iterations != iterations)
                wrong =
                    fmt::format("{} iterations: {}", result.iterations, to_string(result.reason));
            return result.solve_seconds;
        };
        const spread seconds = time_steps(request_.iterations, request_.repetitions, 1, solve);
        tell((persistent ? "cg:persistent " : "cg:launched ") + request_.matrices[which], transport,
             seconds, wrong);
    }
}

void processes_run::tell(const std::string& what, const std::string& transport,
                         const spread& seconds, const std::string& wrong, std::int64_t bytes) {
    if (!team_.is_first()) return;
    const auto us = [](double time) { return fmt::format("{:.2f}", time * 1e6); };
    report_.say(fmt::format(fmt::runtime(table_line), what, transport, us(seconds.median),
                            us(seconds.p10), us(seconds.p90),
                            wrong.empty() ? "" : "  VOID: " + wrong));
    json row = {{"what", what}, {"transport", transport}, {"us", to_json(seconds, 1e6)}};
    if (bytes != 0) row["bytes"] = bytes;
    row["void_because"] = wrong.empty() ? std::vector<std::string>{} : std::vector{wrong};
    report_.add(std::move(row));
}

} // namespace krylith::bench

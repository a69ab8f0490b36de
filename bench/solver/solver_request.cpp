#include <krylith/bench/solver/solver_request.hpp>

#include <array>
#include <limits>
#include <string_view>

#include <CLI/CLI.hpp>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/device/error.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/tools/cli/method_help.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

namespace {

constexpr std::array<std::string_view, 3> contestant_names = {"all", "krylith", "baseline"};

} // namespace

std::vector<std::string> solver_request::matrix_names(backend kind) const {
    std::vector<std::string> names = matrices;
    if (names.empty()) {
        names = {"gallery:poisson3d:64", "gallery:poisson3d:128"};
        if (kind == backend::cuda) {
            names.insert(names.end(), {"gallery:poisson3d:256", "gallery:poisson3d:400"});
        }
    }
    if (!random) {
        return names;
    }
    std::vector<std::string> both;
    for (const std::string& name : names) {
        both.push_back(name);
        if (name.starts_with("gallery:") && name.find("random") == std::string::npos) {
            both.push_back(name + ":random=1");
        }
    }
    return both;
}

bool solver_request::has_baseline() const {
    return &find_solver(solver).base() == &solver_rows::cg &&
           parse_preconditioner(preconditioner).method == nullptr && !multiply.single_precision();
}

std::string solver_request::contestants() const {
    if (against.empty()) {
        return has_baseline() ? "all" : "krylith";
    }
    tool::check_name("contestant", against, contestant_names);
    if (against == "baseline" && !has_baseline()) {
        throw usage_error("--against is baseline: there is one for cg in fp64 without "
                          "preconditioner");
    }
    return has_baseline() ? against : "krylith";
}

krylith_settings solver_request::settings() const {
    krylith_settings s;
    s.solver = solver;
    s.preconditioner = preconditioner;
    s.multiply = multiply.options();
    s.options.mode = execution_named(execution);
    s.options.unroll = unroll;
    s.options.timeout_seconds = devices.timeout_seconds();
    s.options.check();
    return s;
}

void solver_request::check() const {
    (void)parse_preconditioner(preconditioner);
    (void)contestants();
    (void)settings();
    plan.effort.check();
    if (plan.solves < 0) {
        throw usage_error("--solves is " + std::to_string(plan.solves) +
                          ": allowed are 0 and more");
    }
    if (passes && multiply.single_precision()) {
        throw usage_error("--passes is for fp64");
    }
    check_files(report_file, csv_file, matrices);
}

void add_options(CLI::App& app, solver_request& q) {
    const auto add = [&](const char* name, auto& value, const std::string& type, const char* help) {
        return app.add_option(name, value, help)->type_name(type);
    };
    add_matrices(app, q.matrices, "gallery:poisson3d of 64, 128, 256 and 400 (host: 64 and 128)");
    tool::add_spd(app, q.spd);
    app.add_flag("--random", q.random, "Each gallery matrix also with random values (D A D)");
    add("--precond", q.preconditioner, tool::alternatives(preconditioner_names()),
        tool::preconditioner_help().c_str())
        ->capture_default_str();
    tool::add_rtol(app, q.rtol);
    add("--solves", q.plan.solves, "N", "Timed solves to --rtol, after one that is not; 0: none")
        ->capture_default_str();
    add("--against", q.against, tool::alternatives(contestant_names),
        "all: krylith and, alternating in the same process, what is usual on the machine: cuSPARSE "
        "with cuBLAS on one GPU, Eigen on the host; for cg in fp64 without preconditioner [all, "
        "else krylith]");
    app.add_flag("--passes", q.passes,
                 "Also what each pass of an iteration of cg costs, on one device");
    add_execution(app, q.execution);
    add("--unroll", q.unroll, "K", "Iterations that are recorded at once")->capture_default_str();
    add_effort(app, q.plan.effort);
    add_limits(app, q.limit, q.without_limits);
    tool::add_operator_options(app, q.multiply);
    tool::add_backend_options(app, q.devices);
    tool::add_transports(app, q.multiply);
    add_device_counts(app, q.counts);
    tool::add_timeout(app, q.devices);
    tool::add_report(app, q.report_file);
    add_csv(app, q.csv_file);
}

} // namespace krylith::bench

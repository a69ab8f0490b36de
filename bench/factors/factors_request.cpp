#include <krylith/bench/factors/factors_request.hpp>

#include <CLI/CLI.hpp>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

std::vector<std::string> factors_request::matrix_list(backend devices_of) const {
    if (!matrices.empty()) return matrices;
    if (devices_of == backend::cuda) return {"gallery:poisson3d:128"};
    return {"gallery:poisson3d:32"};
}

void add_options(CLI::App& app, factors_request& q) {
    add_matrices(app, q.matrices, "poisson3d of 128^3 on GPUs, 32^3 on hosts");
    app.add_option("--repetitions", q.repetitions,
                   "Times that each is measured, after one that is thrown away")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--rtol", q.rtol, "CG stops at ||b - A x|| <= RTOL ||b||, b random")
        ->type_name("RTOL")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_flag("--no-solves", q.without_solves, "Factors and their application alone");
    app.add_flag("--no-peers", q.without_peers, "Without cuSPARSE");
    add_backend(app, q.devices);
    add_device_counts(app, q.counts, "1");
    tool::add_report(app, q.report_file);
}

} // namespace krylith::bench

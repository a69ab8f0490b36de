#include <krylith/bench/right_hand_sides/right_hand_sides_request.hpp>

#include <CLI/CLI.hpp>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/tools/cli/method_help.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

std::vector<std::string> right_hand_sides_request::matrix_list(backend devices_of) const {
    if (!matrices.empty()) return matrices;
    if (devices_of == backend::cuda)
        return {"gallery:poisson3d:32", "gallery:poisson3d:256:random=1",
                "gallery:poisson3d_27point:256:random=1"};
    return {"gallery:poisson3d:32", "gallery:poisson3d_27point:32:random=1"};
}

void add_options(CLI::App& app, right_hand_sides_request& q) {
    add_matrices(app, q.matrices, "poisson3d of 32^3 and 256^3, and 27 points");
    add_list(app, "--count", q.columns, "Right-hand sides, each number is measured [8]");
    app.add_option("--solver", q.solver, "Solver")
        ->type_name(tool::alternatives(solver_names()))
        ->capture_default_str();
    app.add_option("--precond", q.preconditioner, tool::preconditioner_help())
        ->type_name(tool::alternatives(preconditioner_names()))
        ->capture_default_str();
    app.add_option("--repetitions", q.repetitions,
                   "Times that each is measured by turns, after one that is thrown away")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--rtol", q.rtol, "Solves stop at ||b - A x|| <= RTOL ||b||, b random")
        ->type_name("RTOL")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    add_backend(app, q.devices);
    add_device_counts(app, q.device_counts);
    tool::add_report(app, q.report_file);
}

} // namespace krylith::bench

#include <krylith/bench/multigrid/multigrid_request.hpp>

#include <CLI/CLI.hpp>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

std::vector<std::string> multigrid_request::matrix_list(backend devices_of) const {
    if (!matrices.empty()) return matrices;
    if (devices_of == backend::cuda)
        return {"gallery:poisson3d:64", "gallery:poisson3d:128", "gallery:poisson3d:256",
                "gallery:poisson3d_27point:256", "gallery:anisotropic3d:256:1e-3"};
    return {"gallery:poisson3d:32", "gallery:poisson3d:64"};
}

void add_options(CLI::App& app, multigrid_request& q) {
    add_matrices(app, q.matrices, "poisson3d of 64^3 to 256^3, 27 points and anisotropic3d");
    app.add_option("--precond", q.preconditioner, "The preconditioner, amg[:KEY=VALUE]...")
        ->type_name("TEXT")
        ->capture_default_str();
    app.add_option("--repetitions", q.repetitions,
                   "Times that each is measured, after one that is thrown away")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--rtol", q.rtol, "CG stops at ||b - A x|| <= RTOL ||b||, b random")
        ->type_name("RTOL")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_flag("--with-cg", q.with_cg, "Also CG without a preconditioner");
    app.add_flag("--with-pyamg", q.with_pyamg, "Also PyAMG's smoothed aggregation and CG");
    app.add_option("--python", q.python, "The Python that has PyAMG")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("--folder", q.folder, "For the arrays that PyAMG reads, removed after use")
        ->type_name("FOLDER")
        ->capture_default_str();
    add_backend(app, q.devices);
    add_device_counts(app, q.counts);
    tool::add_report(app, q.report_file);
}

} // namespace krylith::bench

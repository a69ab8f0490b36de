#include <krylith/bench/total/total_request.hpp>

#include <CLI/CLI.hpp>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

std::vector<total_request::named_matrix> total_request::matrix_list(backend devices_of) const {
    std::vector<named_matrix> list;
    for (const std::string& name : matrices) {
        list.push_back({name, spd});
    }
    if (!list.empty()) {
        return list;
    }
    if (devices_of == backend::cuda) {
        return {{"gallery:poisson3d:64", false},  {"gallery:poisson3d:128", false},
                {"gallery:poisson3d:256", false}, {"gallery:random:3750000:16", true},
                {"gallery:rgg:22", true},         {"gallery:kron:20", true}};
    }
    return {
        {"gallery:poisson3d:32", false}, {"gallery:poisson3d:64", false}, {"gallery:rgg:16", true}};
}

void add_options(CLI::App& app, total_request& q) {
    add_matrices(
        app, q.matrices,
        "poisson3d of 64^3, 128^3 and 256^3, and random, rgg and kron, made positive definite as "
        "by --spd");
    tool::add_spd(app, q.spd);
    app.add_option("--repetitions", q.repetitions,
                   "Times that each is measured, after one that is thrown away")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--rtol", q.rtol, "CG stops at ||b - A x|| <= RTOL ||b||, b = ones")
        ->type_name("RTOL")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_flag("--without-cupy", q.without_cupy, "krylith alone");
    app.add_option("--python", q.python, "The Python that has CuPy")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("--folder", q.folder, "For the arrays that CuPy reads, removed after use")
        ->type_name("FOLDER")
        ->capture_default_str();
    add_backend(app, q.devices);
    add_device_counts(app, q.counts);
    tool::add_report(app, q.report_file);
}

} // namespace krylith::bench

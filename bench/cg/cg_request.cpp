#include <krylith/bench/cg/cg_request.hpp>

#include <CLI/CLI.hpp>

namespace krylith::bench {

std::vector<std::string> cg_request::matrix_names(backend devices) const {
    std::vector<std::string> names = matrices;
    if (names.empty()) {
        names = {"gallery:poisson3d:64", "gallery:poisson3d:128"};
        if (devices == backend::cuda) {
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

cg_settings cg_request::settings() const {
    cg_settings s;
    s.form = form;
    s.format = {parse_operator_kind(kind), parse_format_kind(format)};
    s.mode = mode == "recorded" ? execution_mode::recorded
             : mode == "eager"  ? execution_mode::eager
                                : execution_mode::automatic;
    s.unroll = unroll;
    return s;
}

void add_options(CLI::App& app, cg_request& q) {
    app.add_option("MATRIX", q.matrices,
                   "gallery:NAME[:ARGUMENT...] or Matrix Market files; without: gallery:poisson3d "
                   "of 64, 128, 256 and 400 (host: 64 and 128)");
    app.add_flag("--random", q.random, "Each gallery matrix also with random values (D A D)");
    app.add_option("--backend", q.backend_name, "auto, cuda or host")->capture_default_str();
    app.add_option("--devices", q.devices, "Device counts; without: 1 to all (host: 1)")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--threads", q.threads, "Threads of all host devices; 0: one a core");
    app.add_option("--operator", q.kind,
                   "auto, nz, 2nz, lra, lra-rc, halo, allgather, pcsr, pcsc or pcoo")
        ->capture_default_str();
    app.add_option("--format", q.format, "auto, csr, sell, merge or cusparse")
        ->capture_default_str();
    app.add_option("--form", q.form, "cg, cg:persistent, or cg:auto, which chooses")
        ->check(CLI::IsMember({"cg", "cg:auto", "cg:persistent"}))
        ->capture_default_str();
    app.add_option("--mode", q.mode, "auto, recorded or eager")
        ->check(CLI::IsMember({"auto", "recorded", "eager"}))
        ->capture_default_str();
    app.add_option("--unroll", q.unroll, "Iterations in one turn of the device's loop")
        ->capture_default_str();
    app.add_option("--solvers", q.solvers,
                   "all, krylith, or baseline (cuSPARSE + cuBLAS, or Eigen) alone")
        ->check(CLI::IsMember({"all", "krylith", "baseline"}))
        ->capture_default_str();
    app.add_flag("--passes", q.passes, "Also what each pass of an iteration costs, on one device");
    app.add_option("--few", q.plan.effort.few, "Iterations of the short run")
        ->capture_default_str();
    app.add_option("--many", q.plan.effort.many, "And of the long one")->capture_default_str();
    app.add_option("--repetitions", q.plan.effort.repetitions, "At least")->capture_default_str();
    app.add_option("--seconds", q.plan.effort.seconds, "And until a solver has run this long")
        ->capture_default_str();
    app.add_option("--solves", q.plan.solves, "Timed solves to --rtol; 0: none")
        ->capture_default_str();
    app.add_option("--rtol", q.plan.rtol, "Of the solves")->capture_default_str();
    app.add_option("--limit", q.limit,
                   "Memory's limit, TB/s a device; without: by the data sheet, or measured");
    app.add_option("--json", q.json_file, "Everything as JSON");
}

} // namespace krylith::bench

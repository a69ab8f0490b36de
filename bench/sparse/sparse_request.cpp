#include <krylith/bench/sparse/sparse_request.hpp>

#include <CLI/CLI.hpp>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/bench/sparse/gallery_matrices.hpp>
#include <krylith/bench/sparse/sparse_kernel.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

namespace {

/// "Some of transpose, spgemm, with commas; without: all", and a line a kernel.
std::string kernels_help() {
    std::string names;
    for (const sparse_kernel& kernel : sparse_kernels())
        names += (names.empty() ? "" : "; ") + std::string(kernel.name) + ": " +
                 std::string(kernel.summary);
    return "Some of these, with commas; without: all. " + names;
}

} // namespace

std::vector<spmv_case> sparse_request::cases(backend devices_of) const {
    std::vector<spmv_case> result;
    for (const std::string& name : matrices) result.push_back(case_of_matrix(name));
    if (gallery)
        for (const char* const name : gallery_matrices) result.push_back(case_of_matrix(name));
    if (!families.empty()) {
        const auto members = family_members(families, sizes);
        result.insert(result.end(), members.begin(), members.end());
    }
    if (!result.empty()) return result;
    std::vector<std::string> usual = {"gallery:poisson3d:64", "gallery:random:100000:8"};
    if (devices_of == backend::cuda)
        usual = {"gallery:poisson3d:128", "gallery:poisson3d:256", "gallery:poisson3d_27point:128",
                 "gallery:random:1000000:8", "gallery:kron:17"};
    for (const std::string& name : usual) result.push_back(case_of_matrix(name));
    return result;
}

void sparse_request::check() const {
    tool::check_precision(precision);
    (void)sparse_kernels_named(kernels);
    if (repeats < 1)
        throw usage_error("--repeats is " + std::to_string(repeats) + ": allowed are 1 and more");
    for (const int count : thread_counts)
        if (count < 1)
            throw usage_error("--thread-counts has " + std::to_string(count) +
                              ": allowed are 1 and more");
    if (!thread_counts.empty() && devices.threads != 0)
        throw usage_error("--thread-counts says how many threads: leave --threads out");
    check_files(report_file, csv_file, matrices);
}

void add_options(CLI::App& app, sparse_request& q) {
    add_matrices(app, q.matrices,
                 "unless --families or --gallery names some, 7-point Poisson 128^3 and 256^3, "
                 "27-point 128^3, "
                 "random 1M x 8 and kron:17 (host: 7-point 64^3, random 100,000 x 8)");
    app.add_flag("--families{all}", q.families,
                 "Families of the gallery, each in --sizes; --families=LIST: these of them");
    add_list(
        app, "--sizes", q.sizes,
        "Sizes of the families: tiny (0.5 M nonzeros), small (10 M), medium (60 M), large (300 M)")
        ->capture_default_str();
    app.add_flag("--gallery", q.gallery,
                 "40 matrices of the gallery, of about 10 and 60 M nonzeros, stencils with random "
                 "values");
    add_list(app, "--kernels", q.kernels, kernels_help());
    app.add_option("--repeats", q.repeats, "Timed runs, after one that is thrown away")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--precision", q.precision, "Of values")
        ->type_name(tool::alternatives(tool::precision_names))
        ->capture_default_str();
    app.add_flag("--without-peers", q.without_peers,
                 "krylith alone, without cuSPARSE (CUDA) and Eigen (host)");
    add_backend(app, q.devices);
    add_list(app, "--thread-counts", q.thread_counts,
             "Host: all kernels by each of these numbers of threads, such as 1,2,4,8,16; those "
             "beyond the cores are left out [--threads alone]")
        ->group("Devices");
    tool::add_report(app, q.report_file);
    add_csv(app, q.csv_file);
}

} // namespace krylith::bench

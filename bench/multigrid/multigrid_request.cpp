#include <krylith/bench/multigrid/multigrid_request.hpp>

#include <array>

#include <CLI/CLI.hpp>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/bench/spmv/spmv_families.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

namespace {

/// The families, smooth ones first: then coefficients that differ by direction, that jump between
/// blocks and from cell to cell, and several unknowns a node.
constexpr std::array<gallery_family, 7> multigrid_families = {{
    {"poisson3d", {"40", "113", "205", "350"}},
    {"poisson3d_27point", {"24", "72", "131", "224"}},
    {"anisotropic3d", {"40:1e-3", "113:1e-3", "205:1e-3", "350:1e-3"}},
    {"anisotropic_diffusion", {"236:1e-3:30", "1054:1e-3:30", "2582:1e-3:30", "5774:1e-3:30"}},
    {"jump_diffusion", {"40:1e6", "113:1e6", "205:1e6", "350:1e6"}},
    {"rough_diffusion", {"40:1e6", "113:1e6", "205:1e6", "350:1e6"}},
    {"elasticity3d", {"12", "35", "63", "107"}},
}};

} // namespace

std::vector<std::string> multigrid_request::matrix_list(backend devices_of) const {
    std::vector<std::string> result = matrices;
    if (!families.empty())
        for (const spmv_case& c : family_members(families, sizes, multigrid_families))
            result.push_back(c.matrix);
    if (!result.empty()) return result;
    if (devices_of == backend::cuda)
        return {"gallery:poisson3d:64", "gallery:poisson3d:128", "gallery:poisson3d:256",
                "gallery:poisson3d_27point:256", "gallery:anisotropic3d:256:1e-3"};
    return {"gallery:poisson3d:32", "gallery:poisson3d:64"};
}

void add_options(CLI::App& app, multigrid_request& q) {
    add_matrices(app, q.matrices,
                 "unless --families names some, poisson3d of 64^3 to 256^3, 27 points and "
                 "anisotropic3d");
    app.add_flag("--families{all}", q.families,
                 "Families that are hard for multigrid, and smooth ones, each in --sizes; "
                 "--families=LIST: these of them");
    add_list(
        app, "--sizes", q.sizes,
        "Sizes of the families: tiny (0.5 M nonzeros), small (10 M), medium (60 M), large (300 M)")
        ->capture_default_str();
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

// Multigrid whose ranks are dealt to several threads, each of which sees its own devices alone: the
// same hierarchy and the same bits as with one thread that keeps its levels on all devices.
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/krylith.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/comm/drivers.hpp>

using namespace krylith;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

struct outcome {
    std::vector<std::vector<double>> x; ///< of each solve
    std::vector<std::vector<double>> history;
    std::vector<std::string> levels;
    std::string name;
};

/// Values of the same pattern: all times a factor that differs from row to row, symmetrically.
std::vector<double> other_values(const csr_matrix<double>& matrix) {
    std::vector<double> values = matrix.values;
    const auto weight = [](std::int64_t row) { return 1.0 + 0.25 * static_cast<double>(row % 3); };
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row) + 1]);
             ++k)
            values[k] *= weight(row) * weight(matrix.column_indices[k]);
    return values;
}

/// Solves, and solves again with other values, `updates` times.
outcome solve_on(const communicator& comm, csr_matrix<double> matrix, const amg_options& options,
                 const operator_options& how, int updates = 2) {
    const auto a = make_operator(comm, matrix, how);
    amg<double> m(*a, matrix, options);
    outcome found;
    found.name = m.name();
    const std::vector<double> ones(static_cast<std::size_t>(matrix.rows), 1.0);
    for (int solve = 0;; ++solve) {
        auto x = a->make_domain_vector();
        auto b = a->make_range_vector();
        b.upload(ones);
        const solve_result result = m.symmetric() ? cg(*a, b, x, {.history = true}, m)
                                                  : gmres(*a, b, x, {.history = true}, m);
        found.history.push_back(result.history);
        found.x.emplace_back(ones.size());
        x.download(found.x.back());
        for (const multigrid_level_facts& level : m.levels())
            found.levels.push_back(std::to_string(level.rows) + " rows, " +
                                   std::to_string(level.nonzeros) + " nonzeros, " +
                                   std::to_string(level.bound) + ", then " + level.next_rows +
                                   level.why_last);
        if (solve == updates) return found;
        matrix.values = other_values(matrix);
        a->update(matrix.values);
        m.update(matrix);
    }
}

void check_drivers(const std::string& spec, amg_options options = {},
                   const operator_options& how = {.kind = operators::halo}) {
    INFO(spec);
    const auto matrix = make_gallery<double>(spec);
    options.gathered_nonzeros = 0; // several drivers never gather
    const outcome one = solve_on(device_group::host(3), matrix, options, how);
    INFO(one.name);
    CHECK(one.levels.size() >= 4);
    std::vector<outcome> found(2);
    expect_none(
        with_drivers({device_group::host(2), device_group::host(1)}, [&](const communicator& comm) {
            found[comm.is_local(0) ? 0 : 1] = solve_on(comm, matrix, options, how);
        }));
    for (const outcome& of : found) {
        CHECK(of.name == one.name);
        CHECK(of.levels == one.levels);
        CHECK(of.history == one.history);
        CHECK(of.x == one.x);
    }
}

} // namespace

TEST_CASE("amg of two drivers: a grid has the bits of one") {
    check_drivers("poisson3d:20");
    check_drivers("poisson3d:20", {.aggressive = 1}); // aggregates in pairs
    check_drivers("poisson3d:16", {.reuse = multigrid_reuse::values});
    check_drivers("poisson3d_27point:16");
    check_drivers("anisotropic3d:14:0.01");
}

TEST_CASE("amg of two drivers: classical coarsening has the bits of one") {
    check_drivers("jump_diffusion:20:1e6:1:seed=3");
    check_drivers("rough_diffusion:16:1e6");
}

TEST_CASE("amg of two drivers: nodes of several unknowns have the bits of one") {
    const operator_options of_nodes{.kind = operators::halo, .block_size = 3};
    check_drivers("elasticity3d:12:6:6", {}, of_nodes);
    const std::string spec = "elasticity3d:10:5:5";
    const auto nodes = gallery_coordinates(spec);
    const std::vector<double> modes = rigid_body_modes(nodes.values, nodes.dimension);
    check_drivers(spec, {.block_size = 3, .near_null = modes}, of_nodes);
}

TEST_CASE("amg of two drivers: a matrix that is not symmetric has the bits of one") {
    check_drivers("convection_diffusion:30:20");
}

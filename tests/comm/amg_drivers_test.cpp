// Multigrid whose ranks are dealt to several threads, each of which sees its own devices alone: the
// same hierarchy and the same bits as with one thread.
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/krylith.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/tests/comm/drivers.hpp>
#include <krylith/tests/comm/short_drivers.hpp>
#include <krylith/tests/precond/amg/hand_made_levels.hpp>

using namespace krylith;
using krylith::testing::dealt_group;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

struct multigrid_outcome {
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

void solve(const matrix_operator<double>& a, const amg<double>& m, multigrid_outcome& found) {
    const auto ones = std::vector<double>(static_cast<std::size_t>(a.layout()->size()), 1.0);
    auto x = a.make_domain_vector();
    auto b = a.make_range_vector();
    b.upload(ones);
    const solve_result result =
        m.symmetric() ? cg(a, b, x, {.history = true}, m) : gmres(a, b, x, {.history = true}, m);
    found.history.push_back(result.history);
    found.x.emplace_back(ones.size());
    x.download(found.x.back());
    for (const multigrid_level_facts& level : m.levels())
        found.levels.push_back(std::to_string(level.rows) + " rows, " +
                               std::to_string(level.nonzeros) + " nonzeros, " +
                               std::to_string(level.bound) + ", " + level.format + ", then " +
                               level.next_rows + level.why_last);
}

/// Solves, and solves again with other values, twice.
multigrid_outcome solve_by_multigrid(const communicator& comm, csr_matrix<double> matrix,
                                     const amg_options& options, const operator_options& how) {
    const auto a = make_operator(comm, matrix, how);
    amg<double> m(*a, matrix, options);
    multigrid_outcome found;
    found.name = m.name();
    solve(*a, m, found);
    for (int update = 0; update < 2; ++update) {
        matrix.values = other_values(matrix);
        a->update(matrix.values);
        m.update(matrix);
        solve(*a, m, found);
    }
    return found;
}

/// Checks that solve(comm) has the same multigrid_outcome where drivers have parts of the devices
/// as where one has all.
void check_groups(const dealt_group& devices,
                  const std::function<multigrid_outcome(const communicator&)>& solve) {
    const multigrid_outcome one = solve(devices.whole);
    INFO(one.name);
    CHECK(one.levels.size() >= 2);
    std::vector<multigrid_outcome> found(devices.parts.size());
    std::atomic<std::size_t> next = 0;
    expect_none(with_drivers(devices.parts, [&](const communicator& comm) {
        const std::size_t own = next++;
        found[own] = solve(comm);
    }));
    for (const multigrid_outcome& of : found) {
        CHECK(of.name == one.name);
        CHECK(of.levels == one.levels);
        CHECK(of.history == one.history);
        CHECK(of.x == one.x);
    }
}

void check_drivers(backend kind, const std::string& spec, const amg_options& options = {},
                   const operator_options& how = {.kind = operators::halo},
                   const group_options& group = {}, const std::vector<int>& sizes = {2, 1}) {
    INFO(spec);
    const auto matrix = make_gallery<double>(spec);
    check_groups(dealt_group::of(kind, sizes, group), [&](const communicator& comm) {
        return solve_by_multigrid(comm, matrix, options, how);
    });
}

} // namespace

KRYLITH_DRIVERS_TEST("amg of two drivers: a grid has the bits of one") {
    check_drivers(kind, "poisson3d:20");
    check_drivers(kind, "poisson3d:20", {.aggressive = 1}); // aggregates in pairs
    check_drivers(kind, "poisson3d:16", {.reuse = multigrid_reuse::values});
    check_drivers(kind, "poisson3d:16", {.reuse = multigrid_reuse::none});
    check_drivers(kind, "poisson3d_27point:16");
    check_drivers(kind, "anisotropic3d:14:0.01");
}

KRYLITH_DRIVERS_TEST("amg of two drivers: levels on all devices have the bits of one") {
    check_drivers(kind, "poisson3d:20", {.gathered_nonzeros = 0});
    check_drivers(kind, "poisson3d:20", {.gathered_nonzeros = 5000}); // the second coarse level
    check_drivers(kind, "poisson3d:16", {.gathered_nonzeros = 0}, {.kind = operators::halo},
                  {.staged = true});
    check_drivers(kind, "rough_diffusion:16:1e6", {.gathered_nonzeros = 0});
    check_drivers(kind, "convection_diffusion:30:20", {.gathered_nonzeros = 0});
    check_drivers(kind, "poisson3d:9", {.aggressive = 2, .gathered_nonzeros = 0},
                  {.kind = operators::halo}, {}, {2, 4, 3});
    check_drivers(kind, "elasticity3d:12:6:6", {.gathered_nonzeros = 0},
                  {.kind = operators::halo, .block_size = 3});
}

KRYLITH_DRIVERS_TEST("amg of several drivers: coarse levels lie on the first device") {
    const auto matrix = make_gallery<double>("poisson3d:20");
    expect_none(with_drivers(dealt_group::of(kind, {1, 2, 1}).parts, [&](const communicator& comm) {
        const auto rows = equal_rows(matrix.rows, comm.ranks());
        const auto fine = std::make_shared<const layout>(layout{comm, rows, coherence::owned});
        const distributed_csr<double> a(comm, matrix, rows, rows);
        detail::hierarchy<double> h(fine, a, {.reuse = multigrid_reuse::transfer}, {}, {});
        REQUIRE(h.levels().size() > 2);
        REQUIRE(h.levels().front().copy != nullptr);
        for (std::size_t at = 1; at < h.levels().size(); ++at) {
            const detail::multigrid_level<double>& level = h.levels()[at];
            REQUIRE(level.matrix.comm() == comm.sub(std::vector{0}));
            REQUIRE(level.matrix.comm().local().empty() == !comm.is_local(0));
            REQUIRE(level.layout->rows.owned(0).size() == level.facts.rows);
            REQUIRE(level.copy == nullptr);
        }
        REQUIRE(h.update(a, {.reuse = multigrid_reuse::transfer}));
    }));
}

TEST_CASE("amg of two drivers: memory that is exhausted for one ends both set-ups") {
    const auto matrix = make_gallery<double>("poisson3d:12");
    for (const int rank : {0, 2}) {
        testing::check_short_memory(rank, 11, 100, [&](const communicator& comm) {
            const std::shared_ptr<matrix_operator<double>> a =
                make_operator(comm, matrix, {.kind = operators::halo});
            return [&matrix, a] { (void)amg<double>(*a, matrix).levels(); };
        });
    }
}

KRYLITH_DRIVERS_TEST("amg of two drivers: all options have the bits of one") {
    check_drivers(kind, "poisson3d:16", {.cycle = multigrid_cycle::w});
    check_drivers(kind, "poisson3d:16", {.max_levels = 2}); // the last matrix is not inverted
    check_drivers(kind, "poisson3d:16", {.precision = multigrid_precision::fp64});
    check_drivers(kind, "jump_diffusion:14:1e3:4", {.precision = multigrid_precision::fp16});
    check_drivers(kind, "random_spd:3000:11:1");
}

KRYLITH_DRIVERS_TEST("amg of several drivers: staged copies, and ranks without rows") {
    check_drivers(kind, "poisson3d:16", {.aggressive = 1}, {.kind = operators::halo},
                  {.staged = true});
    check_drivers(kind, "jump_diffusion:16:1e6:1:seed=3", {}, {.kind = operators::halo},
                  {.staged = true});
    check_drivers(kind, "poisson3d:9", {.aggressive = 2}, {.kind = operators::halo}, {}, {2, 4, 3});
}

KRYLITH_DRIVERS_TEST("amg of two drivers: classical coarsening has the bits of one") {
    check_drivers(kind, "jump_diffusion:20:1e6:1:seed=3");
    check_drivers(kind, "rough_diffusion:16:1e6");
}

KRYLITH_DRIVERS_TEST("amg of two drivers: nodes of several unknowns have the bits of one") {
    const operator_options of_nodes{.kind = operators::halo, .block_size = 3};
    check_drivers(kind, "elasticity3d:12:6:6", {}, of_nodes);
    const std::string spec = "elasticity3d:10:5:5";
    const auto nodes = gallery_coordinates(spec);
    const std::vector<double> modes = rigid_body_modes(nodes.values, nodes.dimension);
    check_drivers(kind, spec, {.block_size = 3, .near_null = modes}, of_nodes);
    check_drivers(kind, spec, {.block_size = 3, .near_null = modes}, of_nodes, {.staged = true});
}

KRYLITH_DRIVERS_TEST("amg of two drivers: a matrix that is not symmetric has the bits of one") {
    check_drivers(kind, "convection_diffusion:30:20");
}

KRYLITH_DRIVERS_TEST("amg of two drivers: given levels have the bits of one") {
    const auto made = krylith::testing::geometric_1d(10, 3);
    const auto levels = made.given();
    for (const std::int64_t gathered : {0, 1000})
        check_groups(dealt_group::of(kind, {2, 1}), [&](const communicator& comm) {
            const auto a = make_operator(comm, made.a.front(), {.kind = operators::halo});
            const amg<double> m(*a, levels, {.gathered_nonzeros = gathered});
            multigrid_outcome found;
            found.name = m.name();
            solve(*a, m, found);
            return found;
        });
}

KRYLITH_DRIVERS_TEST("amg of two drivers: an update that one of them refuses changes nothing") {
    auto matrix = make_gallery<double>("poisson3d:12");
    const auto good = matrix;
    matrix.values.back() = -1; // the last diagonal entry, which the last rank has
    check_groups(dealt_group::of(kind, {2, 1}), [&](const communicator& comm) {
        const auto a = make_operator(comm, good, {.kind = operators::halo});
        amg<double> m(*a, good, {.reuse = multigrid_reuse::transfer});
        multigrid_outcome found;
        try {
            m.update(matrix);
        } catch (const input_error& e) {
            found.name = e.what();
        }
        solve(*a, m, found);
        m.update(good);
        solve(*a, m, found);
        try {
            const amg<double> other(*a, matrix);
        } catch (const input_error& e) {
            found.name += e.what();
        }
        return found;
    });
}

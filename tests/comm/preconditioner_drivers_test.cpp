// Preconditioners whose ranks are dealt to several threads, each of which sees its own devices
// alone: solves have the same bits as with one thread, also after new values.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/krylith.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/comm/drivers.hpp>

using namespace krylith;
using krylith::testing::dealt_group;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

enum class method { cg, gmres, bicgstab };

struct subject {
    std::string preconditioner;
    std::string matrix;
    method by;
};

struct solved {
    std::vector<double> x;
    std::vector<double> history;

    friend bool operator==(const solved&, const solved&) = default;
};

struct preconditioned_outcome {
    std::vector<double> applied; ///< M^-1 of the right-hand side
    solved first;
    solved again; ///< with new values
    std::string name;

    friend bool operator==(const preconditioned_outcome&, const preconditioned_outcome&) = default;
};

std::vector<double> right_hand_side(std::int64_t rows) {
    std::vector<double> b;
    for (std::int64_t i = 0; i < rows; ++i) b.push_back(1 + static_cast<double>(i % 7) / 8);
    return b;
}

template <class M>
std::vector<double> applied(const matrix_operator<double>& a, const M& m,
                            execution_mode mode = execution_mode::automatic) {
    auto r = a.make_range_vector();
    auto z = a.make_domain_vector();
    r.upload(right_hand_side(a.size()));
    execution run(a.comm(), {.mode = mode});
    m.apply(run, r, z, {});
    run.comm().synchronize_all();
    std::vector<double> found(static_cast<std::size_t>(a.size()));
    z.download(found);
    return found;
}

template <class M>
solved solve_by(method by, const matrix_operator<double>& a, const M& m) {
    auto x = a.make_domain_vector();
    auto b = a.make_range_vector();
    b.upload(right_hand_side(a.size()));
    // Persistent CG, which takes one driver, adds up in another order.
    const solver_options options{.history = true, .mode = automatic_mode(a.comm())};
    solve_result result;
    switch (by) {
    case method::cg: result = cg(a, b, x, options, m); break;
    case method::gmres: result = gmres(a, b, x, options, m); break;
    case method::bicgstab: result = bicgstab(a, b, x, options, m); break;
    }
    CHECK(result.iterations > 1);
    solved found{std::vector<double>(static_cast<std::size_t>(a.size())), result.history};
    x.download(found.x);
    return found;
}

csr_matrix<double> with_doubled_diagonal(csr_matrix<double> matrix) {
    for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows); ++row)
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[row]);
             k < static_cast<std::size_t>(matrix.row_offsets[row + 1]); ++k)
            if (matrix.column_indices[k] == static_cast<std::int32_t>(row)) matrix.values[k] *= 2;
    return matrix;
}

preconditioned_outcome work_on(const communicator& comm, const subject& of) {
    const auto matrix = make_gallery<double>(of.matrix);
    const auto a = make_operator(comm, matrix, {.kind = operators::halo});
    auto m = make_preconditioner<double>(of.preconditioner, *a, matrix);
    preconditioned_outcome found;
    found.name = m.name();
    found.applied = applied(*a, m);
    found.first = solve_by(of.by, *a, m);
    const auto other = with_doubled_diagonal(matrix);
    a->update(other.values);
    m.update(matrix_ref<double>(other));
    found.again = solve_by(of.by, *a, m);
    return found;
}

} // namespace

KRYLITH_DRIVERS_TEST("two drivers: solves with preconditioners have the bits of one") {
    const std::string spd = "poisson3d:9:8:7";
    const std::string unsymmetric = "convection_diffusion:7:20";
    const std::vector<subject> subjects = {
        {"jacobi", spd, method::cg},
        {"block-jacobi", unsymmetric, method::gmres},
        {"block-jacobi:block_size=5", spd, method::cg},
        {"chebyshev", spd, method::cg},
        {"chebyshev:precision=fp64", spd, method::cg},
        {"gauss-seidel", spd, method::cg},
        {"gauss-seidel:sweep=forward", unsymmetric, method::bicgstab},
        {"fsai", spd, method::cg},
        {"fsai:power=2", spd, method::cg},
        {"spai", unsymmetric, method::bicgstab},
        {"ilu0", unsymmetric, method::gmres},
        {"ilu0:order=colours", unsymmetric, method::gmres},
        {"ilu0:overlap=2", unsymmetric, method::bicgstab},
        {"ic0", spd, method::cg},
        {"ilut", unsymmetric, method::bicgstab},
        {"ilut:overlap=1", unsymmetric, method::gmres},
        {"equilibration", unsymmetric, method::gmres},
    };
    for (const subject& of : subjects) {
        CAPTURE(of.preconditioner);
        const dealt_group devices = dealt_group::of(kind, {2, 1});
        const preconditioned_outcome one = work_on(devices.whole, of);
        const auto found = testing::found_by_drivers(
            devices.parts, [&](const communicator& comm) { return work_on(comm, of); });
        for (const preconditioned_outcome& driver : found) {
            CHECK(driver.name == one.name);
            CHECK(driver.applied == one.applied);
            CHECK(driver.first == one.first);
            CHECK(driver.again == one.again);
        }
    }
}

namespace {

/// The rows of local ranks as arrays of their own.
struct local_parts {
    local_parts(const communicator& comm, const csr_matrix<double>& matrix,
                const row_partition& rows)
        : parts(static_cast<std::size_t>(comm.ranks())) {
        for (const int rank : comm.local()) {
            const row_range owned = rows.owned(rank);
            const std::int64_t* const offsets = matrix.row_offsets.data() + owned.begin;
            parts[static_cast<std::size_t>(rank)] = {owned.size(), offsets,
                                                     matrix.column_indices.data() + offsets[0],
                                                     matrix.values.data() + offsets[0]};
        }
    }
    std::vector<csr_part<double>> parts; ///< [ranks]
};

struct facts_and_solve {
    double asymmetry;
    double least;
    solved by_parts;
    std::vector<double> own;
    std::vector<double> local; ///< by one call a driver

    friend bool operator==(const facts_and_solve&, const facts_and_solve&) = default;
};

facts_and_solve parts_on(const communicator& comm) {
    const auto matrix = make_gallery<double>("convection_diffusion:7:20");
    const local_parts given(comm, matrix, row_partition{{0, 100, 101, matrix.rows}});
    const std::span<const csr_part<double>> parts(given.parts);
    const auto a = make_operator(comm, parts, {.kind = operators::halo});
    const ilu0<double> m(*a, parts);
    const auto halve = [](const preconditioner_call<double>& call) {
        for (std::int64_t i = 0; i < call.rows.size(); ++i) call.z[i] = call.r[i] / 2;
    };
    const auto halved = make_preconditioner<double>(*a, halve);
    const auto halved_locally =
        make_preconditioner<double>(*a, halve, {.kind = preconditioner_kind::local_on_host});
    const operator_facts& facts = facts_of(*a);
    return {facts.asymmetry, facts.diagonal->least, solve_by(method::bicgstab, *a, m),
            applied(*a, halved), applied(*a, halved_locally, execution_mode::eager)};
}

} // namespace

TEST_CASE("two drivers: each gives the rows of its devices") {
    const facts_and_solve one = parts_on(device_group::host(3));
    std::vector<facts_and_solve> found(2);
    expect_none(
        with_drivers({device_group::host(2), device_group::host(1)}, [&](const communicator& comm) {
            found[comm.is_local(0) ? 0 : 1] = parts_on(comm);
        }));
    for (const facts_and_solve& driver : found) CHECK(driver == one);
}

KRYLITH_DRIVERS_TEST("two drivers: values that one of them refuses change nothing for both") {
    const auto matrix = make_gallery<double>("poisson3d:6");
    auto bad = matrix;
    for (std::size_t k = 0; k < 20; ++k) bad.values[k] = 0; // rows of the first driver alone
    for (const char* const name : {"jacobi", "block-jacobi:block_size=1", "chebyshev",
                                   "gauss-seidel", "fsai", "spai", "ilu0", "ic0"}) {
        CAPTURE(name);
        const auto thrown =
            with_drivers(dealt_group::of(kind, {2, 1}).parts, [&](const communicator& comm) {
                const auto a = make_operator(comm, matrix, {.kind = operators::halo});
                auto m = make_preconditioner<double>(name, *a, matrix);
                const auto before = applied(*a, m);
                CHECK_THROWS_AS(m.update(matrix_ref<double>(bad)), input_error);
                CHECK(applied(*a, m) == before);
            });
        CHECK_NOTHROW(expect_none(thrown));
    }
}

// Host memory that runs out at each operator new in turn, in the reader, the halo plan, the
// operator and the solvers: std::bad_alloc or an error of krylith's, no block lost, and the next
// attempt succeeds. It is a program of its own, since it replaces operator new.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <fstream>
#include <new>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/partition/ordering/reordered_matrix.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/sparse/spgemm/row_shares.hpp>

#include <krylith/tests/host_memory/counted_memory.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::problem;

namespace {

/// Runs `action` with allocation k failing, k = 0, 1, ..., in longer steps further on, until none
/// does. The action returns whether its result is right, and checks nothing itself, since checks
/// catch exceptions. `settle` waits for what other threads still hold. Returns the number of
/// failures.
template <class Action, class Settle>
int exhaust(const Action& action, const Settle& settle) {
    CHECK(action()); // makes what is made once and kept
    settle();
    int failures = 0;
    for (std::int64_t k = 0;; k += 1 + k / 20) {
        const std::int64_t before = testing::live_blocks();
        bool refused = false;
        bool right = false;
        testing::fail_allocation(k);
        try {
            right = action();
        } catch (const std::bad_alloc&) {
            refused = true;
        } catch (const error&) { // e.g. of a task on a worker, as device_error
            refused = true;
        }
        const bool failed = testing::allocation_failed();
        testing::fail_allocation(-1);
        settle();
        CAPTURE(k);
        // A failure may be made good (a block that is freed later, say), but not swallowed.
        CHECK((refused ? failed : right));
        CHECK(testing::live_blocks() <= before + 2); // a queue may keep a block or two
        if (!failed) return failures;
        ++failures;
        if (failures % 5 == 0) CHECK(action());
    }
}

} // namespace

TEST_CASE("host memory: the reader") {
    const test::temporary_folder folder;
    const auto path = folder.file("a.mtx");
    {
        std::ofstream file(path);
        file << "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n40 40 79\n";
        for (int i = 1; i <= 40; ++i) file << i << ' ' << i << " 2\n";
        for (int i = 2; i <= 40; ++i) file << i << ' ' << i - 1 << " -1\n";
    }
    const auto read = [&] { return load_matrix<double>(path.string()).values.size() == 118; };
    CHECK(exhaust(read, [] {}) > 5);
}

TEST_CASE("host memory: halo plan, operator, vectors, preconditioner") {
    const auto matrix = poisson2d<double>(6, 7);
    const auto group = device_group::host(3, {.host_threads = 3});
    const auto settle = [&] {
        try {
            group.synchronize();
        } catch (const error&) { // NOLINT(bugprone-empty-catch): a task had no memory
        }
    };
    const auto plan = [&] {
        const auto p = make_halo_plan(matrix.row_offsets, matrix.column_indices,
                                      equal_rows(matrix.rows, group.size()));
        return p.ghost_count(1) > 0;
    };
    CHECK(exhaust(plan, settle) > 5);
    for (const auto kind :
         {operators::nz, operators::halo, operators::allgather, operators::pcsr, operators::pcsc}) {
        const auto set_up = [&] {
            const auto a = make_operator(group, matrix, {.kind = kind});
            const jacobi<double> m(*a, matrix);
            const auto domain = a->make_domain_vector();
            group.synchronize();
            return domain.size() == matrix.rows;
        };
        CHECK(exhaust(set_up, settle) > 30);
    }
}

TEST_CASE("host memory: products, transposition and another order by teams of threads") {
    const host::mocked_products_worth few(1000); // enough for all threads
    const auto matrix = poisson2d<double>(90, 90);
    const auto group = device_group::host(1, {.host_threads = 3});
    const auto settle = [&] {
        try {
            group.synchronize();
        } catch (const error&) { // NOLINT(bugprone-empty-catch): a task had no memory
        }
    };
    const distributed_csr<double> a(group, csr_view<double>(matrix), equal_rows(matrix.rows, 1),
                                    equal_rows(matrix.rows, 1));
    const auto multiply = [&] {
        distributed_csr<double> product;
        const distributed_spgemm<double> plan(a, a, product);
        plan.refresh(a, a, product);
        group.synchronize();
        return product.nonzeros() > matrix.nnz();
    };
    CHECK(exhaust(multiply, settle) > 10);
    const auto turn = [&] {
        const auto transposed = transpose(a);
        group.synchronize();
        return transposed.nonzeros() == matrix.nnz();
    };
    CHECK(exhaust(turn, settle) > 5);
    permutation reverse;
    for (std::int64_t i = matrix.rows - 1; i >= 0; --i) {
        reverse.source.push_back(static_cast<std::int32_t>(i));
        reverse.place.push_back(static_cast<std::int32_t>(i));
    }
    const auto reorder = [&] {
        return reordered(csr_view<double>(matrix), &reverse, &reverse).matrix.nnz() == matrix.nnz();
    };
    CHECK(exhaust(reorder, settle) > 2);
}

TEST_CASE("host memory: solves, recorded and eager") {
    const auto matrix = poisson2d<double>(4, 4);
    const auto b = testing::random_values<double>(matrix.rows, 181);
    for (const int devices : {1, 3}) {
        const auto group = device_group::host(devices, {.host_threads = devices});
        problem<double> p(group, matrix, b);
        const auto settle = [&] {
            p.a->release_workspace(); // a solve that fails keeps none, one that succeeds does
            for (int rank = 0; rank < devices; ++rank) {
                try {
                    group[rank].synchronize();
                } catch (const error&) { // NOLINT(bugprone-empty-catch): the same failure
                }
            }
        };
        for (const auto which : all_methods)
            for (const auto mode : {execution_mode::recorded, execution_mode::eager}) {
                CAPTURE(testing::to_string(which));
                CAPTURE(static_cast<int>(mode));
                CAPTURE(devices);
                const solver_options options{
                    .restart = 3, .mode = mode, .unroll = 2, .timeout_seconds = 0.3};
                const auto solve = [&] { return p.solve_jacobi(which, options).converged(); };
                CHECK(exhaust(solve, settle) > 30);
            }
    }
}

TEST_CASE("host memory: multigrid, its update and its application") {
    const auto matrix = make_gallery<double>("poisson2d:17");
    auto changed = matrix;
    for (double& v : changed.values) v *= 2;
    const auto values = testing::random_values<double>(matrix.rows, 182);
    for (const int devices : {1, 2}) {
        CAPTURE(devices);
        const auto group = device_group::host(devices, {.host_threads = devices});
        const auto settle = [&] {
            try {
                group.synchronize();
            } catch (const error&) { // NOLINT(bugprone-empty-catch): a task had no memory
            }
        };
        const auto a = make_operator(group, matrix);
        const auto r = testing::make_range_vector(a->layout(), values);
        auto z = a->make_range_vector();
        const auto applied = [&](const amg<double>& m) {
            execution run(group, {.timeout_seconds = 0.3});
            m.apply(run, r, z);
            return testing::values_of(z);
        };
        const auto set_up = [&] {
            const amg<double> m(*a, matrix);
            group.synchronize();
            return m.levels().size() == 2;
        };
        CHECK(exhaust(set_up, settle) > 30);

        const auto expected = applied(amg<double>(*a, changed));
        amg<double> m(*a, matrix);
        const auto update = [&] {
            m.update(csr_view<double>(changed));
            return testing::same_bits(applied(m), expected);
        };
        CHECK(exhaust(update, settle) > 30);
    }
}

} // namespace krylith

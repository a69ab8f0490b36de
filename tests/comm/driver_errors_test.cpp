// Arguments that one of several threads gets wrong: all of them throw the same, and go on with what
// they had.
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/adapters/host_arrays.hpp>
#include <krylith/device/host/group_driver.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/krylith.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/tests/comm/drivers.hpp>

using namespace krylith;
using krylith::testing::dealt_group;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

/// What each thread of a test makes.
struct threads_system {
    explicit threads_system(const communicator& of)
        : comm(of),
          matrix(make_gallery<double>("poisson2d:12")),
          rows(equal_rows(matrix.rows, of.ranks())),
          over(of, csr_view<double>(matrix), rows, rows),
          a(make_operator(over, {})),
          m(*a, over),
          b(a->make_range_vector()),
          x(a->make_domain_vector()) {
        b.upload(ones());
    }

    [[nodiscard]] std::vector<double> ones(std::int64_t more = 0) const {
        return std::vector<double>(static_cast<std::size_t>(matrix.rows + more), 1.0);
    }
    [[nodiscard]] std::vector<double> doubled(bool wrong) const {
        std::vector<double> values = matrix.values;
        for (double& value : values) value *= 2;
        if (wrong) values.pop_back();
        return values;
    }
    [[nodiscard]] distributed_csr<double> small() const {
        const csr_matrix<double> other = make_gallery<double>("poisson2d:2");
        const row_partition owners = equal_rows(4, comm.ranks());
        return {comm, csr_view<double>(other), owners, owners};
    }
    /// Entries on the diagonal, one a row.
    [[nodiscard]] distributed_assembly<double> diagonal() {
        places = by_rank(comm, [&](int rank) {
            std::vector<std::int32_t> own;
            for (auto row = rows.owned(rank).begin; row < rows.owned(rank).end; ++row)
                own.push_back(static_cast<std::int32_t>(row));
            return buffer<std::int32_t>(comm.handle(rank), own, "test");
        });
        return {comm, diagonal_parts(), rows};
    }
    [[nodiscard]] std::vector<coo_part<double>> diagonal_parts() {
        return by_rank(comm, [&](int rank) {
            const auto& own = places[static_cast<std::size_t>(rank)];
            return coo_part<double>{rows.owned(rank).size(), static_cast<std::int64_t>(own.size()),
                                    own.data(), own.data(), b.data(rank)};
        });
    }
    /// The bits of everything that a refused call might have changed.
    [[nodiscard]] std::vector<double> state() {
        std::vector<double> all;
        const auto take = [&](const std::vector<double>& more) {
            all.insert(all.end(), more.begin(), more.end());
        };
        std::vector<double> values(static_cast<std::size_t>(matrix.rows));
        const solve_result result = cg(*a, b, x, {.history = true}, m);
        CHECK(result.converged());
        take(result.history);
        x.download(values);
        take(values);
        b.download(values);
        take(values);
        take(over.download().values);
        return all;
    }

    communicator comm;
    csr_matrix<double> matrix;
    row_partition rows;
    distributed_csr<double> over;
    std::unique_ptr<matrix_operator<double>> a;
    jacobi<double> m;
    vector<double> b;
    vector<double> x;
    std::vector<buffer<std::int32_t>> places;
};

/// A call that is wrong in one of the threads, and what all of them throw.
struct misuse {
    const char* words;
    std::function<void(threads_system&, bool wrong)> call;
};

const std::vector<misuse>& of_vectors() {
    static const std::vector<misuse> all = {
        {"vector::upload: 145 values",
         [](threads_system& s, bool wrong) { s.b.upload(s.ones(wrong ? 1 : 0)); }},
        {"vector::download: 145 values",
         [](threads_system& s, bool wrong) {
             std::vector<double> to = s.ones(wrong ? 1 : 0);
             s.x.download(to);
         }},
        {"b and x of a solve must be vectors of its operator",
         [](threads_system& s, bool wrong) {
             const auto other = make_operator(s.comm, s.matrix);
             const vector<double> b = other->make_range_vector();
             (void)bicgstab(*s.a, wrong ? b : s.b, s.x);
         }},
        {"the vectors of a residual must be made by its operator",
         [](threads_system& s, bool wrong) {
             const auto other = make_operator(s.comm, s.matrix);
             auto r = s.a->make_range_vector();
             const vector<double> b = other->make_range_vector();
             (void)s.a->doubled_residual(1.0, s.x, wrong ? b : s.b, r);
         }},
    };
    return all;
}

const std::vector<misuse>& of_operators() {
    static const std::vector<misuse> all = {
        {"values, must be", [](threads_system& s, bool wrong) { s.a->update(s.doubled(wrong)); }},
        {"arrays for ",
         [](threads_system& s, bool wrong) {
             distributed_csr<double> twice = s.over.copy();
             twice.update(s.doubled(false));
             auto values = twice.values();
             if (wrong) values.pop_back();
             s.a->update_on_devices(values);
         }},
        {"is null, allowed is memory of",
         [](threads_system& s, bool wrong) {
             distributed_csr<double> twice = s.over.copy();
             twice.update(s.doubled(false));
             auto values = twice.values();
             if (wrong) values[static_cast<std::size_t>(s.comm.first_local())] = nullptr;
             s.a->update_on_devices(values);
         }},
        {"distributed_csr::update: there are",
         [](threads_system& s, bool wrong) { s.over.update(s.doubled(wrong)); }},
        {"arrays of values for ",
         [](threads_system& s, bool wrong) {
             auto assembly = s.diagonal();
             auto values =
                 by_rank(s.comm, [&](int rank) -> const double* { return s.b.data(rank); });
             if (wrong) values.pop_back();
             assembly.gather(values);
         }},
        {"make_operator: order rcm, but the layouts say",
         [](threads_system& s, bool wrong) {
             (void)make_operator(s.a->layouts(), csr_view<double>(s.matrix),
                                 {.order = wrong ? orders::rcm : orders::none});
         }},
        {"make_operator: the domain layout is null",
         [](threads_system& s, bool wrong) {
             operator_layouts layouts = s.a->layouts();
             if (wrong) layouts.domain = nullptr;
             (void)make_operator(layouts, s.over);
         }},
        {"parts for ",
         [](threads_system& s, bool wrong) {
             (void)s.diagonal();
             auto parts = s.diagonal_parts();
             if (wrong) parts.pop_back();
             (void)make_operator<double>(s.comm, std::span<const coo_part<double>>(parts));
         }},
        {"operator_options::order is rcm",
         [](threads_system& s, bool wrong) {
             (void)s.diagonal();
             const auto parts = s.diagonal_parts();
             (void)make_operator<double>(s.comm, std::span<const coo_part<double>>(parts),
                                         {.order = wrong ? orders::rcm : orders::none});
         }},
        {"matrix_free: the product function is empty",
         [](threads_system& s, bool wrong) {
             const auto plan =
                 make_halo_plan(s.matrix.row_offsets, s.matrix.column_indices, s.rows);
             product_function<double> product;
             if (!wrong) product = [](const product_call<double>&) {};
             (void)make_matrix_free<double>(s.comm, plan, product);
         }},
    };
    return all;
}

const std::vector<misuse>& of_methods() {
    static const std::vector<misuse> all = {
        {"solver option rtol = 2 is not allowed",
         [](threads_system& s, bool wrong) {
             (void)bicgstab(*s.a, s.b, s.x, {.rtol = wrong ? 2 : 1e-8});
         }},
        {"cg takes no damping",
         [](threads_system& s, bool wrong) {
             (void)cg(*s.a, s.b, s.x, {.damping = wrong ? 1.0 : 0.0}, s.m);
         }},
        {"needs a preconditioner that is the same",
         [](threads_system& s, bool wrong) {
             any_preconditioner<double> m(make_preconditioner<double>(
                 *s.a, [](const preconditioner_call<double>& call) { (void)call; },
                 {.varies = wrong}));
             (void)bicgstab(*s.a, s.b, s.x, {.max_iterations = 0}, m);
         }},
        {"unknown preconditioner 'schwarz'",
         [](threads_system& s, bool wrong) {
             (void)make_preconditioner(wrong ? "schwarz" : "jacobi", *s.a, s.over);
         }},
        {"matrix_nodes::block_size is 5",
         [](threads_system& s, bool wrong) {
             (void)make_preconditioner("jacobi", *s.a, s.over, {.block_size = wrong ? 5 : 2});
         }},
        {"jacobi: update() by another operator",
         [](threads_system& s, bool wrong) {
             const auto other = make_operator(s.comm, s.matrix);
             s.m.update(wrong ? *other : *s.a);
         }},
        {"ilu0: a matrix of 4 x 4 for an operator of 144 rows",
         [](threads_system& s, bool wrong) {
             const csr_matrix<double> small = make_gallery<double>("poisson2d:2");
             ilu0<double> m(*s.a, s.matrix);
             m.update(wrong ? small : s.matrix);
         }},
    };
    return all;
}

const std::vector<misuse>& of_products() {
    static const std::vector<misuse> all = {
        {"distributed_spgemm: A has other partitions",
         [](threads_system& s, bool wrong) {
             const distributed_csr<double> other = s.small();
             const distributed_spgemm<double> plan(s.over, s.over);
             (void)plan.multiply(wrong ? other : s.over, s.over);
         }},
        {"distributed_spgemm: B has other partitions",
         [](threads_system& s, bool wrong) {
             const distributed_csr<double> other = s.small();
             distributed_spgemm<double> plan(s.over, s.over);
             distributed_csr<double> product;
             try {
                 product = plan.take(s.over, wrong ? other : s.over);
             } catch (const usage_error&) { // the plan is still whole
                 product = plan.take(s.over, s.over);
                 plan.refresh(s.over, s.over, product);
                 throw;
             }
         }},
        {"the matrix has other partitions",
         [](threads_system& s, bool wrong) {
             const distributed_csr<double> other = s.small();
             const distributed_transposition<double> plan(s.over);
             (void)plan.apply(wrong ? other : s.over);
         }},
        {"sorted_rows: A has other partitions",
         [](threads_system& s, bool wrong) {
             const distributed_csr<double> other = s.small();
             const sorted_rows<double> plan(s.over);
             (void)plan.apply(wrong ? other : s.over);
         }},
    };
    return all;
}

/// Makes each call, wrong in either thread, and looks at what is left.
void expect_alike(backend kind, const std::vector<misuse>& all) {
    for (const misuse& one : all)
        for (const int culprit : {0, 1}) {
            CAPTURE(std::string(one.words));
            CAPTURE(culprit);
            const auto work = [&](const communicator& comm) {
                threads_system system(comm);
                const std::vector<double> before = system.state();
                std::exception_ptr thrown;
                try {
                    one.call(system, comm.is_local(0) == (culprit == 0));
                } catch (...) {
                    thrown = std::current_exception();
                }
                CHECK(system.state() == before);
                if (thrown) std::rethrow_exception(thrown);
            };
            const auto thrown =
                with_drivers(dealt_group::of(kind, {1, 2}, {.host_threads = 3}).parts, work, 20);
            for (const std::exception_ptr& failure : thrown) {
                REQUIRE(failure);
                CHECK_THROWS_WITH_AS(std::rethrow_exception(failure), doctest::Contains(one.words),
                                     usage_error);
            }
        }
}

} // namespace

KRYLITH_DRIVERS_TEST("drivers: vectors of a wrong size in one thread are every one's error") {
    expect_alike(kind, of_vectors());
}

KRYLITH_DRIVERS_TEST(
    "drivers: new values of a wrong size in one thread, and arguments of operators") {
    expect_alike(kind, of_operators());
}

KRYLITH_DRIVERS_TEST("drivers: options and preconditioners that one thread gets wrong") {
    expect_alike(kind, of_methods());
}

KRYLITH_DRIVERS_TEST("drivers: products of matrices that one thread gets wrong") {
    expect_alike(kind, of_products());
}

KRYLITH_DRIVERS_TEST("drivers: a preconditioner for lsqr in one thread") {
    const auto matrix = make_gallery<double>("poisson2d:8");
    const auto thrown = with_drivers(
        dealt_group::of(kind, {1, 1}).parts,
        [&](const communicator& comm) {
            const auto a = make_operator(comm, matrix, {.transposed_products = true});
            auto b = a->make_range_vector();
            auto x = a->make_domain_vector();
            b.upload(std::vector<double>(64, 1.0));
            const jacobi<double> of_a(*a);
            any_preconditioner<double> m;
            if (!comm.is_local(0)) m = std::cref(of_a);
            try {
                (void)lsqr(*a, b, x, {}, m);
            } catch (const usage_error&) {
                CHECK(lsqr(*a, b, x).converged());
                throw;
            }
        },
        20);
    for (const std::exception_ptr& failure : thrown) {
        REQUIRE(failure);
        CHECK_THROWS_WITH_AS(std::rethrow_exception(failure),
                             doctest::Contains("lsqr takes no preconditioner"), usage_error);
    }
}

TEST_CASE("drivers: a group that another thread drives is every one's error") {
    const auto matrix = make_gallery<double>("poisson2d:8");
    const auto thrown = with_drivers(
        {device_group::host(1), device_group::host(1)},
        [&](const communicator& comm) {
            const auto a = make_operator(comm, matrix);
            auto b = a->make_range_vector();
            auto x = a->make_domain_vector();
            b.upload(std::vector<double>(64, 1.0));
            std::exception_ptr failure;
            {
                std::unique_ptr<group_driver> other;
                if (!comm.is_local(0))
                    std::thread([&] {
                        other = std::make_unique<group_driver>(comm.devices());
                    }).join();
                try {
                    (void)cg(*a, b, x);
                } catch (...) {
                    failure = std::current_exception();
                }
            }
            CHECK(cg(*a, b, x).converged());
            if (failure) std::rethrow_exception(failure);
        },
        20);
    for (const std::exception_ptr& failure : thrown) {
        REQUIRE(failure);
        CHECK_THROWS_AS(std::rethrow_exception(failure), usage_error);
    }
}

TEST_CASE("drivers: one array of the caller's, of which each thread has its part") {
    const auto matrix = make_gallery<double>("poisson2d:12");
    const auto solve_in = [&](const communicator& comm, std::vector<double>& x,
                              const std::vector<double>& b) {
        const auto a = make_operator(comm, matrix);
        const auto rhs = borrow_host_array<double>(a->layout(), std::span<const double>(b));
        auto solution = borrow_host_array<double>(a->layout(), std::span<double>(x));
        CHECK(cg(*a, rhs, solution).converged());
    };
    const std::vector<double> b(144, 1.0);
    std::vector<double> whole(144);
    std::vector<double> parts(144);
    solve_in(device_group::host(3), whole, b);
    expect_none(with_drivers({device_group::host(1), device_group::host(2)},
                             [&](const communicator& comm) { solve_in(comm, parts, b); }));
    CHECK(parts == whole);
}

// Replicated operators: every transport, the place of rows, reports and refusals, and recorded
// iterations that neither wait for the host nor allocate.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/comm/copy/block_exchange.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/tables.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::copies_agree;
using testing::inner_product;
using testing::name_of;
using testing::random_values;
using testing::values_of;

namespace {

const std::vector<operator_kind> kinds_that_send_results =
    testing::operators_where([](operator_kind kind) { return kind->sends == sent_data::results; });

/// A matrix -1, 2, -1 with long rows from `first` on, and a last row without nonzeros.
csr_matrix<double> with_long_rows(std::int64_t n, std::int64_t first, std::int64_t rows) {
    testing::triplets entries;
    for (std::int64_t i = 0; i + 1 < n; ++i) {
        entries.emplace_back(i, i, 2.0 + 1.0 / static_cast<double>(i + 1));
        if (i > 0) entries.emplace_back(i, i - 1, -1.0);
        entries.emplace_back(i, i + 1, -1.0);
        for (std::int64_t k = 0; i >= first && i < first + rows && k < 30; ++k)
            entries.emplace_back(i, (i * 31 + k * 17) % n, 0.125 * static_cast<double>(k - 11));
    }
    return testing::from_triplets(n, entries);
}

std::vector<transport_kind> usable_transports(const device_group& group) {
    std::vector<transport_kind> usable;
    for (const transport_kind transport : transports::all)
        if (transport->automatic && transport->works(group)) usable.push_back(transport);
    return usable;
}

/// Computes y = 2 A x + 0.5 y and its dot products; returns the first error, empty if right.
std::string multiply_and_check(const device_group& group, const csr_matrix<double>& matrix,
                               const operator_options& options) {
    const auto a = make_operator(group, matrix, options);
    const auto x0 = random_values<double>(matrix.rows, 91);
    const auto y0 = random_values<double>(matrix.rows, 92);
    execution run(group, {});
    auto source = testing::make_range_vector(a->layout(), x0);
    auto y = testing::make_range_vector(a->layout(), y0);
    auto x = a->make_domain_vector();
    scalar xy(run), yy(run);
    fused(run, x = source);
    const reduction_into<double> dots[] = {xy = dot(x, y), yy = dot(y, y)};
    a->apply(run, 2.0, x, 0.5, y, dots);
    run.flush();
    const auto expected = testing::product(matrix, 2.0, x0, 0.5, y0);
    const auto result = values_of(y);
    for (std::size_t i = 0; i < result.size(); ++i)
        if (!expected[i].allows<double>(result[i])) return "row " + std::to_string(i);
    if (!copies_agree(y)) return "the copies differ";
    if (!inner_product(x0, result).allows<double>(run.get(xy.number()))) return "dot(x, y)";
    if (!inner_product(result, result).allows<double>(run.get(yy.number()))) return "dot(y, y)";
    return "";
}

std::uint64_t host_waits(const device_group& group) {
    std::uint64_t count = 0;
    for (int rank = 0; rank < group.size(); ++rank)
        count += static_cast<host_device&>(group[rank]).waits();
    return count;
}

} // namespace

KRYLITH_GROUP_TEST(
    "replicated: the long block at either end or in the middle, by every transport") {
    for (const std::int64_t first : {0, 150, 280}) {
        const auto matrix = with_long_rows(303, first, 15);
        for (const auto kind : kinds_that_send_results)
            for (const auto transport : usable_transports(group)) {
                CAPTURE(first);
                CAPTURE(name_of(kind));
                CAPTURE(name_of(transport));
                CHECK(multiply_and_check(group, matrix, {.kind = kind, .transport = transport}) ==
                      "");
            }
    }
}

KRYLITH_GROUP_TEST("replicated: any fractions, none and all rows too") {
    const auto matrix = with_long_rows(101, 47, 5);
    for (const auto transport : usable_transports(group))
        for (const double long_fraction : {0.0, 0.06, 1.0})
            for (const double redundant : {0.0, 0.01, 0.4, 1.0}) {
                if (long_fraction + redundant > 1) continue;
                CAPTURE(long_fraction);
                CAPTURE(redundant);
                CHECK(multiply_and_check(group, matrix,
                                         {.kind = operators::lra_rc,
                                          .transport = transport,
                                          .long_fraction = long_fraction,
                                          .redundant_fraction = redundant}) == "");
            }
}

// Boundaries are on whole warps here, and the matrix ends within one: short rows that end there are
// padded where the long rows follow them.
KRYLITH_GROUP_TEST("replicated: many rows, whose number is no multiple of a warp") {
    for (const std::int64_t first : {100, 15'000}) {
        const auto matrix = with_long_rows(30'011, first, 50);
        for (const auto kind : kinds_that_send_results)
            for (const auto transport : usable_transports(group)) {
                CAPTURE(first);
                CAPTURE(name_of(kind));
                CAPTURE(name_of(transport));
                CHECK(multiply_and_check(group, matrix, {.kind = kind, .transport = transport}) ==
                      "");
            }
    }
}

KRYLITH_GROUP_TEST("replicated: solvers take the same iterations by every transport") {
    const auto matrix = poisson2d<double>(15, 14, random_scaling{4});
    const auto b = random_values<double>(matrix.rows, 93);
    const bool records = execution(group, {}).mode() == execution_mode::recorded;
    for (const auto which : testing::all_methods) {
        std::int64_t expected = -1;
        for (const auto kind : kinds_that_send_results)
            for (const auto transport : usable_transports(group)) {
                CAPTURE(name_of(which));
                CAPTURE(name_of(kind));
                CAPTURE(name_of(transport));
                testing::problem<double> p(group, matrix, b,
                                           {.kind = kind, .transport = transport});
                const auto result = p.solve_jacobi(which);
                CHECK(result.converged());
                CHECK(p.relative_residual() < 1.01e-8);
                CHECK(result.recorded == (records && p.a->recordable()));
                if (expected < 0) expected = result.iterations;
                CHECK(std::abs(result.iterations - expected) <= 2);
            }
    }
}

KRYLITH_GROUP_TEST("replicated: new values on the same pattern, by every transport") {
    const auto first = with_long_rows(400, 180, 15);
    auto second = first;
    for (double& v : second.values) v = 3 - 0.5 * v;
    const auto x0 = random_values<double>(400, 94);
    for (const auto kind : kinds_that_send_results)
        for (const auto transport : usable_transports(group)) {
            CAPTURE(name_of(kind));
            CAPTURE(name_of(transport));
            const auto a = make_operator(group, first, {.kind = kind, .transport = transport});
            a->update(second.values);
            execution run(group, {});
            auto source = testing::make_range_vector(a->layout(), x0);
            auto x = a->make_domain_vector();
            auto y = a->make_range_vector();
            auto d = a->make_range_vector();
            fused(run, x = source);
            a->apply(run, 1.0, x, 0.0, y);
            run.flush();
            const auto expected = testing::product(second, 1.0, x0, 0.0, x0);
            const auto result = values_of(y);
            bool good = true;
            for (std::size_t i = 0; i < result.size(); ++i)
                good = good && expected[i].allows<double>(result[i]);
            CHECK(good);
            a->diagonal(d);
            CHECK(values_of(d) == diagonal(second));
            CHECK(copies_agree(d));
        }
}

KRYLITH_GROUP_TEST("replicated: what is reported") {
    const auto matrix = with_long_rows(500, 0, 20);
    for (const auto kind : kinds_that_send_results)
        for (const auto transport : usable_transports(group)) {
            const auto a = make_operator(group, matrix, {.kind = kind, .transport = transport});
            const bool alone = group.size() == 1;
            CHECK(a->kind() == kind);
            CHECK(a->transport() == (alone ? transports::peer_store : transport));
            CHECK(a->recordable() == (alone || transport == transports::peer_store));
            std::int64_t received = 0;
            std::int64_t bytes = 0;
            for (int rank = 0; rank < group.size(); ++rank) {
                received += a->received(rank);
                bytes += a->matrix_bytes(rank);
            }
            const std::int64_t all = 500 * (group.size() - 1);
            // No device receives redundant rows, but every device reads them.
            const std::int64_t redundant =
                kind == operators::lra_rc
                    ? std::llround(500 * (group.size() <= 2
                                              ? (usable_transports(group).size() == 1 ? 0.25 : 0.15)
                                              : 0.20))
                    : 0;
            CHECK(received == all - redundant * (group.size() - 1));
            CHECK(bytes >= 8 * (matrix.nnz() + 2 * redundant * (group.size() - 1)));
        }
}

// With more devices than rows that are sent, some compute redundant rows alone.
KRYLITH_GROUP_TEST("replicated: devices that have redundant rows alone") {
    csr_matrix<double> matrix{10, 10, {0}, {}, {}};
    for (std::int32_t row = 0; row < 10; ++row) {
        for (std::int32_t j = 0; j < (row < 2 ? 7 : 1 + row % 3); ++j) {
            matrix.column_indices.push_back((row + j) % 10);
            matrix.values.push_back(1.0 + row + 16 * j);
        }
        matrix.row_offsets.push_back(static_cast<std::int64_t>(matrix.values.size()));
    }
    const auto x0 = testing::random_values<double>(10, 5);
    for (const double redundant : {0.5, 0.8, 1.0}) {
        const auto a = make_operator(
            group, matrix,
            {.kind = operators::lra_rc, .long_fraction = 0, .redundant_fraction = redundant});
        const auto y = testing::product(*a, x0);
        const auto expected = testing::product(matrix, 1.0, x0, 0.0, x0);
        for (std::size_t i = 0; i < y.size(); ++i) CHECK(expected[i].allows<double>(y[i]));
    }
}

KRYLITH_GROUP_TEST("replicated: what makes no sense is refused, with what is allowed") {
    const auto matrix = testing::laplace_1d(40);
    const auto refused = [&](const operator_options& options, const char* words) {
        CHECK_THROWS_WITH_AS((void)make_operator(group, matrix, options), doctest::Contains(words),
                             usage_error);
    };
    refused({.kind = operators::lra, .long_fraction = 1.5}, "long_fraction is 1.5");
    refused({.kind = operators::lra, .long_fraction = -0.5}, "from 0 to 1");
    refused({.kind = operators::lra, .long_fraction = NAN}, "from 0 to 1");
    refused({.kind = operators::nz, .long_fraction = 0.5}, "operators lra and lra-rc");
    refused({.kind = operators::lra, .redundant_fraction = 0.1}, "operator lra-rc");
    refused({.kind = operators::lra_rc, .long_fraction = 0.6, .redundant_fraction = 0.6},
            "at most 1");
    const std::string senders = listed<operator_method>(
        operators::all, [](operator_kind kind) { return kind->sends == sent_data::results; });
    CHECK(senders.starts_with("nz, 2nz, lra"));
    CHECK(senders.find("lra-rc") != std::string::npos);
    refused({.kind = operators::halo, .transport = transports::copy_engine}, senders.c_str());
    if (group.kind() == backend::host)
        refused({.kind = operators::nz, .transport = transports::nccl}, "transport nccl");
    if (usable_transports(group).size() == 1)
        refused({.kind = operators::nz, .transport = transports::peer_store}, "staged copies");

    for (const auto kind : {operators::two_nz, operators::lra, operators::lra_rc}) {
        const auto a = make_operator(group, matrix, {.kind = kind});
        const std::vector<const double*> arrays(static_cast<std::size_t>(group.size()));
        CHECK_THROWS_WITH_AS(a->update_on_devices(arrays), doctest::Contains("rank 0 is null"),
                             usage_error);
        const std::vector<csr_part<double>> parts(static_cast<std::size_t>(group.size()));
        CHECK_THROWS_WITH_AS(
            (void)make_operator<double>(group, parts, {.kind = kind, .borrow = true}),
            doctest::Contains("can't borrow values"), usage_error);
    }
}

KRYLITH_GROUP_TEST("replicated: copies are refused in a recorded loop, before anything is done") {
    if (!group.concurrent() || group.size() == 1) return; // loops aren't recorded there
    const auto a = make_operator(group, testing::laplace_1d(40),
                                 {.kind = operators::nz, .transport = transports::copy_engine});
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    const solver_options options{.mode = execution_mode::recorded};
    CHECK_THROWS_AS((void)cg(*a, b, x, options), usage_error);
    CHECK(cg(*a, b, x).converged());
}

TEST_CASE("replicated: iterations of a recorded loop neither wait for the host nor allocate") {
    for (const int devices : {1, 2, 4})
        for (const auto kind : kinds_that_send_results) {
            CAPTURE(devices);
            CAPTURE(name_of(kind));
            const auto group = device_group::host(devices);
            const auto matrix = poisson2d<double>(30);
            testing::problem<double> p(group, matrix, random_values<double>(matrix.rows, 95),
                                       {.kind = kind});
            std::uint64_t waits[2];
            int allocations[2];
            for (const int round : {0, 1}) {
                p.a->release_workspace(); // both begin without one
                group.synchronize();
                const testing::short_memory counter(group, -1); // it refuses nothing
                const std::uint64_t before = host_waits(group);
                const auto result =
                    p.solve(testing::method::cg, {.rtol = 0,
                                                  .max_iterations = round == 0 ? 3 : 40,
                                                  .mode = execution_mode::recorded,
                                                  .unroll = 2});
                CHECK(result.iterations == (round == 0 ? 3 : 40));
                waits[round] = host_waits(group) - before;
                allocations[round] = counter.count();
            }
            CHECK(waits[0] == waits[1]);
            CHECK(allocations[0] == allocations[1]);
        }
}

TEST_CASE("replicated: products by copies don't make the host wait or allocate") {
    const auto group = device_group::host(3);
    const auto a = make_operator(group, poisson2d<double>(30),
                                 {.kind = operators::lra_rc, .transport = transports::copy_engine});
    auto x = a->make_domain_vector();
    auto y = a->make_domain_vector();
    execution run(group, {.mode = execution_mode::eager});
    const testing::short_memory counter(group, -1);
    const std::uint64_t before = host_waits(group);
    for (int round = 0; round < 20; ++round) {
        a->apply(run, 1.0, x, 0.0, y);
        a->apply(run, 0.5, y, 1.0, x);
    }
    CHECK(host_waits(group) == before);
    CHECK(counter.count() == 0);
    run.flush();
}

// NCCL needs distinct GPUs: with one, this covers the refusal only.
TEST_CASE("replicated: results sent by NCCL [cuda]") {
    const int gpus = cuda_device_count();
    REQUIRE(gpus > 0);
    if (gpus == 1 || !nccl_built_in()) {
        const int twice[] = {0, 0};
        CHECK_THROWS_AS((void)make_operator(device_group::cuda(twice), testing::laplace_1d(9),
                                            {.kind = operators::nz, .transport = transports::nccl}),
                        usage_error);
        MESSAGE("covers the refusal only: ", gpus, " GPU(s), NCCL built in: ", nccl_built_in());
        return;
    }
    for (const int devices : {2, gpus}) {
        std::vector<int> ordinals;
        for (int i = 0; i < devices; ++i) ordinals.push_back(i);
        const auto group = device_group::cuda(ordinals);
        for (const auto kind : kinds_that_send_results)
            for (const std::int64_t n : {2, 503, 30'011}) {
                CAPTURE(name_of(kind));
                CAPTURE(n);
                CHECK(multiply_and_check(group, with_long_rows(n, n / 2, 20),
                                         {.kind = kind, .transport = transports::nccl}) == "");
            }
        const auto matrix = poisson2d<double>(40);
        testing::problem<double> p(group, matrix, random_values<double>(matrix.rows, 96),
                                   {.kind = operators::lra_rc, .transport = transports::nccl});
        CHECK(p.solve(testing::method::cg).converged());
        CHECK(p.relative_residual() < 1.01e-8);
        CHECK(p.a->transport() == transports::nccl);
    }
}

} // namespace krylith

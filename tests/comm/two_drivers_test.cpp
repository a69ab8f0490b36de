// Solves whose ranks are dealt to several threads, each of which sees its own devices alone: the
// same bits as with one thread.
#include <cstring>
#include <string>

#include <doctest/doctest.h>

#include <krylith/krylith.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/comm/drivers.hpp>

using namespace krylith;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

struct outcome {
    std::vector<double> x;
    std::vector<double> history;
    std::int64_t iterations = 0;
};

outcome solve_on(const communicator& comm, const csr_matrix<double>& matrix) {
    const auto a = make_operator(comm, matrix, {.kind = operators::halo});
    auto x = a->make_domain_vector();
    auto b = a->make_range_vector();
    const std::vector<double> ones(static_cast<std::size_t>(matrix.rows), 1.0);
    b.upload(ones);
    const solve_result result = cg(*a, b, x, {.history = true});
    outcome found;
    found.x.resize(ones.size());
    x.download(found.x);
    found.history = result.history;
    found.iterations = result.iterations;
    return found;
}

} // namespace

TEST_CASE("two drivers: cg by halo has the bits of one") {
    const auto matrix = make_gallery<double>("poisson3d:12");
    const outcome one = solve_on(device_group::host(3), matrix);
    CHECK(one.iterations > 10);
    std::vector<outcome> found(2);
    expect_none(
        with_drivers({device_group::host(2), device_group::host(1)}, [&](const communicator& comm) {
            found[comm.is_local(0) ? 0 : 1] = solve_on(comm, matrix);
        }));
    for (const outcome& of : found) {
        CHECK(of.iterations == one.iterations);
        CHECK(of.history == one.history);
        CHECK(of.x == one.x);
    }
}

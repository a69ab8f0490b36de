// A thousand set-ups and solves, after which neither device memory nor the process may have grown.
#include <cstddef>
#include <fstream>

#include <unistd.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::live_bytes;
using testing::problem;

namespace {

/// Returns the resident bytes of this process.
std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    file >> total >> resident;
    REQUIRE(resident > 0);
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// The resident bytes of a process under a sanitizer say nothing: AddressSanitizer keeps freed
// memory for a while, up to 256 MB, and ThreadSanitizer keeps a history of accesses. The former
// checks for leaks itself.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KRYLITH_TESTS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KRYLITH_TESTS_SANITIZER
#endif
#ifdef KRYLITH_TESTS_SANITIZER
constexpr bool resident_tells = false;
#else
constexpr bool resident_tells = true;
#endif

/// Checks the growth: 1 KiB lost in each round would be 0.8 MiB.
void check_resident(std::size_t before) {
    if (resident_tells) CHECK(resident_bytes() < before + (std::size_t{768} << 10));
}

void rounds(const device_group& group, int count) {
    const auto matrix = poisson2d<double>(5, 4);
    const auto b = testing::random_values<double>(matrix.rows, 191);
    for (int round = 0; round < count; ++round) {
        const auto kind = round % 2 == 0 ? operators::nz : operators::halo;
        problem<double> p(group, matrix, b, {.kind = kind});
        const auto which = all_methods[round % 3];
        CHECK(p.solve_jacobi(which, {.history = round % 5 == 0, .unroll = 2}).converged());
    }
}

} // namespace

TEST_CASE("memory: a thousand set-ups and solves leave device and process as they were") {
    const auto group = device_group::host(2, {.host_threads = 2});
    rounds(group, 200); // the heap reaches its size
    const auto live = live_bytes(group);
    const std::size_t before = resident_bytes();
    rounds(group, 800);
    CHECK(live_bytes(group) == live);
    check_resident(before);
}

// One operator runs many solves, which converge or fail.
TEST_CASE("memory: a thousand solves of one operator") {
    const auto group = device_group::host(2, {.host_threads = 2});
    const auto matrix = poisson2d<double>(5, 4);
    problem<double> p(group, matrix, testing::random_values<double>(matrix.rows, 192));
    std::size_t before = 0;
    const auto live = live_bytes(group);
    auto kept = live; // with the workspaces of the solves before
    for (int round = 0; round < 1000; ++round) {
        if (round == 200) {
            before = resident_bytes();
            kept = live_bytes(group);
        }
        const auto result = p.solve(all_methods[round % 3],
                                    {.max_iterations = round % 4 == 0 ? 2 : -1, .unroll = 2});
        CHECK(result.converged() == (round % 4 != 0));
    }
    CHECK(live_bytes(group) == kept);
    check_resident(before);
    p.a->release_workspace();
    CHECK(live_bytes(group) == live);
}

TEST_CASE("memory: a thousand small multigrid set-ups") {
    const auto group = device_group::host(2, {.host_threads = 2});
    const auto matrix = make_gallery<double>("poisson1d:250");
    problem<double> p(group, matrix, testing::random_values<double>(matrix.rows, 193));
    const auto live = live_bytes(group);
    std::size_t before = 0;
    for (int round = 0; round < 1000; ++round) {
        if (round == 200) before = resident_bytes();
        const amg<double> m(*p.a, matrix);
        CHECK(m.levels().size() == 2);
    }
    group.synchronize();
    CHECK(live_bytes(group) == live);
    check_resident(before);
}

} // namespace krylith

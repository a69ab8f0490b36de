// Device groups in a child of fork(), which has none of its parent's threads.
#include <functional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) // which ends a child that starts threads
#define KRYLITH_TESTS_NO_THREADS_IN_CHILDREN
#endif
#endif
#ifdef KRYLITH_TESTS_NO_THREADS_IN_CHILDREN
constexpr bool children_have_threads = false;
#else
constexpr bool children_have_threads = true;
#endif

/// What `work` throws in a child process, "" where it throws nothing, "it hangs" after 20 s.
std::string in_child(const std::function<void()>& work) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); // ends the child
        std::string said;
        try {
            work();
        } catch (const usage_error& e) {
            said = std::string("usage_error: ") + e.what();
        } catch (const std::exception& e) {
            said = e.what();
        }
        const bool told =
            write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
        _exit(told ? 0 : 1);
    }
    close(ends[1]);
    std::string said;
    char part[256];
    for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
        said.append(part, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? said : "it hangs";
}

void solve_with(const device_group& group) {
    const auto a = make_operator(group, poisson2d<double>(40));
    auto b = a->make_range_vector();
    auto x = a->make_domain_vector();
    b.upload(std::vector<double>(1600, 1));
    if (!cg(*a, b, x).converged()) throw device_error("not solved");
}

} // namespace

KRYLITH_GROUP_TEST("fork: a child can't use its parent's group, and says so at once") {
    solve_with(group);
    const auto a = make_operator(group, poisson2d<double>(8));
    auto b = a->make_range_vector();
    auto x = a->make_domain_vector();
    const doctest::Contains made_before("made before fork()");
    if (children_have_threads)
        CHECK(in_child([&] { solve_with(group); }).c_str() == doctest::Contains("fork()"));
    CHECK(in_child([&] { (void)cg(*a, b, x); }).c_str() == made_before);
    if (group.kind() == backend::host) {
        CHECK(in_child([&] { x.zero(); }).c_str() == made_before);
        CHECK(in_child([&] { group.synchronize(); }).c_str() == made_before);
        CHECK(in_child([&] { buffer<double>(group.handle(0), 4, "numbers").zero(); }).c_str() ==
              made_before);
    }
    // What the child destroys waits for nobody: an operator, vectors, and a group at last.
    auto doomed = std::make_unique<device_group>(
        group.kind() == backend::host ? device_group::host(2) : group);
    auto of_doomed = make_operator(*doomed, poisson2d<double>(8));
    auto too = std::make_unique<vector<double>>(of_doomed->make_domain_vector());
    doomed.reset();
    CHECK(in_child([&] {
              const auto gone = std::move(b);
              too.reset();
              of_doomed.reset();
          }) == "");
    solve_with(group); // the parent goes on
}

TEST_CASE("fork: a child solves with a group of its own, and so does its parent afterwards") {
    if (!children_have_threads) return;
    const auto parents = device_group::host(2, {.host_threads = 4});
    solve_with(parents);
    for (const int devices : {1, 3})
        CHECK(in_child([&] {
                  solve_with(device_group::host(devices, {.host_threads = 4}));
                  solve_with(device_group::host(devices, {.host_threads = 4}));
              }) == "");
    CHECK(in_child([&] {
              // Both kinds of groups in one process, and a grandchild.
              solve_with(device_group::host(2));
              const std::string said = in_child([] { solve_with(device_group::host(2)); });
              if (!said.empty()) throw device_error("grandchild: " + said);
          }) == "");
    solve_with(parents);
}

} // namespace krylith

// The command under limits on threads and memory: words and exit status 4, never an end in silence.
#include <cstdlib>
#include <string>

#include <sys/wait.h>

#include <doctest/doctest.h>

#include <krylith/tests/tools/support/command_run.hpp>

using krylith::test::command_result;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::small_solve;
using krylith::test::temporary_folder;

namespace {

/// The command after `before` in a shell; -1: killed by a signal.
command_result run_under(const std::string& before, const std::string& arguments) {
    const temporary_folder folder;
    const std::string line = "cd '" + folder.file("").string() + "' && " + before + " '" +
                             krylith::test::command_path() + "' " + arguments +
                             " >stdout.txt 2>stderr.txt";
    const int status = std::system(line.c_str()); // NOLINT(concurrency-mt-unsafe)
    const bool shell_says_killed = WIFEXITED(status) && WEXITSTATUS(status) > 128;
    return {WIFEXITED(status) && !shell_says_killed ? WEXITSTATUS(status) : -1,
            contents_of(folder.file("stdout.txt")), contents_of(folder.file("stderr.txt"))};
}

} // namespace

TEST_CASE("threads: OMP_NUM_THREADS beyond what the machine is good for does no harm") {
    const auto result = run_under("OMP_NUM_THREADS=100000", small_solve);
    CHECK_MESSAGE(result.status == 0, result.err);
}

TEST_CASE("threads: --threads 100000 is refused with what is allowed") {
    const auto result = run_under("", small_solve + "--threads 100000");
    CHECK(result.status == 2);
    CHECK(contains(result.err, "--threads is 100000: allowed are 0 (one a core) to "));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// RLIMIT_NPROC doesn't bind root, so that threads end here where their stacks find no addresses.
TEST_CASE("threads: what the system doesn't give is a device failure in words") {
    const auto result =
        run_under("ulimit -s 1000000 && ulimit -v 6000000 &&", small_solve + "--threads 16");
    CHECK(result.status == 4);
    CHECK(contains(result.err, "1 host device would need 16 threads, but the system gave "));
    CHECK(contains(result.err, "RLIMIT_AS (ulimit -v) is 6144000000"));
}

TEST_CASE("memory: where a limit on addresses ends it, the message says so in words") {
    for (const char* const what :
         {"solve gallery:poisson3d:240 --backend host --threads 1", "info gallery:poisson3d:240"}) {
        CAPTURE(what);
        // Room for a second thread, its stack and its heap, but not for the matrix.
        const auto result = run_under("ulimit -v 780000 && OMP_NUM_THREADS=2", what);
        CHECK((result.status == 3 || result.status == 4));
        CHECK_FALSE(contains(result.err, "std::bad_alloc"));
        const bool said = contains(result.err, "RLIMIT_AS (ulimit -v), 798720000 bytes");
        CHECK_MESSAGE(said, result.err);
    }
}

#endif

TEST_CASE("KRYLITH_EXECUTION and KRYLITH_KERNEL_MODEL: wrong values are refused by name") {
    const auto mode = run_under("KRYLITH_EXECUTION=nonsense", small_solve);
    CHECK(mode.status == 2);
    CHECK(contains(mode.err, "KRYLITH_EXECUTION is 'nonsense'"));
    const auto model = run_under("KRYLITH_KERNEL_MODEL=/dev/zero",
                                 "graph bfs gallery:poisson2d:10 --backend host");
    CHECK(model.status == 3);
    CHECK(contains(model.err, "/dev/zero: can't be read: it is not a regular file"));
}

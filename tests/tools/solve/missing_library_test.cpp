// Libraries that few programs need are loaded when they are asked for: where one is missing, only
// what needs it is refused.
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include <krylith/config.hpp>

#include <krylith/tests/tools/support/command_run.hpp>

namespace krylith::test {

TEST_CASE("the command links none of the libraries that it loads") {
    const temporary_folder folder;
    const auto listed = run_shell(folder, std::string("ldd '") + command_path() + "'");
    REQUIRE(listed.status == 0);
    for (const char* const name : {"metis", "numa", "nccl", "cusparse", "cublas", "nvJitLink"})
        CHECK_FALSE(contains(listed.out, name));
}

TEST_CASE("without METIS only its order is refused, and the message says what to do") {
    const temporary_folder folder;
    std::ofstream{folder.file("libmetis.so.5")}; // not a library
    const std::string hidden = "LD_LIBRARY_PATH=.:$LD_LIBRARY_PATH '" +
                               std::string(command_path()) + "' solve gallery:poisson2d:9 ";
    CHECK(run_shell(folder, hidden + "--reorder rcm").status == 0);
    const auto refused = run_shell(folder, hidden + "--reorder metis");
    CHECK(refused.status == 2);
    const bool built_in = KRYLITH_HAVE_METIS != 0;
    CHECK(contains(refused.err, built_in ? "METIS can't be loaded (" : "needs METIS"));
    CHECK(contains(refused.err, "allowed are none and rcm"));
}

} // namespace krylith::test

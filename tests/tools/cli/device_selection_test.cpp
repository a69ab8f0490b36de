// --devices: lists that are empty, with gaps or duplicates, too long, or of devices that are
// absent.
#include <string>

#include <doctest/doctest.h>

#include <krylith/config.hpp>
#include <krylith/tests/tools/support/command_run.hpp>

using krylith::test::contains;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;

TEST_CASE("--devices refuses lists that name no group, and says what is allowed") {
    const temporary_folder folder;
    for (const std::string list : {"''", ",", ",,", "0", "-1", "0,0", "1,0", "0,2", "0,1,1", "1.5",
                                   "65", "99999999999999999999", "'0;1'", "' 2'"}) {
        const auto result =
            run_krylith(folder, "solve gallery:poisson2d:4 --backend host --devices " + list);
        CAPTURE(list);
        CAPTURE(result.err);
        CHECK(result.status == 2);
        CHECK(result.err.starts_with("krylith: "));
        CHECK(result.out.empty());
    }
    CHECK(contains(run_krylith(folder, "solve gallery:poisson2d:4 --backend host --devices 65").err,
                   "1 to 64"));
    for (const std::string list : {"1", "16", "0,1", "0,1,2"})
        CHECK(run_krylith(folder, "solve gallery:poisson2d:4 --backend host --devices " + list)
                  .status == 0);
}

TEST_CASE("--devices names the CUDA devices that are there [cuda]") {
    const temporary_folder folder;
    const auto absent =
        run_krylith(folder, "solve gallery:poisson2d:4 --backend cuda --devices 0,4321");
    CHECK(absent.status == 2);
    CHECK(contains(absent.err, "CUDA device 4321 is not there"));
    CHECK(contains(absent.err, "allowed are 0 to "));
    // The same device twice is a group, good for tests.
    CHECK(run_krylith(folder, "solve gallery:poisson2d:4 --backend cuda --devices 0,0").status ==
          0);
}

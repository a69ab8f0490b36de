#include <krylith/matrix/load.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

TEST_CASE("a name is a gallery spec or a file") {
    const krylith::test::temporary_folder folder;
    CHECK(krylith::load_matrix<double>("gallery:poisson2d:3") == krylith::poisson2d<double>(3));
    const auto path = folder.write("gallery.mtx",
                                   "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 5\n");
    const krylith::csr_matrix<float> expected{1, 1, {0, 1}, {0}, {5}};
    CHECK(krylith::load_matrix<float>(path.string()) == expected);
}

TEST_CASE("what a file held beside the matrix is handed on") {
    const krylith::test::temporary_folder folder;
    const auto path = folder.write(
        "twice.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 5\n");
    krylith::market_report report;
    const auto matrix = krylith::load_matrix<double>(path.string(), {.report = &report});
    CHECK(matrix.values == std::vector<double>{6});
    CHECK(report.duplicates == 1);
    CHECK(report.changed_entries());
}

TEST_CASE("a wrong gallery name is a wrong use, a missing file a wrong input") {
    const auto input = [](const std::string& name) {
        return krylith::test::message_of<krylith::input_error>(
            [&] { static_cast<void>(krylith::load_matrix<double>(name)); });
    };
    CHECK_THROWS_AS(static_cast<void>(krylith::load_matrix<double>("gallery:poisson:3")),
                    krylith::usage_error);
    CHECK(input("/nowhere/a.mtx") ==
          "/nowhere/a.mtx: no such file, allowed is the path of a Matrix Market or .kcsr file, or "
          "gallery:NAME");
    CHECK(input("/nowhere/a.kcsr").starts_with("/nowhere/a.kcsr: no such file"));
    CHECK(input("").find("no such file") != std::string::npos);
    CHECK(input("poisson3d:64") ==
          "poisson3d:64: no such file, did you mean gallery:poisson3d:64?");
}

// Parts of the command that need no run of it.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/tools/cli/vector_source.hpp>
#include <krylith/tools/model/models.hpp>
#include <krylith/tools/solve/failure_advice.hpp>
#include <krylith/tools/solve/solve_report.hpp>

namespace krylith::tool {

TEST_CASE("random vectors are the same everywhere, and differ by seed") {
    const auto matrix = poisson2d<double>(4);
    const auto values = [&](const std::string& text) {
        return make_values(parse_vector_source("--rhs", text), matrix);
    };
    const auto first = values("random:1");
    REQUIRE(first.size() == 16);
    CHECK(first == values("random:1"));
    CHECK(first != values("random:2"));
    for (const double value : first) CHECK((-1 <= value && value < 1));
    // The first bits of SplitMix64's mixing, so that a change of the sequence is noticed.
    CHECK(first[0] == doctest::Approx(-0.14107488586761852).epsilon(1e-12));
    const auto single = make_values(parse_vector_source("--rhs", "random:1"), poisson2d<float>(4));
    CHECK(single[3] == static_cast<float>(first[3]));
}

TEST_CASE("ones and row sums") {
    const auto matrix = poisson2d<double>(3);
    CHECK(make_values(parse_vector_source("--rhs", "ones"), matrix) == std::vector<double>(9, 1.0));
    CHECK(make_values(parse_vector_source("--rhs", "row-sums"), matrix) ==
          std::vector<double>{2, 1, 2, 1, 0, 1, 2, 1, 2});
    CHECK_THROWS_AS((void)parse_vector_source("--rhs", "random:-1"), usage_error);
    CHECK_THROWS_AS((void)parse_vector_source("--rhs", "onse"), input_error);
}

TEST_CASE("lists of devices") {
    CHECK(parse_list("--devices", "3") == std::vector<int>{3});
    CHECK(parse_list("--devices", "0,2,5") == std::vector<int>{0, 2, 5});
    CHECK(parse_list("--devices", "2,") == std::vector<int>{2});
    for (const char* wrong : {"", ",", "1,,2", "a", "1 2", "-1", "99999999999"})
        CHECK_THROWS_AS((void)parse_list("--devices", wrong), usage_error);
    CHECK(first_devices({.backend = "host"}, 3).size() == 3);
    CHECK(select_devices({.backend = "host", .devices = "0,1"}).size() == 2);
    CHECK(select_devices({.backend = "host", .devices = "2"}).size() == 2);
}

TEST_CASE("the byte model is the documented one") {
    const traffic fp64{.rows = 100, .nnz = 700, .value_bytes = 8};
    CHECK(fp64.product() == 12 * 700 + 20 * 100);
    CHECK(fp64.iteration({"cg", "none"}) == 12 * 700 + 84 * 100);
    CHECK(fp64.iteration({"cg", "jacobi"}) == 12 * 700 + 100 * 100);
    CHECK(fp64.iteration({"bicgstab", "none"}) == 24 * 700 + 160 * 100);
    // Iterations 1, 2, 3 and 1 of a cycle: 1.75 vectors of the basis in the mean.
    CHECK(fp64.iteration({"gmres", "none", 3, 4}) == 12 * 700 + 20 * 100 + 16 * 175 + 32 * 100);
    CHECK(fp64.iteration({"gmres:cgs2", "none", 3, 4}) ==
          12 * 700 + 20 * 100 + 32 * 175 + 40 * 100);
    CHECK_FALSE(fp64.iteration({"bicgstab", "jacobi"})); // not worked out
    CHECK_THROWS_AS((void)fp64.iteration({"unknown", "none"}), usage_error);
}

TEST_CASE("asymmetry is found and named, rounding is not") {
    CHECK(asymmetry(poisson2d<double>(5)).empty());
    CHECK(asymmetry(random_spd<float>(40, 5, 1)).empty());
    csr_matrix<double> matrix{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 3, 3 * (1 + 1e-15), 1}};
    CHECK(asymmetry(matrix).empty());
    matrix.values[2] = 3.5;
    CHECK(asymmetry(matrix) == "the matrix is not symmetric: entry (1, 2) is 3, its mirror 3.5 "
                               "(counted from 1)");
    const csr_matrix<double> triangle{2, 2, {0, 1, 3}, {0, 0, 1}, {1, 7, 1}};
    CHECK(asymmetry(triangle).find("entry (2, 1) is 7, its mirror 0") != std::string::npos);
}

TEST_CASE("numbers for people") {
    CHECK(in_bytes(0) == "0 bytes");
    CHECK(in_bytes(999) == "999 bytes");
    CHECK(in_bytes(1234) == "1.23 kB");
    CHECK(in_bytes(999.9e6) == "1 GB");
    CHECK(in_seconds(3.51e-5) == "35.1 us");
    CHECK(in_seconds(0.0123) == "12.3 ms");
    CHECK(in_seconds(12.346) == "12.35 s");
}

} // namespace krylith::tool

// What the command says of the number of devices, by the cost model alone.
#include <string>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/tools/solve/placement.hpp>

#include <krylith/tests/support/tables.hpp>

namespace krylith::tool {
namespace {

const auto modelled =
    krylith::testing::operators_where([](operator_kind kind) { return kind->seconds != nullptr; });
const auto others =
    krylith::testing::operators_where([](operator_kind kind) { return kind->seconds == nullptr; });

TEST_CASE("fewer devices are advised where phases cost more than bytes") {
    const auto small = poisson2d<double>(20);
    const auto large = poisson3d<double>(120);
    for (const auto kind : modelled) {
        CAPTURE(to_string(kind));
        const std::string advice = fewer_devices(csr_view<double>(small), 4, kind, h200_rates());
        CHECK(advice.starts_with("fewer devices would be faster: 1 device would take "));
        CHECK(advice.find(", 4 take ") != std::string::npos);
    }
    CHECK(fewer_devices(csr_view<double>(large), 4, operators::halo, h200_rates()).empty());
}

TEST_CASE("fewer devices: no advice on operators that the cost model doesn't know") {
    const auto small = poisson2d<double>(20);
    for (const auto kind : others) {
        CAPTURE(to_string(kind));
        CHECK(fewer_devices(csr_view<double>(small), 4, kind, h200_rates()).empty());
    }
    CHECK(fewer_devices(csr_view<double>(csr_matrix<double>{}), 4, operators::halo, h200_rates())
              .empty());
}

} // namespace
} // namespace krylith::tool

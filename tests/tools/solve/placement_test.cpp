// What the command says of the number of devices, by the cost model alone.
#include <string>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/tools/solve/placement.hpp>

namespace krylith::tool {
namespace {

constexpr operator_kind modelled[] = {operators::nz,     operators::two_nz, operators::lra,
                                      operators::lra_rc, operators::halo,   operators::allgather};
constexpr operator_kind others[] = {operators::pcsr, operators::pcsc, operators::pcoo,
                                    operators::adaptive};

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

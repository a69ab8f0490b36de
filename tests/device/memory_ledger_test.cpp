// The guard of a device's memory: a budget, which may be lifted again.
#include <cstddef>
#include <limits>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith {

KRYLITH_GROUP_TEST("ledger: a guard refuses what goes beyond a budget, and nothing is lost") {
    const auto& device = group.handle(group.size() - 1);
    auto& ledger = device->ledger();
    const std::size_t before = ledger.live();
    ledger.set_guard([&](const std::string& item, std::size_t bytes, std::size_t live) {
        if (live + bytes > before + 10'000) throw device_error("over budget for " + item);
    });
    {
        const buffer<double> first(device, 1000, "vectors"); // 8000
        CHECK_THROWS_WITH_AS(buffer<double>(device, 1000, "matrix"), "over budget for matrix",
                             device_error);
        CHECK(ledger.live() == before + 8000);
        CHECK(ledger.items().count("matrix") == 0);
        const buffer<double> small(device, 250, "matrix"); // just fits
        CHECK(ledger.live() == before + 10'000);
    }
    CHECK(ledger.live() == before);
    ledger.set_guard({});
    const buffer<double> large(device, 100'000, "matrix");
    CHECK(large.size() == 100'000);
}

} // namespace krylith

// Running sums, in place too, of so many sizes that GPUs take two passes.
#include <krylith/device/loops/running_sums.hpp>

#include <cstdint>
#include <vector>

#include <krylith/device/loops/download_numbers.hpp>
#include <krylith/device/memory/buffer.hpp>

#include <krylith/tests/spmspv/one_device.hpp>

namespace krylith {

KRYLITH_DEVICE_TEST("loops: running sums of sizes") {
    for (const std::int64_t count : {0, 1, 300, 5000, 70000}) {
        const auto size = static_cast<std::size_t>(count);
        std::vector<std::int32_t> sizes;
        std::vector<std::int64_t> sums{0};
        for (std::int64_t i = 0; i < count; ++i) {
            sizes.push_back(static_cast<std::int32_t>(i * i % 1000003));
            sums.push_back(sums.back() + sizes.back());
        }
        const buffer<std::int32_t> of(device, sizes, "test");
        const buffer<std::int64_t> found(device, size + 1, "test");
        add_up_sizes(device, count, of.data(), found.data());
        CHECK(found.download() == sums);
        std::vector<std::int64_t> wide(sizes.begin(), sizes.end());
        wide.push_back(-1); // the place of the sum
        const buffer<std::int64_t> both(device, wide, "test");
        add_up_sizes(device, count, both.data(), both.data());
        CHECK(both.download() == sums);
        const std::int64_t* const last[] = {both.data() + count, both.data()};
        CHECK(download_numbers(*device, last) == std::vector<std::int64_t>{sums.back(), 0});
    }
}

} // namespace krylith

// Sums and scans of warps and blocks against plain loops. The kernel is in block_test.cu. Sums are
// whole numbers, which every order adds up to the same.
#include <krylith/config.hpp>

#if KRYLITH_HAVE_CUDA

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>

#include <krylith/tests/device/cuda/block_test.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

using testing::sum_blocks;
using testing::sum_threads;

/// The sum of values first .. first + count.
std::int64_t sum_of(std::span<const std::int32_t> values, int first, int count) {
    std::int64_t sum = 0;
    for (int i = first; i < first + count; ++i) sum += values[static_cast<std::size_t>(i)];
    return sum;
}

} // namespace

TEST_CASE("block: sums and scans of warps and blocks are those of plain loops [cuda]") {
    const auto group = testing::cuda_groups().front();
    std::vector<std::int32_t> host(sum_threads);
    for (int i = 0; i < sum_threads; ++i)
        host[static_cast<std::size_t>(i)] = (i * 7919 + 13) % 1009 - 400; // of both signs
    const std::span<const std::int32_t> v(host);
    const buffer<std::int32_t> values(group.handle(0), v, "test");
    buffer<testing::sums_of_thread> sums(group.handle(0), sum_threads, "test");
    buffer<std::int32_t> stored(group.handle(0), sum_blocks, "test");
    buffer<unsigned> arrived(group.handle(0), 1, "test");
    buffer<std::int32_t> last(group.handle(0), 1, "test");
    arrived.zero();
    last.zero();
    testing::enqueue_sums_on_cuda(group[0], values.data(), sums.data(), stored.data(),
                                  arrived.data(), last.data());

    const auto got = sums.download();
    for (int i = 0; i < sum_threads; ++i) {
        CAPTURE(i);
        const auto& s = got[static_cast<std::size_t>(i)];
        const int warp = i / 32 * 32;
        CHECK(s.warp == sum_of(v, warp, 32));
        CHECK(s.pair == sum_of(v, i / 2 * 2, 2));
        CHECK(s.eight == sum_of(v, i / 8 * 8, 8));
        CHECK(s.wide == sum_of(v, warp, 32) * (std::int64_t{1} << 32));
        CHECK(s.real == static_cast<double>(sum_of(v, warp, 32)));
        CHECK(s.largest == *std::max_element(&v[i / 4 * 4], &v[i / 4 * 4] + 4));
        CHECK(s.running == sum_of(v, warp, i - warp + 1));
        const int reach = i % 32 % 5;
        CHECK(s.segment == sum_of(v, i - reach, reach + 1));
        const std::int64_t all = sum_of(v, 0, sum_threads);
        CHECK(s.of_block == (i == 0 ? all * (std::int64_t{1} << 32) : 0));
        CHECK(s.for_all == all);
    }
    CHECK(arrived.download().front() == sum_blocks);
    CHECK(last.download().front() == sum_blocks * (sum_blocks + 1) / 2);
}

} // namespace krylith

#endif

// The slabs of a CUDA device, seen from outside: what the runtime says is free.
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/device_group.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>

#include <krylith/tests/device/slabs.hpp>

namespace krylith {

using testing::mebi;
using testing::slabs_variable;

namespace {

device_group first_gpu() {
    return device_group::cuda(std::vector<int>{0});
}

/// Allocates and frees as a set-up does, with work under way when it frees.
void set_up(const device_group& group) {
    std::vector<buffer<unsigned char>> arrays;
    for (const std::size_t bytes :
         {std::size_t{100}, std::size_t{70'000}, 3 * mebi, 40 * mebi, 90 * mebi}) {
        arrays.emplace_back(group.handle(0), bytes, "set-up");
        arrays.back().zero();
    }
}

} // namespace

TEST_CASE("slabs of CUDA: a thousand set-ups leave memory flat; the last group gives all back "
          "[cuda]") {
    const device_group observer = first_gpu(); // its own slabs are empty, so it sees the runtime's
    std::size_t before = 0;
    {
        const device_group warm = first_gpu();
        set_up(warm);
        warm.synchronize();
    }
    before = observer[0].free_bytes();
    {
        const device_group group = first_gpu();
        std::size_t after_ten = 0;
        for (int i = 0; i < 1000; ++i) {
            set_up(group);
            if (i == 9) after_ten = observer[0].free_bytes();
        }
        group.synchronize();
        CHECK(observer[0].free_bytes() + 2 * mebi >= after_ten);
        CHECK(group[0].ledger().live() == 0);
        CHECK(group[0].free_bytes() >= observer[0].free_bytes());
    }
    CHECK(observer[0].free_bytes() + 2 * mebi >= before);
}

TEST_CASE("slabs of CUDA: contents survive while others come and go [cuda]") {
    const device_group group = first_gpu();
    std::vector<buffer<int>> kept;
    for (int i = 0; i < 50; ++i) {
        buffer<int> passing(group.handle(0), 30'000, "test");
        passing.zero();
        const std::vector<int> values(static_cast<std::size_t>(1000 + 997 * i), i);
        kept.emplace_back(group.handle(0), std::span<const int>(values), "test");
    }
    for (int i = 0; i < 50; ++i) {
        const auto& one = kept[static_cast<std::size_t>(i)];
        CHECK(one.download() == std::vector<int>(one.size(), i));
    }
}

TEST_CASE("slabs of CUDA: too much is refused by name, with slabs and without [cuda]") {
    for (const char* const slabs : {"on", "off"}) {
        CAPTURE(slabs);
        const slabs_variable set(slabs);
        const device_group group = first_gpu();
        const std::size_t free = group[0].free_bytes();
        std::string message;
        try {
            (void)group[0].allocate(free + free / 2, "a large vector");
        } catch (const device_error& e) {
            message = e.what();
        }
        CHECK(message.find("can't give " + std::to_string(free + free / 2) +
                           " bytes for a large vector") != std::string::npos);
        set_up(group); // what fits is given still
        CHECK(group[0].ledger().live() == 0);
    }
}

TEST_CASE("slabs of CUDA: KRYLITH_SLABS that it doesn't know is refused [cuda]") {
    const slabs_variable set("nonsense");
    CHECK_THROWS_WITH_AS((void)first_gpu(),
                         "the environment variable KRYLITH_SLABS is 'nonsense': allowed are on, "
                         "off",
                         usage_error);
}

} // namespace krylith

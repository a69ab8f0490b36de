// Large blocks of host devices, which come from memory that the device had before.
#include <krylith/device/host/host_arena.hpp>

#include <cstdint>
#include <cstring>
#include <string>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>

#include <krylith/tests/device/slabs.hpp>

namespace krylith {

using testing::mebi;
using testing::slabs_variable;

TEST_CASE("host arena: a block that was freed is used again, and only after its tasks") {
    host_device device(0, 1);
    const bool slabs = make_host_arena(1) != nullptr; // not under AddressSanitizer
    void* const first = device.allocate(5 * mebi, "block");
    device.zero(first, 5 * mebi);
    device.deallocate(first, 5 * mebi, "block");
    device.synchronize();
    void* const second = device.allocate(5 * mebi, "block");
    if (slabs) CHECK(second == first);
    CHECK(reinterpret_cast<std::uintptr_t>(second) % 256 == 0);

    bool written = false; // while this task may run, the block is not another's
    device.submit([&] {
        std::memset(second, 7, 5 * mebi);
        written = true;
    });
    device.deallocate(second, 5 * mebi, "block");
    void* const third = device.allocate(3 * mebi, "block");
    std::memset(third, 9, 3 * mebi);
    device.synchronize();
    CHECK(written);
    const auto* const bytes = static_cast<const unsigned char*>(third);
    CHECK(bytes[0] == 9);
    CHECK(bytes[3 * mebi - 1] == 9);
    device.deallocate(third, 3 * mebi, "block");
    device.synchronize();
    CHECK(device.ledger().live() == 0);
}

TEST_CASE("host arena: the environment turns it off, and unknown words are refused") {
    {
        const slabs_variable off("off");
        CHECK(make_host_arena(1) == nullptr);
        host_device device(0, 1);
        void* const block = device.allocate(2 * mebi, "block");
        std::memset(block, 1, 2 * mebi);
        device.deallocate(block, 2 * mebi, "block");
    }
    const slabs_variable nonsense("nonsense");
    CHECK_THROWS_WITH_AS(
        host_device(0, 1),
        "the environment variable KRYLITH_SLABS is 'nonsense': allowed are on, off", usage_error);
}

TEST_CASE("host arena: more than the machine has is null, and what is kept has a limit") {
    const auto arena = make_host_arena(1);
    if (arena == nullptr) return;
    CHECK(arena->allocate(std::size_t{1} << 50) == nullptr);
    CHECK(arena->reserved() == 0);
    void* const block = arena->allocate(40 * mebi); // pages that nobody touches cost nothing
    REQUIRE(block != nullptr);
    arena->deallocate(block);
    CHECK(arena->reserved() <= 40 * mebi);
    arena->trim();
    CHECK(arena->reserved() == 0);
}

} // namespace krylith

// Slabs: blocks do not overlap, freed memory comes back when the work that may use it is done, and
// what is not needed is given back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/memory/slab_arena.hpp>

#include <krylith/tests/device/slabs.hpp>

namespace krylith {

using testing::mebi;

namespace {

/// A device that has a certain amount of memory, and is at work or not.
struct fake_device {
    std::size_t room = 1024 * mebi;
    bool at_work = false;
    bool can_wait = true;
    int waits = 0;
    int allocations = 0;
    std::map<void*, std::size_t> slabs;

    [[nodiscard]] std::size_t held() const {
        std::size_t sum = 0;
        for (const auto& [slab, bytes] : slabs) sum += bytes;
        return sum;
    }

    [[nodiscard]] slab_source source() {
        return {[this](std::size_t bytes) -> void* {
                    if (held() + bytes > room) return nullptr;
                    ++allocations;
                    void* const slab = std::aligned_alloc(slab_alignment, bytes);
                    slabs[slab] = bytes;
                    return slab;
                },
                [this](void* slab) {
                    slabs.erase(slab);
                    std::free(slab);
                },
                [this] { return !at_work; },
                [this] {
                    if (!can_wait) return false;
                    ++waits;
                    at_work = false;
                    return true;
                }};
    }
};

const slab_sizes small_sizes{4 * mebi, 16 * mebi, 8 * mebi};

} // namespace

TEST_CASE("slabs: many small blocks are one allocation of the runtime, aligned and apart") {
    fake_device device;
    {
        slab_arena arena(device.source(), small_sizes);
        std::vector<std::uintptr_t> blocks;
        for (int i = 0; i < 100; ++i)
            blocks.push_back(reinterpret_cast<std::uintptr_t>(arena.allocate(1000)));
        CHECK(device.allocations == 1);
        std::ranges::sort(blocks);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            CHECK(blocks[i] % slab_alignment == 0);
            if (i != 0) CHECK(blocks[i] - blocks[i - 1] >= 1000);
        }
        CHECK(arena.reserved() == 4 * mebi);
        CHECK(arena.unused() == 4 * mebi - 100 * std::size_t{1024});
        for (const std::uintptr_t b : blocks) arena.deallocate(reinterpret_cast<void*>(b));
        CHECK(arena.unused() == arena.reserved());
    }
    CHECK(device.slabs.empty());
}

TEST_CASE("slabs: much freed memory is taken back by the next allocation while devices rest") {
    fake_device device;
    slab_arena arena(device.source(), small_sizes);
    void* const large = arena.allocate(3 * mebi);
    arena.deallocate(large);
    void* const small = arena.allocate(1000); // has room elsewhere, and looks
    device.at_work = true;
    void* const again = arena.allocate(3 * mebi);
    CHECK(again == large);
    CHECK(device.waits == 0);
    arena.deallocate(small);
    arena.deallocate(again);
}

TEST_CASE("slabs: freed memory is not handed out while work may still use it") {
    fake_device device;
    slab_arena arena(device.source(), small_sizes);
    void* const a = arena.allocate(mebi);
    arena.deallocate(a);
    device.at_work = true;
    void* const b = arena.allocate(mebi);
    CHECK(b != a);
    CHECK(device.waits == 0); // there was room beside it
    arena.deallocate(b);
    device.at_work = false;
    std::vector<void*> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(arena.allocate(mebi));
    CHECK(device.allocations == 1); // both came back
    CHECK(std::ranges::count(blocks, a) == 1);
    CHECK(std::ranges::count(blocks, b) == 1);
    for (void* block : blocks) arena.deallocate(block);
}

TEST_CASE("slabs: a large amount freed under work is waited for") {
    fake_device device;
    slab_arena arena(device.source(), small_sizes);
    std::vector<void*> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(arena.allocate(3 * mebi));
    for (void* block : blocks) arena.deallocate(block);
    device.at_work = true;
    const std::size_t before = arena.reserved();
    void* const again = arena.allocate(3 * mebi);
    CHECK(device.waits == 1);
    CHECK(arena.reserved() == before);
    arena.deallocate(again);
}

TEST_CASE("slabs: where memory is short, freed blocks are waited for and empty slabs given back") {
    fake_device device;
    device.room = 12 * mebi;
    slab_arena arena(device.source(), small_sizes);
    void* const large = arena.allocate(6 * mebi);
    CHECK(large != nullptr);
    CHECK(arena.allocate(7 * mebi) == nullptr);
    device.at_work = true;
    arena.deallocate(large);
    void* const other = arena.allocate(11 * mebi); // only without the slab of 6 MiB
    CHECK(other != nullptr);
    CHECK(device.waits == 1);
    arena.deallocate(other);
    device.at_work = true;
    device.can_wait = false; // as while a loop is recorded: the empty slab goes, which waits itself
    void* const last = arena.allocate(10 * mebi);
    CHECK(last != nullptr);
    arena.deallocate(last);
    CHECK(arena.allocate(std::size_t{0} - 1) == nullptr);
}

TEST_CASE("slabs: small blocks leave the slabs of large ones whole, unless memory is short") {
    fake_device device;
    device.room = 14 * mebi;
    slab_arena arena(device.source(), small_sizes);
    void* const large = arena.allocate(10 * mebi);
    arena.deallocate(large);
    void* const small = arena.allocate(100);
    CHECK(arena.allocate(10 * mebi) == large);
    arena.deallocate(large);
    std::vector<void*> more;
    for (int i = 0; i < 6; ++i) more.push_back(arena.allocate(2 * mebi));
    CHECK(std::ranges::count(more, nullptr) == 0);
    for (void* block : more) arena.deallocate(block);
    arena.deallocate(small);
}

TEST_CASE("slabs: a thousand set-ups leave memory flat, and the rest is given back") {
    fake_device device;
    device.room = 64 * mebi;
    {
        slab_arena arena(device.source(), small_sizes);
        std::size_t after_three = 0;
        for (int i = 0; i < 1000; ++i) {
            std::vector<void*> blocks;
            for (const std::size_t bytes : {std::size_t{8}, 100'000 * std::size_t{1}, 3 * mebi,
                                            9 * mebi, 700 * std::size_t{1}})
                blocks.push_back(arena.allocate(bytes));
            CHECK(std::ranges::count(blocks, nullptr) == 0);
            device.at_work = i % 2 == 0;
            for (void* block : blocks) arena.deallocate(block);
            if (i == 3) after_three = device.held();
        }
        CHECK(device.held() == after_three);
        CHECK(arena.reserved() == device.held());
        arena.trim();
        CHECK(arena.reserved() == 0);
        void* const one = arena.allocate(50 * mebi); // more than is kept empty
        arena.deallocate(one);
        CHECK(device.held() == 0);
    }
    CHECK(device.slabs.empty());
}

TEST_CASE("slabs: random allocations keep their contents") {
    fake_device device;
    device.room = 40 * mebi;
    slab_arena arena(device.source(), small_sizes);
    struct owned {
        unsigned char* at;
        std::size_t bytes;
        unsigned char mark;
    };
    std::vector<owned> live;
    std::mt19937 random(5);
    int refused = 0;
    for (int step = 0; step < 4000; ++step) {
        device.at_work = random() % 3 == 0;
        device.can_wait = random() % 4 != 0;
        if (live.size() < 40 && random() % 2 == 0) {
            const std::size_t bytes = random() % 5 == 0 ? random() % (7 * mebi) : random() % 60'000;
            auto* const at = static_cast<unsigned char*>(arena.allocate(bytes));
            if (at == nullptr) {
                ++refused;
                continue;
            }
            const auto mark = static_cast<unsigned char>(step);
            std::fill_n(at, bytes, mark);
            live.push_back({at, bytes, mark});
        } else if (!live.empty()) {
            const std::size_t which = random() % live.size();
            const owned o = live[which];
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
            CHECK(std::count(o.at, o.at + o.bytes, o.mark) == static_cast<std::ptrdiff_t>(o.bytes));
            arena.deallocate(o.at);
        }
        std::size_t used = 0;
        for (const owned& o : live)
            used += (std::max<std::size_t>(o.bytes, 1) + slab_alignment - 1) / slab_alignment *
                    slab_alignment;
        REQUIRE(arena.reserved() - arena.unused() == used);
        REQUIRE(arena.reserved() == device.held());
    }
    CHECK(refused > 0);
    for (const owned& o : live) arena.deallocate(o.at);
}

} // namespace krylith

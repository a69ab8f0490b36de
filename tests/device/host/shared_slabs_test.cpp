#include <krylith/device/host/shared_slabs.hpp>

#include <cstring>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>

using namespace krylith;

TEST_CASE("shared slabs: what is mapped elsewhere is the same memory") {
    shared_slabs slabs;
    slabs.begin();
    constexpr std::size_t bytes = 1 << 16;
    auto* const own = static_cast<char*>(slabs.allocate(bytes));
    REQUIRE(own != nullptr);
    own[100] = 1;
    const exported_piece piece = slabs.piece_of(own + 100);
    CHECK(piece.id != 0);
    CHECK(piece.begin == reinterpret_cast<std::byte*>(own));
    shared_slabs other;
    auto* const mapped = reinterpret_cast<char*>(other.map(piece));
    REQUIRE(mapped != own);
    CHECK(mapped[100] == 1);
    mapped[200] = 2;
    CHECK(own[200] == 2);

    int local = 0;
    CHECK(slabs.piece_of(&local).id == 0);
    CHECK(slabs.withdrawn().empty());
    slabs.release(own);
    CHECK(slabs.withdrawn() == std::vector<std::uint64_t>{piece.id});
    CHECK(slabs.withdrawn() == std::vector<std::uint64_t>{piece.id}); // until they are told
    slabs.told();
    CHECK(slabs.withdrawn().empty());
    auto* const next = static_cast<char*>(slabs.allocate(bytes));
    next[100] = 3;
    CHECK(mapped[100] == 0); // the range is not used again
    CHECK(slabs.piece_of(next).id != piece.id);
    other.unmap(reinterpret_cast<std::byte*>(mapped), piece);
    slabs.release(next);
}

TEST_CASE("shared slabs: one communicator at a time, and names of other files are refused") {
    shared_slabs slabs;
    slabs.begin();
    CHECK_THROWS_WITH_AS(slabs.begin(), doctest::Contains("one communicator"), usage_error);
    slabs.end();
    slabs.begin();
    void* const own = slabs.allocate(4096);
    exported_piece piece = slabs.piece_of(own);
    piece.name[20] ^= std::byte{0xff}; // of the inode
    CHECK_THROWS_WITH_AS((void)slabs.map(piece), doctest::Contains("memory of process"),
                         device_error);
    slabs.release(own);
}

TEST_CASE("shared slabs: a child of fork() takes nothing from its parent") {
    shared_slabs slabs;
    slabs.begin();
    auto* const own = static_cast<char*>(slabs.allocate(4096));
    own[0] = 7;
    const pid_t child = fork();
    if (child == 0) {
        bool refused = false;
        try {
            (void)slabs.allocate(4096);
        } catch (const usage_error&) {
            refused = true;
        }
        slabs.release(own);
        _exit(refused ? 0 : 1);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(own[0] == 7);
    slabs.release(own);
}

// Links over the communicators of a program that calls MPI itself. Each process runs all cases; one
// that fails says where, and ends them all. The argument is the path of a library
// libkrylith_link_*.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <krylith/adapters/mpi.hpp>
#include <krylith/comm/driver_link.hpp>

using namespace krylith;

namespace {

using seconds = std::chrono::duration<double>;
using clock_type = std::chrono::steady_clock;

int rank = 0;
int n = 1;

void check(bool right, int line) {
    if (right) return;
    std::fprintf(stderr, "tests/mpi/links.cpp:%d: wrong in process %d of %d\n", line, rank, n);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(condition) check((condition), __LINE__)

/// What a function throws, in words; empty where it doesn't.
template <class Error>
std::string thrown(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::vector<std::byte> bytes_of(int from, int to, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t k = 0; k < size; ++k)
        bytes[k] = static_cast<std::byte>(k * 7 + static_cast<std::size_t>(from * 31 + to * 3));
    return bytes;
}

void before_init() {
    const std::string words = thrown<usage_error>([] { (void)link_processes(MPI_COMM_WORLD); });
    CHECK(words.find("call MPI_Init_thread first") != std::string::npos);
}

void misuse() {
    CHECK(!thrown<usage_error>([] { (void)link_processes(MPI_COMM_NULL); }).empty());
    CHECK(!thrown<usage_error>([] { (void)link_processes(MPI_COMM_WORLD, 0); }).empty());
}

void all_gathers() {
    const auto link = link_processes(MPI_COMM_WORLD);
    CHECK(link->driver() == rank && link->drivers() == n);
    const auto size_of = [](std::size_t most, int k) {
        return most * static_cast<std::size_t>(k + 1) / static_cast<std::size_t>(n);
    };
    for (const std::size_t most : {0, 1, 16, 48, 49, 1000, 65536, 1000000}) {
        const auto all = link->all_gather(bytes_of(rank, 0, size_of(most, rank)));
        for (int k = 0; k < n; ++k)
            CHECK(all[static_cast<std::size_t>(k)] == bytes_of(k, 0, size_of(most, k)));
    }
}

void all_to_alls() {
    const auto link = link_processes(MPI_COMM_WORLD);
    const auto size_of = [](std::size_t most, int from, int to) {
        return (from + to) % 3 == 1 ? 0 : most * static_cast<std::size_t>(from + 2 * to + 1) / 12;
    };
    for (const std::size_t most : {0, 12, 1200, 100000, 1000000}) {
        std::vector<std::vector<std::byte>> given;
        std::vector<std::vector<std::byte>> room;
        for (int k = 0; k < n; ++k) {
            given.push_back(bytes_of(rank, k, size_of(most, rank, k)));
            room.emplace_back(size_of(most, k, rank));
        }
        const auto got = link->all_to_all(std::move(given), std::move(room));
        for (int k = 0; k < n; ++k)
            CHECK(got[static_cast<std::size_t>(k)] == bytes_of(k, rank, size_of(most, k, rank)));
    }
}

/// More links at once than a duplicate has slots, used by turns and destroyed in another order in
/// each process; then many, one after the other.
void many_links(MPI_Comm comm) {
    constexpr std::size_t at_once = 150;
    for (int round = 0; round < 2; ++round) {
        std::vector<std::shared_ptr<driver_link>> links;
        for (std::size_t k = 0; k < at_once; ++k) links.push_back(link_processes(comm));
        for (std::size_t k = 0; k < at_once; ++k) {
            const auto all =
                links[k * 7 % at_once]->all_gather(bytes_of(rank, static_cast<int>(k), 20));
            CHECK(all.back() == bytes_of(n - 1, static_cast<int>(k), 20));
        }
        std::vector<std::size_t> order(at_once);
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t k = 0; k < at_once; ++k) {
            const auto step = static_cast<std::size_t>(rank + 1) * 13 + k * k;
            std::swap(order[k], order[step % at_once]);
        }
        for (const std::size_t k : order) links[k].reset();
    }
    for (int k = 0; k < (n <= 2 ? 2000 : 300); ++k) {
        const auto link = link_processes(comm);
        if (k % 100 == 0)
            CHECK(link->all_gather(bytes_of(rank, k, 5)).back() == bytes_of(n - 1, k, 5));
    }
}

/// Communicators that are freed take their duplicates along: there are not so many at once. With
/// more processes than cores MPI takes milliseconds for each.
void freed_communicators() {
    const int times = n <= 2 ? 3000 : 20;
    for (int k = 0; k < times; ++k) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); // in the other order
        CHECK(link_processes(comm)->driver() == n - 1 - rank);
        MPI_Comm_free(&comm);
    }
}

/// Messages to the next process, posted again and again, and in the order of their posting.
void posted_messages() {
    krylith_link link = mpi::make_table(MPI_COMM_WORLD, 60);
    const auto wait = [&](void* request) {
        while (link.test(link.context, request) == KRYLITH_LINK_PENDING) std::this_thread::yield();
    };
    const int to = (rank + 1) % n;
    const int from = (rank + n - 1) % n;
    std::vector<std::uint64_t> given(10000);
    std::vector<std::uint64_t> got(given.size());
    for (std::uint64_t k = 0; k < 500; ++k) {
        const std::size_t size = k % 2 == 0 ? 16 : given.size() * sizeof given[0];
        given.front() = k * 100 + static_cast<std::uint64_t>(rank);
        void* const receive = link.receive(link.context, from, 32767, got.data(), size);
        void* const post = link.post(link.context, to, 32767, given.data(), size);
        wait(post);
        wait(receive);
        CHECK(got.front() == k * 100 + static_cast<std::uint64_t>(from));
    }
    std::vector<void*> requests;
    for (std::size_t k = 0; k < 100; ++k) {
        given[k] = k;
        requests.push_back(link.post(link.context, to, 0, &given[k], sizeof given[k]));
    }
    for (std::size_t k = 0; k < 100; ++k) {
        void* const receive = link.receive(link.context, from, 0, &got[k], sizeof got[k]);
        wait(receive);
        CHECK(got[k] == k);
    }
    for (void* const request : requests) wait(request);
    CHECK(link.post(link.context, to, 32768, given.data(), 8) == nullptr);
    CHECK(std::string(link.error(link.context)).find("32768") != std::string::npos);
    link.abort(link.context);
    link.destroy(link.context);
}

/// The last process destroys its link while the others wait for it in an allgather, and for a
/// message; what it has sent before arrives. A link that is made afterwards works.
void one_leaves() {
    if (n == 1) return;
    const int leaver = n - 1;
    const std::string words = "driver " + std::to_string(leaver) + " of the communicator has ended";
    for (const std::size_t size : {10, 1000000}) {
        auto other = link_processes(MPI_COMM_WORLD);
        auto link = link_processes(MPI_COMM_WORLD);
        (void)link->all_gather(bytes_of(rank, 0, size)); // the last that all take part in
        if (rank == leaver) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        } else {
            const auto begin = clock_type::now();
            CHECK(thrown<communication_error>([&] { (void)link->all_gather({}); }) == words);
            CHECK(seconds(clock_type::now() - begin).count() < 1);
            CHECK(thrown<communication_error>([&] { (void)link->all_gather({}); }) == words);
        }
        link.reset();
        CHECK(other->all_gather(bytes_of(rank, 9, 8)).front() == bytes_of(0, 9, 8));

        link = link_processes(MPI_COMM_WORLD);
        std::vector<std::vector<std::byte>> given(static_cast<std::size_t>(n));
        std::vector<std::vector<std::byte>> room(given.size());
        if (rank == leaver) {
            for (auto& one : given) one = bytes_of(leaver, 0, 10);
            room[static_cast<std::size_t>(leaver)].resize(10);
            (void)link->all_to_all(given, room);
            link.reset();
        } else {
            room.back().resize(10);
            CHECK(link->all_to_all(given, room).back() == bytes_of(leaver, 0, 10));
            CHECK(thrown<communication_error>([&] { (void)link->all_to_all(given, room); }) ==
                  words);
        }
    }
}

/// The first process doesn't come in time, and finds that the others have gone.
void one_is_late() {
    if (n == 1) return;
    auto link = link_processes(MPI_COMM_WORLD, 0.5);
    std::string words;
    if (rank == 0) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
    } else {
        const auto begin = clock_type::now();
        words = thrown<communication_error>([&] { (void)link->all_gather({}); });
        CHECK(words == "a driver of the communicator did not answer within 0.5 s");
        CHECK(seconds(clock_type::now() - begin).count() < 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) link.reset();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        words = thrown<communication_error>([&] { // the first may find what the other has sent
            for (int k = 0; k < 2; ++k) (void)link->all_gather({});
        });
        CHECK(words.ends_with(" of the communicator has ended"));
        link.reset();
    }
    CHECK(link_processes(MPI_COMM_WORLD)->all_gather(bytes_of(rank, 1, 100)).size() ==
          static_cast<std::size_t>(n));
}

/// A link by the library for the MPI of this program, over a communicator that is given as an
/// integer. The library knows nothing of the links that this program has made over it.
void loaded_library() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
#ifdef MPI_ABI
    const std::intptr_t integer = MPI_Comm_toint(comm);
#else
    const std::intptr_t integer = MPI_Comm_c2f(comm);
#endif
    {
        const auto own = link_processes(comm);
        const auto loaded = open_link("", integer);
        CHECK(loaded->driver() == n - 1 - rank);
        const int driver = loaded->driver();
        CHECK(loaded->all_gather(bytes_of(driver, 1, 99)).back() == bytes_of(n - 1, 1, 99));
        CHECK(own->all_gather(bytes_of(driver, 2, 99)).back() == bytes_of(n - 1, 2, 99));
        CHECK(open_link("")->driver() == rank); // MPI_COMM_WORLD
    }
    MPI_Comm_free(&comm);
}

void after_finalize(driver_link& kept) {
    CHECK(!thrown<communication_error>([&] { (void)kept.all_gather({}); }).empty());
    CHECK(!thrown<usage_error>([] { (void)link_processes(MPI_COMM_WORLD); }).empty());
}

std::shared_ptr<driver_link> destroyed_at_exit;

} // namespace

int main(int argc, char** argv) {
    before_init();
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    auto link = link_processes(MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    misuse();
    all_gathers();
    all_to_alls();
    many_links(MPI_COMM_WORLD);
    freed_communicators();
    posted_messages();
    one_leaves();
    loaded_library();
    one_is_late();
    destroyed_at_exit = std::move(link);
    (void)destroyed_at_exit->all_gather({});
    const auto begin = clock_type::now();
    MPI_Finalize();
    if (seconds(clock_type::now() - begin).count() > 3) return 1;
    after_finalize(*destroyed_at_exit);
    return 0;
}

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/local/each_rank.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/group_driver.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/tests/comm/drivers.hpp>

using namespace krylith;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

std::vector<device_group> three_groups() {
    return {device_group::host(2, {.host_threads = 2}), device_group::host(1, {.host_threads = 1}),
            device_group::host(3, {.host_threads = 3})};
}

/// The class and words of an exception.
std::string described(const std::exception_ptr& failure) {
    if (!failure) return "nothing";
    try {
        std::rethrow_exception(failure);
    } catch (const memory_error& e) {
        return std::string("memory: ") + e.what();
    } catch (const device_error& e) {
        return std::string("device: ") + e.what();
    } catch (const input_error& e) {
        return std::string("input: ") + e.what();
    } catch (const usage_error& e) {
        return std::string("usage: ") + e.what();
    } catch (const interrupted_error& e) {
        return std::string("interrupted: ") + e.what();
    } catch (const communication_error& e) {
        return std::string("communication: ") + e.what();
    } catch (const std::exception& e) {
        return std::string("other: ") + e.what();
    }
}

} // namespace

TEST_CASE("communicator: of one group all ranks are local") {
    const communicator comm = device_group::host(3);
    CHECK(comm.has_one_driver());
    CHECK(comm.ranks() == 3);
    CHECK(comm.first_local() == 0);
    CHECK(comm.local().size() == 3);
    CHECK(comm.is_local(2));
    CHECK_FALSE(comm.is_local(3));
    std::vector<int> numbers{4, 5, 6};
    comm.all_gather(numbers);
    CHECK(numbers == std::vector{4, 5, 6});
    CHECK(comm.together([] { return 7; }) == 7);
    CHECK_THROWS_AS(comm.together([] { throw input_error("x"); }), input_error);
    CHECK(communicator(comm.devices()) == comm);
    CHECK(communicator(device_group::host(3)) != comm);
}

TEST_CASE("communicator: the ranks of drivers follow one another") {
    expect_none(with_drivers(three_groups(), [](const communicator& comm) {
        const int first = comm.first_local();
        const int size = comm.devices().size();
        REQUIRE(comm.ranks() == 6);
        REQUIRE(first == (size == 2 ? 0 : size == 1 ? 2 : 3));
        REQUIRE(comm.description(2) == "host:0, 1 thread");
        REQUIRE(comm.path(0, 5) == peer_path::direct);
        REQUIRE(comm.concurrent());

        auto squares = by_rank(comm, [](int rank) { return rank * rank; });
        comm.all_gather(squares);
        REQUIRE(squares == std::vector{0, 1, 4, 9, 16, 25});

        std::vector<std::vector<std::int64_t>> lists(6);
        for (const int rank : comm.local())
            lists[static_cast<std::size_t>(rank)].assign(static_cast<std::size_t>(rank % 4), rank);
        comm.all_gather_lists(lists);
        for (std::size_t rank = 0; rank < 6; ++rank)
            REQUIRE(lists[rank] == std::vector<std::int64_t>(rank % 4, std::int64_t(rank)));

        std::vector<addressed_list<char>> mail;
        for (const int rank : comm.local())
            for (int to = 0; to < 6; to += 2)
                mail.push_back({rank, to, std::vector<char>(static_cast<std::size_t>(to), 'a')});
        const auto got = comm.deliver(std::move(mail));
        std::size_t expected = 0;
        for (const int rank : comm.local()) expected += rank % 2 == 0 ? 6u : 0u;
        REQUIRE(got.size() == expected);
        for (const auto& list : got)
            REQUIRE((comm.is_local(list.to) && list.items.size() == std::size_t(list.to)));
        REQUIRE(comm.any(size == 1));
        REQUIRE_FALSE(comm.any(false));
    }));
}

TEST_CASE("communicator: join() and order() hold across drivers") {
    expect_none(with_drivers(three_groups(), [](const communicator& comm) {
        auto own = by_rank(comm, [&](int rank) {
            buffer<int> place(comm.handle(rank), 6, "test");
            place.zero();
            return place;
        });
        const auto data =
            by_rank(comm, [&](int rank) { return own[static_cast<std::size_t>(rank)].data(); });
        const std::vector<int*> places = comm.addresses(std::span(data));
        for (int round = 1; round < 20; ++round) {
            comm.join(); // nobody reads the places any more
            for (const int rank : comm.local()) {
                const buffer<int> number(comm.handle(rank), std::vector{100 * round + rank},
                                         "test");
                for (int to = 0; to < comm.ranks(); ++to)
                    comm.copy(rank, number.data(), to, places[static_cast<std::size_t>(to)] + rank,
                              sizeof(int));
            }
            if (round % 2 == 0) {
                comm.join();
            } else {
                std::vector<rank_order> pairs;
                for (int a = 0; a < 6; ++a)
                    for (int b = 0; b < 6; ++b)
                        if (a != b) pairs.push_back({a, b});
                comm.order(pairs);
            }
            for (const int rank : comm.local()) {
                const auto found = own[static_cast<std::size_t>(rank)].download();
                for (int from = 0; from < 6; ++from)
                    REQUIRE(found[static_cast<std::size_t>(from)] == 100 * round + from);
            }
        }
        comm.synchronize_all();
    }));
}

TEST_CASE("communicator: a failure of one driver is that of all") {
    const auto failing_at = [](int place, const auto& fail) {
        return with_drivers(three_groups(), [&](const communicator& comm) {
            const auto work = [&] {
                std::vector<int> numbers(6);
                for (int step = 0; step < 5; ++step) {
                    if (step == place && comm.is_local(2)) fail();
                    comm.all_gather(numbers);
                    comm.join();
                }
                if (place == 5 && comm.is_local(2)) fail();
            };
            for (int time = 0; time < 2; ++time) {
                std::exception_ptr thrown;
                try {
                    comm.together([&] { comm.together(work); });
                } catch (...) {
                    thrown = std::current_exception();
                }
                if (time == 1 && thrown) std::rethrow_exception(thrown);
            }
        });
    };
    for (const int place : {0, 3, 5}) {
        for (const auto& one : failing_at(place, [] { throw input_error("row 7"); }))
            CHECK(described(one) == "input: row 7");
        for (const auto& one : failing_at(place, [] { throw memory_error("full"); }))
            CHECK(described(one) == "memory: full");
        for (const auto& one : failing_at(place, [] { throw std::bad_alloc(); }))
            CHECK(described(one).substr(0, 5) != "nothi");
        for (const auto& one : failing_at(place, [] { throw interrupted_error("stop"); }))
            CHECK(described(one) == "interrupted: stop");
    }
}

TEST_CASE("communicator: the first of several failures counts, a missing answer last") {
    const auto thrown = with_drivers(three_groups(), [](const communicator& comm) {
        comm.together([&] {
            if (comm.is_local(0)) throw communication_error("rank 2 did not answer");
            if (comm.is_local(2)) throw device_error("lost");
            throw usage_error("later");
        });
    });
    for (const auto& one : thrown) CHECK(described(one) == "device: lost");
}

TEST_CASE(
    "communicator: what is under way when a failure was agreed on inside does not spoil the next") {
    for (const bool outside : {false, true}) {
        const auto thrown = with_drivers({device_group::host(1), device_group::host(1)},
                                         [&](const communicator& comm) {
                                             const auto fail = [&] {
                                                 if (comm.is_local(0)) throw memory_error("real");
                                             };
                                             std::exception_ptr failure;
                                             try {
                                                 comm.together([&] {
                                                     const settled_on_failure settled(comm);
                                                     if (outside) fail();
                                                     comm.together([&] {
                                                         fail();
                                                         (void)comm.any(false);
                                                     });
                                                 });
                                             } catch (...) {
                                                 failure = std::current_exception();
                                             }
                                             REQUIRE(comm.any(comm.is_local(1)));
                                             REQUIRE(comm.together([&] { return comm.any(true); }));
                                             std::rethrow_exception(failure);
                                         });
        for (const auto& one : thrown) CHECK(described(one) == "memory: real");
    }
}

TEST_CASE("communicator: drivers that do different things are told so") {
    const auto thrown =
        with_drivers({device_group::host(1), device_group::host(1)}, [](const communicator& comm) {
            std::vector<int> numbers(2);
            std::vector<double> others(2);
            comm.is_local(0) ? comm.all_gather(numbers) : comm.all_gather(others);
        });
    for (const auto& one : thrown)
        CHECK(described(one).find("call different functions") != std::string::npos);
}

TEST_CASE("communicator: a driver that has ended is missed by the others") {
    const auto thrown = with_drivers(three_groups(), [](const communicator& comm) {
        if (comm.is_local(0)) return;
        comm.together([&] { comm.join(); });
    });
    CHECK_FALSE(thrown[0]);
    CHECK(described(thrown[1]) == "communication: driver 0 of the communicator has ended");
    CHECK(described(thrown[2]) == described(thrown[1]));
}

TEST_CASE("communicator: a driver that doesn't come is given up") {
    const auto thrown = with_drivers(
        {device_group::host(1), device_group::host(1)},
        [](const communicator& comm) {
            if (comm.is_local(0)) {
                std::this_thread::sleep_for(std::chrono::milliseconds(300));
                return comm.join();
            }
            comm.join();
        },
        0.05);
    for (const auto& one : thrown)
        CHECK(described(one) ==
              "communication: a driver of the communicator did not answer within 0.05 s");
}

TEST_CASE("communicator: what can't be joined is refused by all") {
    const auto thrown =
        with_drivers({device_group::host(33), device_group::host(32)}, [](const communicator&) {});
    for (const auto& one : thrown)
        CHECK(described(one) == "usage: a communicator has 1 to 64 ranks, not 65");
    CHECK_THROWS_AS((void)link_threads(0), usage_error);
}

TEST_CASE("communicator: some ranks of one driver are a group of their devices") {
    const communicator comm = device_group::host(4);
    const communicator some = comm.sub(std::vector{1, 3});
    CHECK(some.ranks() == 2);
    CHECK(some.has_one_driver());
    CHECK(some.handle(1) == comm.handle(3));
    CHECK(some == comm.sub(std::vector{1, 3}));
    CHECK(some != comm.sub(std::vector{1, 2}));
    CHECK(comm.sub(std::vector{2}) == comm.alone(2));
    CHECK(comm.sub(std::vector{0, 1, 2, 3}) == comm);
    for (const std::vector<int>& wrong :
         std::vector<std::vector<int>>{{}, {1, 1}, {2, 1}, {4}, {-1}})
        CHECK_THROWS_WITH_AS((void)comm.sub(wrong), doctest::Contains("ranks 0 to 3"), usage_error);
    const communicator staged = device_group::host(3, {.staged = true});
    CHECK_FALSE(staged.sub(std::vector{0, 2}).concurrent());
    CHECK(staged.sub(std::vector{2}).concurrent());
}

TEST_CASE("communicator: some ranks of several drivers, which all have it") {
    expect_none(with_drivers(three_groups(), [](const communicator& comm) {
        const communicator some = comm.sub(std::vector{1, 4, 5}); // none of the second driver
        const bool none = comm.is_local(2);
        REQUIRE(some.ranks() == 3);
        REQUIRE(some.local().size() == (none ? 0 : comm.is_local(0) ? 1 : 2));
        REQUIRE_FALSE(some.has_one_driver());
        REQUIRE(some.kind() == backend::host);
        REQUIRE(some.description(1) == comm.description(4));
        REQUIRE(some.path(0, 2) == peer_path::direct);
        REQUIRE(some.concurrent());
        REQUIRE(some == comm.sub(std::vector{1, 4, 5}));
        REQUIRE(some != comm.sub(std::vector{1, 3, 5}));
        REQUIRE(some != comm);
        for (const int rank : some.local())
            REQUIRE(some.handle(rank) == comm.handle(rank == 0 ? 1 : 3 + rank));
        if (none) {
            REQUIRE_THROWS_WITH_AS((void)some.first_local(), doctest::Contains("none of the ranks"),
                                   usage_error);
            REQUIRE_THROWS_WITH_AS(group_driver(some.devices()), doctest::Contains("none of them"),
                                   usage_error);
            on_each_rank(some, [](int) { FAIL("there is no rank"); });
        }

        auto squares = by_rank(some, [](int rank) { return 1 + rank * rank; });
        some.all_gather(squares);
        REQUIRE(squares == std::vector{1, 2, 5});
        auto lists = by_rank(some, [](int rank) { return std::vector<char>(rank % 2, 'a'); });
        some.all_gather_lists(lists);
        REQUIRE(lists == std::vector<std::vector<char>>{{}, {'a'}, {}});
        REQUIRE(some.any(none));
        REQUIRE(some.any(some.is_local(2)));
        REQUIRE_FALSE(some.any(false));
        std::vector<addressed_list<char>> mail;
        for (const int rank : some.local()) mail.push_back({rank, 2 - rank, {'b'}});
        REQUIRE(some.deliver(std::move(mail)).size() == some.local().size());
        const communicator last = some.sub(std::vector{1}); // 4 of all
        REQUIRE(last == comm.sub(std::vector{4}));
        REQUIRE(last.ranks() == 1);
        std::vector<int> one{last.is_local(0) ? 7 : 0};
        last.all_gather(one);
        REQUIRE(one.front() == 7);

        const auto own = by_rank(some, [&](int rank) {
            return buffer<int>(some.handle(rank), std::vector{rank, 0}, "test");
        });
        const auto data =
            by_rank(some, [&](int rank) { return own[static_cast<std::size_t>(rank)].data(); });
        const std::vector<int*> places = some.addresses(std::span(data));
        some.join();
        if (some.is_local(2)) some.copy(2, places[2], 0, places.front() + 1, sizeof(int));
        some.join();
        if (some.is_local(0)) REQUIRE(own.front().download() == std::vector{0, 2});
        some.synchronize_all();
    }));
}

TEST_CASE("communicator: failures inside some of the ranks are those of all drivers") {
    // Which rank's driver fails, and whether it is in a function of some ranks or of all.
    for (const int fails : {0, 2, 3})
        for (const bool inside : {false, true}) {
            CAPTURE(fails);
            CAPTURE(inside);
            const auto thrown = with_drivers(three_groups(), [&](const communicator& comm) {
                const communicator some = comm.sub(std::vector{0, 1}); // the first driver's
                std::exception_ptr failure;
                try {
                    comm.together([&] {
                        const settled_on_failure settled(some);
                        if (comm.is_local(fails) && !inside) throw memory_error("full");
                        some.together([&] {
                            (void)some.any(true);
                            if (comm.is_local(fails)) throw memory_error("full");
                            // Others are in functions of all, of some ranks or of another one.
                            if (comm.is_local(0)) some.join();
                            if (comm.is_local(2)) (void)comm.any(false);
                            if (comm.is_local(3)) comm.sub(std::vector{5}).synchronize_all();
                        });
                    });
                } catch (...) {
                    failure = std::current_exception();
                }
                REQUIRE(some.any(comm.is_local(fails)));
                REQUIRE(comm.together([&] { return some.together([&] { return 4; }); }) == 4);
                std::rethrow_exception(failure);
            });
            for (const auto& one : thrown) CHECK(described(one) == "memory: full");
        }
}

TEST_CASE("communicator: a failure in some of the ranks waits for all devices of a driver") {
    std::atomic<int> done = 0;
    const auto thrown = with_drivers(
        {device_group::host(2, {.host_threads = 2}), device_group::host(1, {.host_threads = 1})},
        [&](const communicator& comm) {
            const communicator first = comm.sub(std::vector{0});
            if (comm.is_local(1))
                static_cast<host_device&>(comm[1]).submit([&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds(50));
                    ++done;
                });
            try {
                first.together([&] {
                    if (comm.is_local(2)) throw input_error("row 3");
                    first.join();
                });
            } catch (...) {
                REQUIRE(done == 1);
                throw;
            }
        });
    for (const auto& one : thrown) CHECK(described(one) == "input: row 3");
}

TEST_CASE("communicator: words are restored after a failure, whoever had it") {
    expect_none(with_drivers(three_groups(), [](const communicator& comm) {
        const communicator some = comm.sub(std::vector{0, 5});
        int restored = 0;
        const auto of_all = comm.when_restored([&] { ++restored; });
        const auto of_some = some.when_restored([&] { restored += 10; });
        comm.restore();
        some.restore();
        REQUIRE(restored == 0);
        REQUIRE_THROWS_AS(some.together([&] { throw input_error("x"); }), input_error);
        comm.restore();
        REQUIRE(restored == 11);
        some.restore();
        REQUIRE(restored == 11);
    }));
}

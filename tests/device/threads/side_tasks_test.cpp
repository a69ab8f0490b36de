// Tasks beside the caller: their order, what fails, and what is left when nobody waits.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/device/threads/side_tasks.hpp>

namespace krylith {

namespace {

void wait_until(const std::atomic<bool>& there) {
    while (!there.load()) std::this_thread::yield();
}

} // namespace

TEST_CASE("side tasks: one after the other, in their order") {
    for (const bool beside : {false, true}) {
        CAPTURE(beside);
        std::vector<int> done; // no lock: wait() orders
        side_tasks tasks(beside);
        for (int i = 0; i < 100; ++i) tasks.add([&done, i] { done.push_back(i); });
        tasks.wait();
        CHECK(done.size() == 100);
        for (int i = 0; i < static_cast<int>(done.size()); ++i)
            CHECK(done[static_cast<std::size_t>(i)] == i);
        tasks.add([&done] { done.clear(); });
        tasks.wait();
        CHECK(done.empty());
    }
}

TEST_CASE("side tasks: the caller goes on meanwhile") {
    std::atomic<bool> gone_on = false;
    side_tasks tasks(true);
    tasks.add([&] { wait_until(gone_on); });
    gone_on = true; // never reached if add() waited
    tasks.wait();
}

TEST_CASE("side tasks: without a thread one thing comes after the other") {
    const auto caller = std::this_thread::get_id();
    std::thread::id ran;
    side_tasks tasks(false);
    tasks.add([&] { ran = std::this_thread::get_id(); });
    CHECK(ran == caller);
}

TEST_CASE("side tasks: the first failure ends the queue, and is thrown once") {
    std::atomic<bool> added = false;
    bool reached = false;
    side_tasks tasks(true);
    tasks.add([&] {
        wait_until(added);
        throw std::runtime_error("the first");
    });
    tasks.add([&] { reached = true; });
    added = true;
    CHECK_THROWS_WITH_AS(tasks.wait(), "the first", std::runtime_error);
    CHECK_FALSE(reached);
    CHECK_NOTHROW(tasks.wait());
    tasks.add([&] { reached = true; });
    tasks.wait();
    CHECK(reached);
}

TEST_CASE("side tasks: a failure where add() runs the task comes from add()") {
    side_tasks tasks(false);
    CHECK_THROWS_AS(tasks.add([] { throw std::runtime_error("at once"); }), std::runtime_error);
    CHECK_NOTHROW(tasks.wait());
}

TEST_CASE("side tasks: the end waits for the task that runs, and drops the others") {
    std::atomic<bool> running = false;
    bool over = false;
    bool reached = false;
    {
        side_tasks tasks(true);
        tasks.add([&] {
            running = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            over = true;
        });
        wait_until(running);
        tasks.add([&] { reached = true; });
    }
    CHECK(over);
    CHECK_FALSE(reached);
}

TEST_CASE("side tasks: ranks work side by side in task and caller") {
    const auto group = device_group::host(3);
    std::vector<int> there(3);
    std::vector<int> here(3);
    side_tasks tasks(true);
    tasks.add([&] {
        on_each_rank(group, [&](int rank) { there[static_cast<std::size_t>(rank)] = rank + 1; });
    });
    on_each_rank(group, [&](int rank) { here[static_cast<std::size_t>(rank)] = rank + 1; });
    tasks.wait();
    CHECK(there == std::vector{1, 2, 3});
    CHECK(here == there);
}

} // namespace krylith

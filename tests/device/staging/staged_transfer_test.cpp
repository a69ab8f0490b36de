// Staged transfers: whatever the sizes, the wires and the threads, each byte arrives once, no slot
// is touched while a copy reads or writes it, and a device that fails ends the transfer.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <omp.h>

#include <krylith/device/error.hpp>
#include <krylith/device/staging/staged_transfer.hpp>

namespace krylith {

namespace {

using bytes = std::vector<std::byte>;

bytes random_bytes(std::size_t count, int seed) {
    bytes result(count);
    std::uint64_t state = static_cast<std::uint64_t>(seed) * 2654435761U + 1;
    for (std::byte& b : result) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        b = static_cast<std::byte>(state >> 56);
    }
    return result;
}

/// A wire whose copies are made by a thread, late: whoever does not wait for them is found out.
class slow_wire final : public staging_wire {
public:
    slow_wire(int slots, std::size_t slot_bytes)
        : memory_(static_cast<std::size_t>(slots) * slot_bytes),
          slot_bytes_(slot_bytes),
          busy_(static_cast<std::size_t>(slots), 0),
          worker_([this] { work(); }) {}
    slow_wire(const slow_wire&) = delete;
    slow_wire& operator=(const slow_wire&) = delete;
    ~slow_wire() override {
        {
            const std::lock_guard lock(lock_);
            over_ = true;
        }
        news_.notify_all();
        worker_.join();
    }

    int slots() const noexcept override { return static_cast<int>(busy_.size()); }
    std::size_t slot_bytes() const noexcept override { return slot_bytes_; }
    std::byte* slot(int number) const noexcept override {
        return const_cast<std::byte*>(memory_.data()) +
               static_cast<std::size_t>(number) * slot_bytes_;
    }
    void send(int number, void* to, std::size_t count) override {
        give(number, [=, from = slot(number)] { std::memcpy(to, from, count); });
    }
    void fetch(int number, const void* from, std::size_t count) override {
        give(number, [=, to = slot(number)] { std::memcpy(to, from, count); });
    }
    bool idle(int number) override {
        const std::lock_guard lock(lock_);
        if (fails_after_ >= 0 && done_ >= fails_after_) throw device_error("the wire is cut");
        return busy_[static_cast<std::size_t>(number)] == 0;
    }
    void wait() {
        std::unique_lock lock(lock_);
        news_.wait(lock, [&] { return tasks_.empty() && !working_; });
    }
    void fail_after(int copies) { fails_after_ = copies; }
    int copies() {
        const std::lock_guard lock(lock_);
        return done_;
    }

private:
    void give(int number, std::function<void()> copy) {
        const std::lock_guard lock(lock_);
        ++busy_[static_cast<std::size_t>(number)];
        tasks_.emplace_back(number, std::move(copy));
        news_.notify_all();
    }
    void work() {
        for (;;) {
            std::unique_lock lock(lock_);
            news_.wait(lock, [&] { return over_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            const auto [number, copy] = tasks_.front();
            tasks_.pop_front();
            working_ = true;
            lock.unlock();
            std::this_thread::sleep_for(std::chrono::microseconds(30));
            copy();
            lock.lock();
            working_ = false;
            ++done_;
            --busy_[static_cast<std::size_t>(number)];
            news_.notify_all();
        }
    }

    bytes memory_;
    std::size_t slot_bytes_;
    std::mutex lock_;
    std::condition_variable news_;
    std::deque<std::pair<int, std::function<void()>>> tasks_;
    std::vector<int> busy_;
    int done_ = 0;
    int fails_after_ = -1;
    bool working_ = false;
    bool over_ = false;
    std::thread worker_;
};

staged_request upload_of(slow_wire& wire, bytes& device, const bytes& host) {
    return {&wire, device.data(), host.size(),
            [&host](std::byte* staging, std::size_t first, std::size_t count) {
                std::memcpy(staging, host.data() + first, count);
            }};
}

staged_request download_of(slow_wire& wire, bytes& device, bytes& host) {
    return {&wire, device.data(), host.size(),
            [&host](const std::byte* staging, std::size_t first, std::size_t count) {
                std::memcpy(host.data() + first, staging, count);
            }};
}

constexpr std::size_t one_slot = 3 * staged_piece + 64; // the last piece of a slot is short

} // namespace

TEST_CASE("staged transfers: sizes around pieces, slots and rings, by 1 to 5 threads") {
    slow_wire wire(3, one_slot);
    for (const int threads : {1, 2, 5})
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{1}, staged_piece - 1, staged_piece, staged_piece + 1,
              one_slot - 1, one_slot, one_slot + 1, 3 * one_slot, 3 * one_slot + 7,
              11 * one_slot}) {
            CAPTURE(threads);
            CAPTURE(size);
            const bytes host = random_bytes(size, threads);
            bytes device(size);
            const staged_request up = upload_of(wire, device, host);
            staged_upload({&up, 1}, threads);
            wire.wait();
            CHECK(device == host);
            bytes back(size);
            const staged_request down = download_of(wire, device, back);
            staged_download({&down, 1}, threads);
            CHECK(back == host); // without a wait: all is there when it returns
        }
}

TEST_CASE("staged transfers: host memory may be reused, though slots are still on their way") {
    slow_wire wire(4, one_slot);
    bytes device(6 * one_slot);
    bytes host = random_bytes(device.size(), 1);
    const bytes first = host;
    const staged_request up = upload_of(wire, device, host);
    staged_upload({&up, 1}, 2);
    std::fill(host.begin(), host.end(), std::byte{0});
    wire.wait();
    CHECK(device == first);
    bytes other(one_slot); // the next transfer waits for the slots that it takes
    const bytes second = random_bytes(other.size(), 2);
    const staged_request more[] = {upload_of(wire, device, first), upload_of(wire, other, second)};
    staged_upload(more, 2);
    wire.wait();
    CHECK(device == first);
    CHECK(other == second);
}

TEST_CASE("staged transfers: several wires with slots of different sizes, several requests each") {
    slow_wire a(2, one_slot), b(4, staged_piece), c(3, 2 * staged_piece + 8);
    slow_wire* const wires[] = {&a, &b, &c};
    std::vector<bytes> host;
    std::vector<bytes> device;
    for (int i = 0; i < 9; ++i) {
        const std::size_t size = static_cast<std::size_t>(i * i) * 37'003 % 900'000;
        host.push_back(random_bytes(size, i));
        device.emplace_back(size);
    }
    for (const int threads : {1, 4}) {
        std::vector<staged_request> up;
        for (std::size_t i = 0; i < 9; ++i)
            up.push_back(upload_of(*wires[i * 7 % 3], device[i], host[i]));
        staged_upload(up, threads);
        for (slow_wire* wire : wires) wire->wait();
        CHECK(device == host);
        std::vector<bytes> back;
        for (const bytes& h : host) back.emplace_back(h.size());
        std::vector<staged_request> down;
        for (std::size_t i = 0; i < 9; ++i)
            down.push_back(download_of(*wires[i % 3], device[i], back[i]));
        staged_download(down, threads);
        CHECK(back == host);
        for (bytes& d : device) std::fill(d.begin(), d.end(), std::byte{7});
    }
}

TEST_CASE("staged transfers: a failure of a device ends them, and threads do not hang") {
    for (const int threads : {1, 4})
        for (const int copies : {0, 1, 5}) {
            slow_wire good(2, one_slot), bad(2, one_slot);
            bytes device(20 * one_slot), other(20 * one_slot);
            const bytes host = random_bytes(device.size(), 3);
            bad.fail_after(copies);
            const staged_request up[] = {upload_of(good, other, host),
                                         upload_of(bad, device, host)};
            CHECK_THROWS_WITH_AS(staged_upload(up, threads), "the wire is cut", device_error);
            bytes back(device.size());
            const staged_request down[] = {download_of(bad, device, back)};
            CHECK_THROWS_WITH_AS(staged_download(down, threads), "the wire is cut", device_error);
            good.wait();
            bad.wait();
            CHECK(bad.copies() < 20);
        }
}

TEST_CASE("staged transfers: threads are as many a link as asked for, cores and OpenMP willing") {
    CHECK(staging_threads(1, 1) == 1);
    for (const std::size_t links : {std::size_t{1}, std::size_t{4}})
        for (const int a_link : {2, 8}) {
            CHECK(staging_threads(links, a_link) >= 1);
            CHECK(staging_threads(links, a_link) <= static_cast<int>(links) * a_link);
            CHECK(staging_threads(links, a_link) <= omp_get_max_threads());
        }
    int members = 0;
    int inside = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        members = omp_get_num_threads();
        inside = staging_threads(4, 8);
    }
    if (members > 1) CHECK(inside == 1);
}

} // namespace krylith

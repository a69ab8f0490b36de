#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <future>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith {

namespace {

/// Blocks the queue of a device until it is opened.
class gate {
public:
    explicit gate(host_device& device) {
        device.submit([opened = opened_.get_future().share()] { opened.wait(); });
    }
    gate(const gate&) = delete;
    gate& operator=(const gate&) = delete;
    ~gate() { open(); }
    void open() {
        if (!is_open_) opened_.set_value();
        is_open_ = true;
    }

private:
    std::promise<void> opened_;
    bool is_open_ = false;
};

/// The message of the device_error that `action` throws, or "" where it throws none.
template <class Action>
std::string message_of(const Action& action) {
    try {
        action();
    } catch (const device_error& e) {
        return e.what();
    }
    return {};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a host device runs tasks in the order given") {
    host_device device(0, 1);
    std::vector<int> seen;
    for (int i = 0; i < 1000; ++i) device.submit([&seen, i] { seen.push_back(i); });
    device.synchronize();
    std::vector<int> expected(1000);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(seen == expected);
}

TEST_CASE("a host device runs beside the host and beside other devices") {
    host_device a(0, 1);
    host_device b(1, 1);
    std::promise<void> from_b;
    std::promise<void> from_host;
    int value = 0;
    // This ends only if all three run at once.
    a.submit([&] {
        from_b.get_future().wait();
        from_host.get_future().wait();
        value = 1;
    });
    b.submit([&] { from_b.set_value(); });
    from_host.set_value();
    a.synchronize();
    CHECK(value == 1);
}

TEST_CASE("an idle host device uses no processor time") {
    host_device device(0, 1);
    device.synchronize();
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    CHECK(seconds < 0.05);
}

TEST_CASE("host events order two devices and the host") {
    host_device a(0, 1);
    host_device b(1, 1);
    int value = 0; // unprotected: ThreadSanitizer sees a missing order
    for (int round = 0; round < 50; ++round) {
        a.submit([&] { value += 1; });
        const auto done = a.record();
        b.wait(*done);
        b.submit([&] { value *= 2; });
        const auto back = b.record();
        a.wait(*back);
        back->wait();
        if (round % 10 == 0) value = 0;
    }
    a.synchronize();
    b.synchronize();
    int expected = 0;
    for (int round = 0; round < 50; ++round) {
        expected = (expected + 1) * 2;
        if (round % 10 == 0) expected = 0;
    }
    CHECK(value == expected);
}

TEST_CASE("a host event outlives its device, and waits for nothing later") {
    std::shared_ptr<event> done;
    {
        host_device device(0, 1);
        done = device.record();
        const gate closed(device);
        done->wait();
    }
    done->wait();
}

TEST_CASE("a failed task is reported once, as device_error, and later ones are skipped") {
    host_device device(3, 1);
    bool ran = false;
    device.submit([] { throw std::runtime_error("out of coffee"); });
    device.submit([&] { ran = true; });

    SUBCASE("by synchronize") {
        const std::string message = message_of([&] { device.synchronize(); });
        CHECK(contains(message, "host:3"));
        CHECK(contains(message, "out of coffee"));
    }
    SUBCASE("by download") {
        int unused = 0;
        CHECK_THROWS_AS(device.download(&unused, &unused, sizeof unused), device_error);
    }
    SUBCASE("by an event, when what depends on the failure has been skipped") {
        const auto done = device.record();
        CHECK_THROWS_AS(done->wait(), device_error);
    }
    SUBCASE("and not by an upload, which is skipped too") {
        std::vector<int> large(1 << 16, 7);
        std::vector<int> target(large.size(), 0);
        device.upload(target.data(), large.data(), large.size() * sizeof(int));
        CHECK_THROWS_AS(device.synchronize(), device_error);
        CHECK(target.front() == 0);
    }
    CHECK_FALSE(ran);

    device.submit([&] { ran = true; });
    device.synchronize();
    CHECK(ran);
}

TEST_CASE("an event from before the failure does not report it") {
    host_device device(0, 1);
    const auto before = device.record();
    device.submit([] { throw device_error("later"); });
    before->wait();
    CHECK(message_of([&] { device.synchronize(); }) == "later");
}

TEST_CASE("a device that waits for a failed one fails too") {
    host_device a(0, 1);
    host_device b(1, 1);
    bool ran = false;
    a.submit([] { throw device_error("a broke"); });
    b.wait(*a.record());
    b.submit([&] { ran = true; });
    CHECK(message_of([&] { b.synchronize(); }) == "a broke");
    CHECK(message_of([&] { a.synchronize(); }) == "a broke");
    CHECK_FALSE(ran);
    a.synchronize();
    b.synchronize();
}

TEST_CASE("the destructor of a host device runs what was given") {
    int count = 0;
    {
        host_device device(0, 1);
        for (int i = 0; i < 100; ++i) device.submit([&] { ++count; });
    }
    CHECK(count == 100);
}

TEST_CASE("the source of an upload may be reused at once") {
    const auto device = std::make_shared<host_device>(0, 2);
    for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{300'000}}) {
        CAPTURE(size);
        std::vector<std::int64_t> source(size, 1);
        buffer<std::int64_t> target(device, source, "vectors");
        std::int64_t earlier = 0;
        // Work given before the upload must see the old contents.
        device->submit([&, p = target.data()] { earlier = p[size - 1]; });
        std::fill(source.begin(), source.end(), 2);
        target.upload(source);
        std::fill(source.begin(), source.end(), 3);
        CHECK(target.download() == std::vector<std::int64_t>(size, 2));
        CHECK(earlier == 1);
    }
}

TEST_CASE("copy and zero keep their place in the order") {
    const auto device = std::make_shared<host_device>(0, 3);
    const std::size_t size = 100'001;
    std::vector<double> values(size);
    std::iota(values.begin(), values.end(), 1.0);
    buffer<double> a(device, values, "vectors");
    buffer<double> b(device, size, "vectors");
    b.zero();
    CHECK(b.download() == std::vector<double>(size, 0.0));
    device->copy(b.data(), a.data(), size * sizeof(double));
    a.zero();
    CHECK(b.download() == values);
    CHECK(a.download() == std::vector<double>(size, 0.0));
}

TEST_CASE("host memory is aligned, accounted, and freed after the tasks that use it") {
    const auto device = std::make_shared<host_device>(0, 1);
    double seen = 0;
    {
        buffer<double> a(device, 1000, "matrix");
        buffer<double> b(device, 1 << 20, "vectors");
        CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 256 == 0);
        CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 256 == 0);
        CHECK(device->ledger().items().at("matrix") == 8000);
        CHECK(device->ledger().live() == 8000 + (std::size_t{8} << 20));
        const gate closed(*device);
        a.upload(std::vector<double>(1000, 5.0));
        device->submit([&seen, p = a.data()] { seen = p[999]; });
    }
    device->synchronize();
    CHECK(seen == 5.0);
    CHECK(device->ledger().live() == 0);
    CHECK(device->ledger().items().empty());
}

TEST_CASE("memory is given back although a task has failed") {
    const auto device = std::make_shared<host_device>(0, 1);
    {
        const buffer<double> a(device, 1000, "vectors"); // LeakSanitizer checks it
        device->submit([] { throw device_error("broken"); });
    }
    CHECK_THROWS_AS(device->synchronize(), device_error);
    CHECK(device->ledger().live() == 0);
}

TEST_CASE("an allocation that can't be met names what, how much, and what there is") {
    host_device device(2, 1);
    for (const std::size_t bytes :
         {std::size_t{1} << 50, std::numeric_limits<std::size_t>::max() - 5}) {
        const std::string message = message_of([&] { (void)device.allocate(bytes, "basis"); });
        CAPTURE(message);
        CHECK(contains(message, "host:2"));
        CHECK(contains(message, "basis"));
        CHECK(contains(message, std::to_string(bytes)));
        CHECK(contains(message, "free"));
    }
    CHECK(device.ledger().live() == 0);
    CHECK(device.free_bytes() > 0);
    void* small = device.allocate(64, "basis");
    device.deallocate(small, 64, "basis");
}

TEST_CASE("a host loop repeats its body until the condition is false") {
    host_device device(0, 1);
    const auto loop = device.make_loop();
    auto* const again = reinterpret_cast<bool*>(static_cast<std::uintptr_t>(loop->condition()));
    int trips = 0;
    int other = 0;
    loop->begin_recording();
    device.submit([&] { ++trips; });
    device.submit([&, again] {
        ++other;
        *again = trips % 7 != 0;
    });
    loop->end_recording();
    device.synchronize();
    CHECK(trips == 0);

    loop->launch();
    device.submit([&] { other += 100; });
    device.synchronize();
    CHECK(trips == 7);
    CHECK(other == 107);

    loop->launch();
    loop->launch();
    device.synchronize();
    CHECK(trips == 21);
}

TEST_CASE("a host loop may be destroyed while it runs") {
    host_device device(0, 1);
    int trips = 0;
    {
        gate closed(device);
        const auto loop = device.make_loop();
        auto* const again = reinterpret_cast<bool*>(static_cast<std::uintptr_t>(loop->condition()));
        loop->begin_recording();
        device.submit([&, again] { *again = ++trips < 5; });
        loop->end_recording();
        loop->launch();
    }
    device.synchronize();
    CHECK(trips == 5);
}

TEST_CASE("what a recording can't contain is refused by name") {
    host_device device(0, 1);
    const auto loop = device.make_loop();
    CHECK_THROWS_AS(loop->end_recording(), usage_error);
    int value = 0;
    loop->begin_recording();
    CHECK_THROWS_AS(device.upload(&value, &value, sizeof value), usage_error);
    CHECK_THROWS_AS(device.download(&value, &value, sizeof value), usage_error);
    CHECK_THROWS_AS((void)device.record(), usage_error);
    CHECK_THROWS_AS(device.synchronize(), usage_error);
    CHECK_THROWS_AS(loop->launch(), usage_error);
    CHECK_THROWS_AS(device.make_loop()->begin_recording(), usage_error);
    loop->end_recording();
    device.synchronize();
}

TEST_CASE("a failure inside a loop ends the loop") {
    host_device device(0, 1);
    const auto loop = device.make_loop();
    int trips = 0;
    loop->begin_recording();
    device.submit([&] {
        if (++trips == 3) throw device_error("third trip");
    });
    loop->end_recording();
    loop->launch();
    CHECK(message_of([&] { device.synchronize(); }) == "third trip");
    CHECK(trips == 3);
}

TEST_CASE("a host device describes itself and refuses an empty team") {
    const host_device one(0, 1);
    const host_device two(1, 2);
    CHECK(one.description() == "host:0, 1 thread");
    CHECK(two.description() == "host:1, 2 threads");
    CHECK(two.threads() == 2);
    CHECK(two.ordinal() == 1);
    CHECK(two.kind() == backend::host);
    CHECK_THROWS_AS(host_device(0, 0), usage_error);
}

TEST_CASE("several host threads may give tasks to one device") {
    host_device device(0, 1);
    int count = 0;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (int i = 0; i < 250; ++i) device.submit([&] { ++count; });
            });
    }
    device.synchronize();
    CHECK(count == 1000);
}

} // namespace krylith

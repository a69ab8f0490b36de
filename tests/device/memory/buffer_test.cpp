// Buffers own memory of a device, and the ledger knows all of it by purpose.
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith {

KRYLITH_GROUP_TEST("buffers: what is uploaded comes back, and is aligned") {
    for (int rank = 0; rank < group.size(); ++rank)
        for (const std::size_t n : {std::size_t{1}, std::size_t{3}, std::size_t{100'000}}) {
            std::vector<double> values(n);
            for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i) + rank;
            buffer<double> b(group.handle(rank), std::span<const double>(values), "test");
            CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 256 == 0);
            CHECK(b.download() == values);
            buffer<double> other(group.handle(rank), n, "test");
            group[rank].copy(other.data(), b.data(), n * sizeof(double));
            b.zero();
            CHECK(other.download() == values);
            CHECK(b.download() == std::vector<double>(n));
        }
}

KRYLITH_GROUP_TEST("buffers: the source of an upload may be reused at once") {
    constexpr std::size_t n = 20'000;
    buffer<int> b(group.handle(0), n, "test");
    buffer<int> seen(group.handle(0), n, "test");
    std::vector<int> source(n, 1);
    b.upload(source);
    group[0].copy(seen.data(), b.data(), n * sizeof(int));
    source.assign(n, 2);
    b.upload(source);
    source.assign(n, 3);
    CHECK(seen.download() == std::vector<int>(n, 1));
    CHECK(b.download() == std::vector<int>(n, 2));
}

KRYLITH_GROUP_TEST("buffers: the ledger counts live bytes by purpose, moves included") {
    device& d = group[0];
    const std::size_t before = d.ledger().live();
    {
        buffer<double> a(group.handle(0), 10, "first");
        buffer<char> b(group.handle(0), 7, "second");
        buffer<char> c(group.handle(0), 1, "second");
        CHECK(d.ledger().live() == before + 88);
        const auto items = d.ledger().items();
        CHECK(items.at("first") == 80);
        CHECK(items.at("second") == 8);

        buffer<double> moved = std::move(a);
        CHECK(a.data() == nullptr); // NOLINT(bugprone-use-after-move): defined to be empty
        CHECK(moved.size() == 10);
        CHECK(d.ledger().live() == before + 88);
        b = std::move(c);
        CHECK(d.ledger().live() == before + 81);
        buffer<char>& self = b;
        b = std::move(self);
        CHECK(b.size() == 1);
        CHECK(d.ledger().live() == before + 81);
    }
    CHECK(d.ledger().live() == before);
    CHECK(d.ledger().items().count("first") == 0);
    CHECK(d.ledger().peak() >= before + 88);
}

KRYLITH_GROUP_TEST("buffers: no elements, no memory, and nothing to copy") {
    const std::size_t before = group[0].ledger().live();
    buffer<int> none(group.handle(0), 0, "nothing");
    CHECK(none.data() == nullptr);
    none.upload({});
    none.zero();
    CHECK(none.download().empty());
    CHECK(buffer<int>().download().empty());
    CHECK(group[0].ledger().live() == before);
    CHECK(group[0].ledger().items().count("nothing") == 0);
}

KRYLITH_GROUP_TEST("buffers: a failed allocation names the item and leaves the device usable") {
    const std::size_t before = group[0].ledger().live();
    constexpr std::size_t huge = std::size_t{1} << 50;
    std::string message;
    try {
        const buffer<char> b(group.handle(0), huge, "a petabyte");
    } catch (const device_error& e) {
        message = e.what();
    }
    CHECK(message.find("a petabyte") != std::string::npos);
    CHECK(message.find(std::to_string(huge)) != std::string::npos);
    CHECK(group[0].ledger().live() == before);
    const buffer<int> b(group.handle(0), std::span<const int>(std::vector<int>{5}), "after");
    CHECK(b.download() == std::vector<int>{5});
}

KRYLITH_GROUP_TEST("buffers: one keeps its device alive") {
    (void)group;
    buffer<int> b;
    {
        const auto own = group.kind() == backend::host ? device_group::host(1)
                                                       : device_group::cuda(std::vector<int>{0});
        b = buffer<int>(own.handle(0), std::span<const int>(std::vector<int>{1, 2}), "test");
    }
    CHECK(b.download() == std::vector<int>{1, 2});
}

} // namespace krylith

// Transfers between host memory and devices: small ones and large ones, aligned or not, to one
// device or to several side by side.
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/device/numa.hpp>
#include <krylith/device/transport/transfers.hpp>

#include <krylith/tests/device/slabs.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

using testing::mebi;

namespace {

/// Bytes that tell where they stand.
std::vector<unsigned char> pattern(std::size_t count, std::size_t seed) {
    std::vector<unsigned char> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<unsigned char>((i * 31 + i / 251 + seed * 17) % 253);
    return values;
}

} // namespace

KRYLITH_GROUP_TEST("transfers: sizes around the thresholds and slots, at odd addresses") {
    for (const std::size_t size : {std::size_t{1}, mebi / 2 - 1, mebi / 2, mebi / 2 + 1,
                                   2 * mebi + 3, 16 * mebi - 1, 16 * mebi + 5, 35 * mebi + 11}) {
        CAPTURE(size);
        const auto host = pattern(size + 3, size);
        buffer<unsigned char> there(group.handle(0), size + 5, "test");
        for (const std::size_t shift : {std::size_t{0}, std::size_t{3}}) {
            there.zero();
            group[0].upload(there.data() + shift, host.data() + shift, size);
            std::vector<unsigned char> back(size + 6, 9);
            group[0].download(back.data() + 1, there.data() + shift, size);
            CHECK(std::memcmp(back.data() + 1, host.data() + shift, size) == 0);
            CHECK(back[0] == 9);
            CHECK(back[size + 1] == 9);
            unsigned char beyond = 1;
            group[0].download(&beyond, there.data() + shift + size, 1);
            CHECK(beyond == 0);
        }
    }
}

KRYLITH_GROUP_TEST("transfers: several devices and several requests, large, small and empty") {
    const auto p = static_cast<std::size_t>(group.size());
    const std::size_t sizes[] = {3 * mebi + 1, 0, 100, 2 * mebi};
    std::vector<std::vector<unsigned char>> host;
    std::vector<buffer<unsigned char>> there;
    std::vector<upload_request> up;
    for (std::size_t i = 0; i < 4 * p; ++i) {
        const int rank = static_cast<int>(i % p);
        host.push_back(pattern(sizes[i % 4], i));
        there.emplace_back(group.handle(rank), host.back().size(), "test");
        up.push_back({&group[rank], there.back().data(), host.back().data(), host.back().size()});
    }
    upload_together(up);
    const auto sent = host;
    for (auto& h : host) h.assign(h.size(), 1); // it may be reused
    std::vector<std::vector<unsigned char>> back;
    std::vector<download_request> down;
    for (std::size_t i = 0; i < 4 * p; ++i) {
        back.emplace_back(sent[i].size());
        down.push_back({up[i].device, back.back().data(), up[i].to, up[i].bytes});
    }
    download_together(down);
    CHECK(back == sent);
    upload_together({});
    download_together({});
}

KRYLITH_GROUP_TEST("transfers: bytes that a function writes, and that a function takes") {
    for (const std::size_t count : {std::size_t{5}, std::size_t{1'000'003}}) {
        std::vector<double> host(count);
        std::iota(host.begin(), host.end(), 1.0);
        std::vector<buffer<double>> there;
        std::vector<upload_request> up;
        std::vector<download_request> down;
        std::vector<std::vector<double>> back(static_cast<std::size_t>(group.size()));
        for (int rank = 0; rank < group.size(); ++rank) {
            there.emplace_back(group.handle(rank), count, "test");
            up.push_back({&group[rank], there.back().data(), nullptr, count * sizeof(double),
                          [&](std::byte* piece, std::size_t first, std::size_t bytes) {
                              const std::size_t begin = first / sizeof(double);
                              auto* const to = reinterpret_cast<double*>(piece);
                              for (std::size_t i = 0; i < bytes / sizeof(double); ++i)
                                  to[i] = host[count - 1 - begin - i];
                          }});
            auto& result = back[static_cast<std::size_t>(rank)];
            result.resize(count);
            down.push_back({&group[rank], nullptr, there.back().data(), count * sizeof(double),
                            [&](const std::byte* piece, std::size_t first, std::size_t bytes) {
                                const std::size_t begin = first / sizeof(double);
                                const auto* const from = reinterpret_cast<const double*>(piece);
                                for (std::size_t i = 0; i < bytes / sizeof(double); ++i)
                                    result[count - 1 - begin - i] = from[i];
                            }});
        }
        upload_together(up);
        for (const auto& b : there) CHECK(b.download().front() == static_cast<double>(count));
        download_together(down);
        for (const auto& result : back) CHECK(result == host);
    }
}

KRYLITH_GROUP_TEST("transfers: they keep their place in the order of the stream") {
    const std::size_t size = 5 * mebi;
    const auto first = pattern(size, 1);
    const auto second = pattern(size, 2);
    buffer<unsigned char> there(group.handle(0), size, "test");
    buffer<unsigned char> copy(group.handle(0), size, "test");
    std::vector<unsigned char> host = first;
    there.upload(host);
    group[0].copy(copy.data(), there.data(), size);
    host = second;
    there.upload(host);
    host.assign(size, 3);
    CHECK(copy.download() == first);
    CHECK(there.download() == second);
}

KRYLITH_GROUP_TEST("transfers: pinned memory, beside pageable memory of the same devices") {
    const std::size_t size = 3 * mebi + 17;
    const numa_topology nodes = find_numa_topology(group);
    const auto pageable = pattern(size, 1);
    const auto expected = pattern(size, 2);
    const node_memory pinned(nodes, 0, size, group.handle(0));
    std::memcpy(pinned.data(), expected.data(), size);
    std::vector<buffer<unsigned char>> there;
    std::vector<upload_request> up;
    for (int rank = 0; rank < group.size(); ++rank)
        for (const void* from :
             {static_cast<const void*>(pageable.data()), static_cast<const void*>(pinned.data())}) {
            there.emplace_back(group.handle(rank), size, "test");
            up.push_back({&group[rank], there.back().data(), from, size});
        }
    upload_together(up);
    std::memset(pinned.data(), 0, size); // it may be reused
    for (std::size_t i = 0; i < there.size(); ++i)
        CHECK(there[i].download() == (i % 2 == 0 ? pageable : expected));
    const download_request down{&group[0], pinned.data(), there[1].data(), size};
    download_together({&down, 1});
    CHECK(std::memcmp(pinned.data(), expected.data(), size) == 0);
}

} // namespace krylith

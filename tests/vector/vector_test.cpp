// Distributed vectors: to and from host memory, borrowed arrays, sizes that do not fit.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/partition/ordering/reordering.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::copies_agree;
using testing::make_layout;
using testing::random_values;
using testing::values_of;

KRYLITH_GROUP_TEST("vectors: up, down, zero; every device has what it should") {
    for (const auto kind : {coherence::owned, coherence::replicated})
        for (const std::int64_t n : {0, 1, 3, 1000}) {
            const auto device = make_layout(group, n, kind);
            vector<double> v(device);
            CHECK(v.size() == n);
            CHECK(values_of(v) == std::vector<double>(static_cast<std::size_t>(n)));
            const auto values = random_values<double>(n, 4);
            v.upload(values);
            CHECK(values_of(v) == values);
            CHECK(copies_agree(v));
            std::vector<double> wrong(static_cast<std::size_t>(n) + 1);
            CHECK_THROWS_AS(v.upload(wrong), usage_error);
            CHECK_THROWS_AS(v.download(wrong), usage_error);
            vector<double> moved = std::move(v);
            CHECK(values_of(moved) == values);
            moved.zero();
            CHECK(values_of(moved) == std::vector<double>(static_cast<std::size_t>(n)));
            CHECK(copies_agree(moved));
        }
}

// 40,000 entries go through the runtime or a queue, 700,000 through staging memory where a rank has
// enough of them.
KRYLITH_GROUP_TEST("vectors: another order of rows lies on the devices, and nowhere else") {
    for (const auto kind : {coherence::owned, coherence::replicated})
        for (const std::int32_t n : {1, 40'000, 700'001}) {
            auto order = std::make_shared<permutation>();
            const auto size = static_cast<std::size_t>(n);
            order->source.resize(size);
            order->place.resize(size);
            for (std::int32_t i = 0; i < n; ++i) { // 7919 has no divisor in common with any n here
                const auto from = static_cast<std::int32_t>(std::int64_t{7919} * i % n);
                order->source[static_cast<std::size_t>(i)] = from;
                order->place[static_cast<std::size_t>(from)] = i;
            }
            check(*order);
            const auto plain = make_layout(group, n, kind);
            const auto device = std::make_shared<layout>(layout{group, plain->rows, kind, order});
            vector<double> v(device);
            const auto values = random_values<double>(n, 4);
            v.upload(values);
            CHECK(values_of(v) == values);
            for (int rank = 0; rank < group.size(); ++rank) {
                std::vector<double> there(static_cast<std::size_t>(device->held(rank)));
                if (there.empty()) continue;
                group[rank].download(there.data(), v.data(rank), there.size() * sizeof(double));
                const auto first = device->rows.owned(rank).begin - device->first_owned(rank);
                std::int64_t wrong = 0;
                for (std::size_t i = 0; i < there.size(); ++i)
                    wrong += there[i] != values[static_cast<std::size_t>(
                                             order->source[static_cast<std::size_t>(first) + i])];
                CHECK(wrong == 0);
            }
        }
}

KRYLITH_GROUP_TEST("vectors: borrowed arrays are used in place and not freed") {
    const auto device = make_layout(group, 100, coherence::owned);
    std::vector<buffer<float>> arrays;
    std::vector<float*> parts;
    for (int rank = 0; rank < group.size(); ++rank) {
        const std::vector<float> values(static_cast<std::size_t>(device->held(rank)), 1.5F);
        arrays.emplace_back(group.handle(rank), std::span<const float>(values), "simulation");
        parts.push_back(arrays.back().data());
    }
    const std::size_t before = group[0].ledger().live();
    {
        auto v = vector<float>::borrow(device, parts);
        CHECK(group[0].ledger().live() == before);
        CHECK(values_of(v) == std::vector<float>(100, 1.5F));
        execution run(group, {});
        scalar two(run);
        two = 2.0;
        fused(run, v = two * v);
        run.flush();
        group.synchronize();
        v.zero();
        fused(run, v = two * v);
    }
    for (const auto& array : arrays)
        CHECK(array.download() == std::vector<float>(array.size(), 0.0F));
    parts.pop_back();
    CHECK_THROWS_AS((void)vector<float>::borrow(device, parts), usage_error);
    parts.push_back(nullptr);
    CHECK_THROWS_AS((void)vector<float>::borrow(device, parts), usage_error);
    const auto empty = make_layout(group, 0, coherence::owned);
    parts.assign(parts.size(), nullptr);
    CHECK(vector<float>::borrow(empty, parts).size() == 0);
}

// Each owner counts its rows once, although all devices hold all entries.
KRYLITH_GROUP_TEST("vectors: dots of replicated vectors count every row once") {
    const auto device = make_layout(group, 1234, coherence::replicated);
    vector<double> v(device);
    testing::fill(v, 1.0);
    execution run(group, {});
    scalar rr(run), twice(run);
    fused(run, rr = dot(v, v), twice = dot(v, v));
    CHECK(run.get(rr.number()) == 1234);
    CHECK(run.get(twice.number()) == 1234);
}

// Scalars cross the devices in rank order: the same bits on every run and every device.
KRYLITH_GROUP_TEST("vectors: dots have the same bits every time") {
    const auto device = make_layout(group, 5000, coherence::owned);
    const auto x = testing::make_range_vector(device, random_values<double>(5000, 1));
    const auto y = testing::make_range_vector(device, random_values<double>(5000, 2));
    execution run(group, {});
    scalar xy(run);
    fused(run, xy = dot(x, y));
    const double first = run.get(xy.number());
    int different = 0;
    for (int i = 0; i < 20; ++i) {
        fused(run, xy = dot(x, y));
        different += run.get(xy.number()) != first;
    }
    CHECK(different == 0);
}

} // namespace krylith

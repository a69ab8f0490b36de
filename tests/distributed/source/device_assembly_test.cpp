// Coordinates sorted on a CUDA device give the pattern and the groups that coo_assembly gives.
#include <krylith/config.hpp>

#if KRYLITH_HAVE_CUDA

#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/distributed/source/device_assembly.hpp>
#include <krylith/matrix/coo_assembly.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

namespace {

struct entries {
    std::int64_t rows;
    std::int64_t columns;
    std::vector<std::int32_t> row_indices;
    std::vector<std::int32_t> column_indices;
};

entries random_entries(std::int64_t rows, std::int64_t columns, int count, int left_out,
                       std::uint64_t seed) {
    testing::random_numbers random(seed);
    entries e{rows, columns, {}, {}};
    for (int k = 0; k < count; ++k) {
        e.row_indices.push_back(random.below(static_cast<int>(rows)));
        e.column_indices.push_back(random.below(static_cast<int>(columns)));
        if (random.below(100) < left_out) e.row_indices.back() = -1 - k;
        if (random.below(100) < left_out) e.column_indices.back() = -1;
    }
    return e;
}

std::vector<std::int32_t> narrowed(std::span<const std::int64_t> wide) {
    return {wide.begin(), wide.end()};
}

/// The device's rows begin with row `first` of the matrix.
void check_assembly(const std::shared_ptr<device>& device, const entries& e, std::int32_t first) {
    const coo_assembly expected(e.rows, e.columns, std::span(e.row_indices),
                                std::span(e.column_indices));
    auto moved = e.row_indices;
    for (std::int32_t& row : moved) row += row < 0 ? 0 : first;
    const buffer<std::int32_t> rows(device, std::span<const std::int32_t>(moved), "test");
    const buffer<std::int32_t> columns(device, std::span<const std::int32_t>(e.column_indices),
                                       "test");
    const auto count = static_cast<std::int64_t>(moved.size());
    const auto made = cuda::assemble_there(device, rows.data(), columns.data(), count,
                                           {first, first + e.rows}, e.columns);
    REQUIRE(made.has_value());
    const auto offsets = made->offsets.download();
    CHECK(std::vector(expected.row_offsets().begin(), expected.row_offsets().end()) == offsets);
    CHECK(std::vector(expected.column_indices().begin(), expected.column_indices().end()) ==
          made->columns.download());
    CHECK(narrowed(expected.order()) == made->order.download());
    CHECK(narrowed(expected.first()) == made->first.download());
}

} // namespace

TEST_CASE("coordinates on a device: the assembly is that of the host [cuda]") {
    const auto device = testing::cuda_groups().front().handle(0);
    check_assembly(device, {5, 5, {}, {}}, 0);
    check_assembly(device, {3, 2, {-1, 0, -7}, {1, -1, 0}}, 4); // all are left out
    check_assembly(device, {4, 4, {3, 0, 2, 0}, {1, 3, 2, 0}}, 0);
    for (const int left_out : {0, 20}) {
        CAPTURE(left_out);
        check_assembly(device, random_entries(50, 40, 3000, left_out, 1), 0); // duplicates
        check_assembly(device, random_entries(3000, 1'000'000, 4000, left_out, 2), 17);
        check_assembly(device, random_entries(1, 1, 700, left_out, 3), 1000);
        check_assembly(device, random_entries(30'000, 5, 900, left_out, 4), 0); // rows without any
    }
}

TEST_CASE("coordinates on a device: entries out of range are found [cuda]") {
    const auto device = testing::cuda_groups().front().handle(0);
    const entries good = random_entries(50, 40, 1000, 0, 5);
    const auto is_valid = [&](const entries& e) {
        const buffer<std::int32_t> rows(device, std::span<const std::int32_t>(e.row_indices),
                                        "test");
        const buffer<std::int32_t> columns(device, std::span<const std::int32_t>(e.column_indices),
                                           "test");
        return cuda::assemble_there(device, rows.data(), columns.data(),
                                    static_cast<std::int64_t>(e.row_indices.size()), {0, 50}, 40)
            .has_value();
    };
    CHECK(is_valid(good));
    for (const std::size_t at : {0u, 500u, 999u}) {
        entries bad = good;
        bad.row_indices[at] = 50;
        CHECK_FALSE(is_valid(bad));
        bad = good;
        bad.column_indices[at] = 40;
        CHECK_FALSE(is_valid(bad));
    }
}

} // namespace krylith

#endif

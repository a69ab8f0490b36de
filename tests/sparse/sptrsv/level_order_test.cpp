// Keys that rows are sorted by, and the order by level that a CUDA device finds.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/config.hpp>
#include <krylith/sparse/sptrsv/level_slices.hpp>

#if KRYLITH_HAVE_CUDA
#include <krylith/sparse/device_csr.hpp>
#include <krylith/sparse/sptrsv/level_order.hpp>
#endif

#include <krylith/tests/sparse/sptrsv/triangular_cases.hpp>
#include <krylith/tests/spmspv/one_device.hpp>

namespace krylith {

TEST_CASE("level keys: a length rides on top, and changes no order") {
    const auto highest = static_cast<std::int32_t>(level_key::most_levels - 1);
    for (const std::int32_t level : {0, 1, 765, highest})
        for (const std::int32_t length : {0, 1, 8, 9, 24, 25, 128, 129, 100000}) {
            CAPTURE(level);
            CAPTURE(length);
            const std::uint32_t plain = level_key::of(level, length, false);
            const std::uint32_t key = level_key::of(level, length, true);
            CHECK(level_key::sorted(key, true) == plain);
            CHECK(level_key::sorted(plain, false) == plain);
            CHECK(level_key::level(key, true) == static_cast<std::uint32_t>(level));
            CHECK(level_key::number(key) == length_class::of(length));
            if (level_key::number(key) < 2) CHECK(level_key::length(key) == length);
        }
    for (const std::int32_t level : {0, 1, 765, highest})
        for (const std::int32_t length : {0, 9, level_key::most_short}) {
            const std::uint32_t key = level_key::short_row(level, length);
            CHECK(level_key::level(key, true) == static_cast<std::uint32_t>(level));
            CHECK(level_key::length(key) == length);
            CHECK(length_class::lanes(level_key::number(key)) == 1);
        }
    // One more level needs the bits of the lengths.
    CHECK(level_key::level(level_key::of(highest + 1, 3, false), false) ==
          static_cast<std::uint32_t>(level_key::most_levels));
}

#if KRYLITH_HAVE_CUDA

namespace {

/// The level of each row, counted from 0, and its strict entries.
struct plain_levels {
    std::vector<std::int32_t> levels;
    std::vector<std::int32_t> lengths;

    plain_levels(const csr_matrix<double>& a, bool upper)
        : levels(static_cast<std::size_t>(a.rows)), lengths(levels.size()) {
        for (std::int64_t step = 0; step < a.rows; ++step) {
            const std::int64_t row = upper ? a.rows - 1 - step : step;
            const auto i = static_cast<std::size_t>(row);
            for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                const std::int64_t other = a.column_indices[static_cast<std::size_t>(k)];
                if (upper ? other <= row : other >= row) continue;
                ++lengths[i];
                levels[i] = std::max(levels[i], levels[static_cast<std::size_t>(other)] + 1);
            }
        }
    }
};

/// Rows that wait for `width` others, no two of which are neighbours.
csr_matrix<double> crowded_rows(std::int64_t rows, std::int64_t width) {
    csr_matrix<double> a;
    a.rows = a.columns = rows;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t k = width; k > 0; --k)
            if (i - 3 * k >= 0) a.column_indices.push_back(static_cast<std::int32_t>(i - 3 * k));
        a.column_indices.push_back(static_cast<std::int32_t>(i));
        a.row_offsets.push_back(static_cast<std::int64_t>(a.column_indices.size()));
    }
    a.values.assign(a.column_indices.size(), 1.0);
    return a;
}

} // namespace

TEST_CASE("level order on a device: rows by level, with few and with many that they wait for "
          "[cuda]") {
    const auto device = testing::cuda_groups().front().handle(0);
    auto cases = testing::triangular_cases();
    cases.push_back({"four awaited rows", "the last that can be listed", crowded_rows(700, 4)});
    cases.push_back({"five awaited rows", "the first that can't", crowded_rows(700, 5)});
    cases.push_back(
        {"a chain longer than one lane takes", "a chain that is cut", testing::chain(1000, 1)});
    for (const testing::triangular_case& c : cases) {
        if (c.matrix.rows == 0) continue;
        CAPTURE(c.name);
        const device_csr<double> a(device, c.matrix);
        for (const bool upper : {false, true}) {
            CAPTURE(upper);
            const plain_levels expected(c.matrix, upper);
            const auto view = a.view();
            const cuda::level_order found = cuda::order_by_level(
                device,
                triangle_source<double>{view.rows, view.offsets, view.indices, view.values, upper});
            const auto keys = found.keys.download();
            const auto order = found.order.download();
            REQUIRE(keys.size() == expected.levels.size());
            CHECK(found.carries_lengths);
            CHECK(cuda::count_levels(device,
                                     triangle_source<double>{view.rows, view.offsets, view.indices,
                                                             view.values, upper}) == found.levels);
            for (std::size_t place = 0; place < keys.size(); ++place) {
                const auto row = found.natural ? place : static_cast<std::size_t>(order[place]);
                CHECK(keys[place] ==
                      level_key::of(expected.levels[row], expected.lengths[row], true));
                if (place == 0) continue;
                CHECK(level_key::sorted(keys[place - 1], true) <=
                      level_key::sorted(keys[place], true));
            }
        }
    }
}

TEST_CASE("level order on a device: ranges that are not coupled within, sorted in windows [cuda]") {
    const auto device = testing::cuda_groups().front().handle(0);
    // Three ranges; rows of the last two have 0 to 6 entries in the ranges before.
    const std::vector<std::int64_t> ranges = {0, 700, 701, 1500};
    csr_matrix<double> matrix{1500, 1500, {0}, {}, {}};
    for (std::int64_t i = 0; i < 1500; ++i) {
        const std::int64_t below = i < 700 ? 0 : i < 701 ? 700 : 701;
        for (std::int64_t j = 0; below != 0 && j < i % 7; ++j)
            matrix.column_indices.push_back(static_cast<std::int32_t>((i * 31 + j * 97) % below));
        matrix.column_indices.push_back(static_cast<std::int32_t>(i));
        matrix.row_offsets.push_back(static_cast<std::int64_t>(matrix.column_indices.size()));
    }
    matrix.values.assign(matrix.column_indices.size(), 1.0);
    const device_csr<double> a(device, matrix);
    const auto view = a.view();
    const auto source = [&](bool upper) {
        return triangle_source<double>{view.rows, view.offsets, view.indices, view.values, upper};
    };
    const auto found = cuda::order_by_ranges(device, source(false), ranges);
    REQUIRE(found.has_value());
    CHECK(found->levels == 3);
    const plain_levels expected(matrix, false);
    const auto keys = found->keys.download();
    const auto order = found->order.download();
    std::vector<char> seen(keys.size());
    for (std::size_t place = 0; place < keys.size(); ++place) {
        const auto row = static_cast<std::size_t>(order[place]);
        seen[row] = 1;
        CHECK(row / 256 == place / 256); // of one window
        const std::int32_t range = row < 700 ? 0 : row < 701 ? 1 : 2;
        CHECK(keys[place] == level_key::short_row(range, expected.lengths[row]));
        if (place % 256 != 0)
            CHECK((level_key::level(keys[place - 1], true) < level_key::level(keys[place], true) ||
                   level_key::length(keys[place - 1]) <= level_key::length(keys[place])));
    }
    CHECK(std::count(seen.begin(), seen.end(), 1) == 1500);

    // The upper triangle has no entries: ranges from the last to the first.
    const auto mirrored = cuda::order_by_ranges(device, source(true), ranges);
    REQUIRE(mirrored.has_value());
    const auto from_last = mirrored->order.download();
    CHECK(from_last.front() == 701);
    CHECK(from_last[799] == 700);
    CHECK(from_last[800] == 0);
    CHECK(from_last.back() == 699);
    // Rows that refer to rows of their own range, and a list that is not true of the matrix.
    CHECK_FALSE(cuda::order_by_ranges(device, source(false), {0, 1500}).has_value());
    CHECK_FALSE(cuda::order_by_ranges(device, source(false), {0, 650, 1500}).has_value());
}

#endif

} // namespace krylith

// What CUDA devices make of a pattern is what the host makes of it, bit for bit: the lengths of
// rows, the slices of SELL, and the tiles of CSR.
#include <krylith/config.hpp>

#if KRYLITH_HAVE_CUDA

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/pattern/csr_tiles.hpp>
#include <krylith/sparse/sell/device_sell.hpp>
#include <krylith/sparse/sell/sell_columns.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/patterns.hpp>

namespace krylith {

using testing::doubled;
using testing::pattern;
using testing::random_pattern;
using testing::shuffled;
using testing::stencil;

namespace {

/// Rows of `length` entries, with every 100th of `longer`.
pattern uneven(std::int64_t rows, int length, int longer, int columns) {
    pattern p;
    for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<std::int32_t> entries(
            static_cast<std::size_t>(row % 100 == 7 ? longer : length));
        for (std::size_t k = 0; k < entries.size(); ++k)
            entries[k] =
                static_cast<std::int32_t>((row * 7 + static_cast<std::int64_t>(k) * 3) % columns);
        p.add_row(entries);
    }
    return p;
}

std::vector<std::pair<std::string, pattern>> device_sell_patterns() {
    std::vector<std::pair<std::string, pattern>> result;
    for (const auto& entry : testing::battery())
        result.emplace_back(entry.name,
                            pattern{entry.matrix.row_offsets, entry.matrix.column_indices});
    result.emplace_back("no row", pattern{});
    result.emplace_back("a row without entries", random_pattern(1, 0, 1, 1));
    result.emplace_back("rows without entries", random_pattern(1500, 0, 1, 1));
    result.emplace_back("one row", random_pattern(1, 9, 1 << 30, 2));
    for (const int line : {5, 31, 32, 33, 64})
        for (const int points : {7, 27})
            result.emplace_back("a stencil", stencil(points, line, 19, 8));
    const pattern near = random_pattern(5000, 9, 60000, 3);
    const pattern far = random_pattern(5000, 9, 1 << 30, 4);
    result.emplace_back("narrow", near);
    result.emplace_back("wide", far);
    for (const pattern& p : {near, far, stencil(27, 31, 6, 5), stencil(7, 64, 40, 4)}) {
        result.emplace_back("shuffled", shuffled(p, 5));
        result.emplace_back("doubled", doubled(p));
        result.emplace_back("shuffled and doubled", shuffled(doubled(p), 6));
    }
    const pattern blocks = testing::triples_of(random_pattern(2000, 9, 15000, 7));
    result.emplace_back("triples", blocks);
    result.emplace_back("triples of a stencil", testing::triples_of(stencil(27, 13, 6, 5)));
    pattern few = near;
    for (std::int64_t row = 0; row < 640; ++row)
        few.add_row({static_cast<std::int32_t>(row / 3 * 3),
                     static_cast<std::int32_t>(row / 3 * 3 + 1),
                     static_cast<std::int32_t>(row / 3 * 3 + 2)});
    result.emplace_back("few triples", few);
    result.emplace_back("tiles of all sizes", uneven(20000, 3, 1800, 5000));
    result.emplace_back("single rows as tiles", uneven(6000, 1000, 1793, 100'000));
    result.emplace_back("short rows", uneven(70000, 1, 2, 70000));
    return result;
}

/// The pattern on a device.
struct there {
    buffer<std::int64_t> offsets;
    buffer<std::int32_t> columns;

    there(const std::shared_ptr<device>& device, const pattern& p)
        : offsets(device, std::span<const std::int64_t>(p.offsets), "test"),
          columns(device, std::span<const std::int32_t>(p.indices), "test") {}
};

template <class V>
bool equal(const buffer<V>& made, const std::vector<V>& expected) {
    return made.download() == expected;
}

} // namespace

TEST_CASE("patterns on a device: lengths, slices and tiles are those of the host [cuda]") {
    const auto device = testing::cuda_groups().front().handle(0);
    for (const auto& named : device_sell_patterns()) {
        const pattern& p = named.second;
        CAPTURE(named.first);
        CAPTURE(p.rows());
        const there on_device(device, p);
        const auto [lengths, descends] =
            cuda::measure_lengths(device, on_device.offsets.data(), p.rows());
        CHECK_FALSE(descends);
        REQUIRE(lengths == measure_lengths(p.offsets));
        const device_sell made = cuda::make_device_sell(
            device, {on_device.offsets.data(), on_device.columns.data(), nullptr, lengths});
        const sell_layout layout = make_sell_layout(p.offsets);
        const sell_columns columns = make_sell_columns(layout, p.offsets, p.indices);
        CHECK(equal(made.rows, layout.rows));
        CHECK(equal(made.heads, columns.heads));
        CHECK(equal(made.steps, columns.steps));
        CHECK(equal(made.stored, columns.stored));
        CHECK(made.slice_columns * slice_rows == layout.entries());
        CHECK(made.bytes(8) == sell_bytes(layout, columns.heads, 8));
        CHECK(equal(cuda::make_csr_tiles(device, on_device.offsets.data(), p.rows()),
                    make_csr_tiles(p.offsets)));
    }
}

TEST_CASE("patterns on a device: offsets that descend are found [cuda]") {
    const auto device = testing::cuda_groups().front().handle(0);
    for (const std::int64_t bad : {1, 31, 32, 4000, 4999}) {
        CAPTURE(bad);
        pattern p = stencil(7, 50, 10, 10);
        REQUIRE(p.rows() == 5000);
        p.offsets[static_cast<std::size_t>(bad)] = p.offsets[static_cast<std::size_t>(bad + 1)] + 1;
        const there on_device(device, p);
        CHECK(cuda::measure_lengths(device, on_device.offsets.data(), p.rows()).descends);
    }
}

} // namespace krylith

#endif

// What CUDA devices make of a pattern in CSR5 is what the host makes of it, bit for bit.
#include <krylith/config.hpp>

#if KRYLITH_HAVE_CUDA

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/csr5/device_csr5.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/patterns.hpp>

namespace krylith {

using testing::pattern;
using testing::random_pattern;
using testing::stencil;

namespace {

/// Rows of the lengths, with columns that tell entries apart.
pattern pattern_with_lengths(const std::vector<std::int64_t>& lengths) {
    pattern p;
    std::int32_t next = 0;
    for (const std::int64_t length : lengths) {
        std::vector<std::int32_t> entries(static_cast<std::size_t>(length));
        for (auto& entry : entries) entry = next++;
        p.add_row(entries);
    }
    return p;
}

std::vector<std::pair<std::string, pattern>> csr5_patterns() {
    std::vector<std::pair<std::string, pattern>> result;
    for (const auto& entry : testing::battery())
        result.emplace_back(entry.name,
                            pattern{entry.matrix.row_offsets, entry.matrix.column_indices});
    result.emplace_back("no row", pattern{});
    result.emplace_back("rows without entries", random_pattern(1500, 0, 1, 1));
    result.emplace_back("a stencil", stencil(7, 33, 19, 8));
    result.emplace_back("one giant row", pattern_with_lengths({0, 0, 300'000, 0}));
    std::vector<std::int64_t> lengths;
    for (int k = 0; k < 900; ++k) { // empty rows where tiles begin, and runs of them
        lengths.push_back(k % 7 == 0 ? 512 : 128);
        lengths.insert(lengths.end(), static_cast<std::size_t>(k % 5 == 0 ? 40 : k % 3), 0);
    }
    result.emplace_back("empty rows at borders", pattern_with_lengths(lengths));
    std::vector<std::int64_t> sparse(200'000, 0); // scans of several blocks
    for (std::size_t row = 0; row < sparse.size(); row += 3) sparse[row] = 1 + row % 4;
    result.emplace_back("many tiles with empty rows", pattern_with_lengths(sparse));
    return result;
}

} // namespace

TEST_CASE("csr5 on a device: its arrays are those of the host [cuda]") {
    const auto device = testing::cuda_groups().front().handle(0);
    for (const auto& [name, p] : csr5_patterns())
        for (const int sigma : {4, 8, 12, 16}) {
            CAPTURE(name);
            CAPTURE(sigma);
            const buffer<std::int64_t> offsets(device, std::span<const std::int64_t>(p.offsets),
                                               "test");
            const buffer<std::int32_t> columns(device, std::span<const std::int32_t>(p.indices),
                                               "test");
            const device_csr5 made = cuda::make_device_csr5(
                device, {offsets.data(), columns.data(), nullptr, measure_lengths(p.offsets)},
                sigma);
            const csr5_layout expected = make_csr5_layout(p.offsets, {csr5_omega, sigma});
            CHECK(made.tile_rows.download() == expected.tile_rows);
            CHECK(made.lanes.download() == expected.lanes);
            CHECK(made.empty_begin.download() == expected.empty_begin);
            CHECK(made.empty_offsets.download() == expected.empty_offsets);
            CHECK(made.empty_rows.download() == expected.empty_rows);
            std::vector<std::int32_t> in_order(p.indices.size());
            const auto nonzeros = static_cast<std::int64_t>(p.indices.size());
            for (std::int64_t k = 0; k < nonzeros; ++k)
                in_order[static_cast<std::size_t>(made.shape.place_of(k, nonzeros))] =
                    p.indices[static_cast<std::size_t>(k)];
            CHECK(made.columns.download() == in_order);
        }
}

} // namespace krylith

#endif

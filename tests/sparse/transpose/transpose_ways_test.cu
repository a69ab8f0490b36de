// Each way of transposing on a CUDA device by itself, wherever it says that it fits.
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/device_csr.hpp>
#include <krylith/sparse/transpose/transpose_ways.hpp>
#include <krylith/tests/sparse/transpose/pattern_cases.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

using cuda::transpose_facts;

enum class way { mirrored, tiles, buckets, sort };

/// Transposes by this way; returns whether it fits.
template <class T>
bool transpose_by(way which, const std::shared_ptr<device>& on, const csr_pattern& a,
                  const transposed_arrays<T>& to) {
    const buffer<transpose_facts> facts(on, 1, "test");
    facts.zero();
    if (which == way::mirrored) {
        if (a.rows != a.columns) return false;
        cuda::transpose_mirrored(on, a, to, facts.data());
        return facts.download().front().differs == 0;
    }
    if (which == way::tiles) {
        cuda::tile_transposition tiles(on, a);
        tiles.list(facts.data(), nullptr);
        const bool fits = tiles.fits(facts.download().front());
        if (fits) tiles.run(to);
        return fits;
    }
    if (which == way::buckets) {
        cuda::bucket_transposition buckets(on, a);
        buckets.count(facts.data(), nullptr);
        const transpose_facts found = facts.download().front();
        if (buckets.fits(found)) buckets.run(found, to);
        return buckets.fits(found);
    }
    cuda::transpose_by_sort(on, a, to);
    return true;
}

/// Checks values and permutation; returns whether the way fits.
template <class T>
bool check_way(way which, const std::shared_ptr<device>& on, const testing::pattern_case& c) {
    const auto a = testing::matrix_of<T>(c);
    const auto [expected, places] = testing::plain_transposition(a);
    const device_csr<T> matrix(on, csr_view<T>(a));
    const device_csr_view<T> v = matrix.view();
    const csr_pattern pattern = matrix.pattern();
    const auto count = static_cast<std::size_t>(a.nnz());
    const buffer<std::int64_t> offsets(on, static_cast<std::size_t>(a.columns) + 1, "test");
    const buffer<std::int32_t> indices(on, count, "test");
    const buffer<T> values(on, count, "test");
    const buffer<std::uint32_t> found_places(on, count, "test");
    const bool fits = transpose_by<T>(
        which, on, pattern, {offsets.data(), indices.data(), v.values, values.data(), {}});
    if (fits) {
        CHECK(offsets.download() == expected.row_offsets);
        CHECK(indices.download() == expected.column_indices);
        CHECK(values.download() == expected.values);
    }
    offsets.zero();
    indices.zero();
    const bool again = transpose_by<T>(
        which, on, pattern,
        {offsets.data(), indices.data(), nullptr, nullptr, {found_places.data(), nullptr}});
    CHECK(again == fits);
    if (!fits) return false;
    CHECK(offsets.download() == expected.row_offsets);
    CHECK(indices.download() == expected.column_indices);
    const std::vector<std::uint32_t> narrow = found_places.download();
    CHECK(std::vector<std::int64_t>(narrow.begin(), narrow.end()) == places);
    return true;
}

/// How many of all patterns with nonzeros the way takes.
template <class T>
int check_all(way which) {
    const int first[] = {0};
    const device_group group = device_group::cuda(first);
    int taken = 0;
    for (const auto& c : testing::pattern_cases()) {
        if (c.rows.indices.empty()) continue;
        CAPTURE(c.name);
        if (check_way<T>(which, group.handle(0), c)) ++taken;
    }
    return taken;
}

} // namespace

TEST_CASE("transpose by mirrored patterns [cuda]") {
    CHECK(check_all<double>(way::mirrored) >= 2);
    CHECK(check_all<float>(way::mirrored) >= 2);
}
TEST_CASE("transpose in tiles [cuda]") {
    CHECK(check_all<double>(way::tiles) >= 5);
    CHECK(check_all<float>(way::tiles) >= 5);
}
TEST_CASE("transpose in buckets [cuda]") {
    CHECK(check_all<double>(way::buckets) >= 15);
    CHECK(check_all<float>(way::buckets) >= 15);
}
TEST_CASE("transpose by a sort [cuda]") {
    CHECK(check_all<double>(way::sort) >= 20);
    CHECK(check_all<float>(way::sort) >= 20);
}

TEST_CASE("transpose: a pattern that is nearly its own transposed is not mirrored [cuda]") {
    const int first[] = {0};
    const device_group group = device_group::cuda(first);
    const auto mesh = testing::stencil(7, 12, 12, 12);
    const auto changed = [&](const char* name, std::int64_t at, std::int32_t column) {
        testing::pattern_case c{name, 1728, mesh};
        c.rows.indices[static_cast<std::size_t>(at)] = column;
        CAPTURE(c.name);
        CHECK_FALSE(check_way<double>(way::mirrored, group.handle(0), c));
        CHECK(check_way<double>(way::sort, group.handle(0), c));
    };
    const std::int64_t row = mesh.offsets[900];
    changed("another column", row + 2, mesh.indices[static_cast<std::size_t>(row + 2)] - 1);
    changed("a duplicate", row + 1, mesh.indices[static_cast<std::size_t>(row)]);
    testing::pattern_case swapped{"columns exchanged", 1728, mesh};
    std::swap(swapped.rows.indices[static_cast<std::size_t>(row)],
              swapped.rows.indices[static_cast<std::size_t>(row + 1)]);
    CHECK_FALSE(check_way<double>(way::mirrored, group.handle(0), swapped));
}

} // namespace krylith

// The rows of a node, found in the pattern of a matrix.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/nodes/block_size.hpp>
#include <krylith/tests/support/matrices.hpp>

namespace krylith {

namespace {

int found_in(const csr_matrix<double>& a) {
    return find_block_size(csr_view<double>(a));
}

/// A of n x n nodes of five points, whose blocks have the entries that `there` names.
template <class There>
csr_matrix<double> blocks_of_five_points(std::int64_t n, std::int64_t size, const There& there) {
    const auto grid = make_gallery<double>("poisson2d:" + std::to_string(n));
    testing::triplets entries;
    for (std::int64_t i = 0; i < grid.rows; ++i)
        for (auto k = grid.row_offsets[static_cast<std::size_t>(i)];
             k < grid.row_offsets[static_cast<std::size_t>(i + 1)]; ++k) {
            const std::int64_t j = grid.column_indices[static_cast<std::size_t>(k)];
            for (std::int64_t r = 0; r < size; ++r)
                for (std::int64_t c = 0; c < size; ++c)
                    if (there(i, j, r, c)) entries.emplace_back(size * i + r, size * j + c, 1.0);
        }
    return testing::from_triplets(size * grid.rows, entries);
}

/// The windows of rows that are looked at until no size is left.
std::size_t windows_until_excluded(const csr_matrix<double>& a) {
    detail::block_size_search search(a.rows);
    std::size_t looked_at = 0;
    for (const row_range& window : search.windows()) {
        if (search.excludes_nodes()) break;
        const auto offsets = std::span(a.row_offsets)
                                 .subspan(static_cast<std::size_t>(window.begin),
                                          static_cast<std::size_t>(window.size() + 1));
        search.look_at(window.begin, offsets,
                       std::span(a.column_indices)
                           .subspan(static_cast<std::size_t>(offsets.front()),
                                    static_cast<std::size_t>(offsets.back() - offsets.front())));
        ++looked_at;
    }
    return looked_at;
}

} // namespace

TEST_CASE("block size: the search ends where no size is left") {
    const auto grid = make_gallery<double>("poisson2d:60");
    CHECK(windows_until_excluded(grid) < 4);
    CHECK(found_in(grid) == 1);
    CHECK(windows_until_excluded(make_gallery<double>("elasticity3d:9:4:4")) == 8);
}

TEST_CASE("block size: full blocks of any size, in small and in large matrices") {
    for (const std::int64_t n : {3, 40})
        for (const std::int64_t size : {2, 3, 4, 5, 6}) {
            CAPTURE(n);
            CAPTURE(size);
            const auto all = [](auto...) { return true; };
            CHECK(found_in(blocks_of_five_points(n, size, all)) == size);
        }
    CHECK(found_in(make_gallery<double>("elasticity3d:9:4:4")) == 3);
}

TEST_CASE("block size: zeros that were left out, and rows that boundary conditions left") {
    // Neighbours along x have full blocks, those along y diagonal ones.
    const auto sparse = [](std::int64_t i, std::int64_t j, std::int64_t r, std::int64_t c) {
        return r == c || j == i || j == i - 1 || j == i + 1;
    };
    CHECK(found_in(blocks_of_five_points(20, 3, sparse)) == 3);
    const auto held = [](std::int64_t i, std::int64_t j, std::int64_t r, std::int64_t c) {
        return i % 20 != 0 || (i == j && r == c);
    };
    CHECK(found_in(blocks_of_five_points(20, 3, held)) == 3);
}

TEST_CASE("block size: one unknown a node") {
    for (const char* name :
         {"poisson2d:40", "poisson3d:16", "poisson2d_9point:30", "poisson3d_27point:12",
          "anisotropic_diffusion:30:0.01", "convection_diffusion:12:20"}) {
        CAPTURE(name);
        CHECK(found_in(make_gallery<double>(name)) == 1);
    }
    // Lines that are not coupled with each other: blocks would be diagonal.
    const auto lines = [](auto, auto, std::int64_t r, std::int64_t c) { return r == c; };
    CHECK(found_in(blocks_of_five_points(20, 2, lines)) == 1);
    // A band, in which any rows are like their neighbours, and a full matrix.
    testing::triplets band;
    for (std::int64_t i = 0; i < 600; ++i)
        for (std::int64_t j = std::max<std::int64_t>(0, i - 30);
             j < std::min<std::int64_t>(600, i + 31); ++j)
            band.emplace_back(i, j, 1.0);
    CHECK(found_in(testing::from_triplets(600, band)) == 1);
    CHECK(found_in(testing::from_dense({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}})) == 3);
    band.clear();
    for (std::int64_t i = 0; i < 12; ++i)
        for (std::int64_t j = 0; j < 12; ++j) band.emplace_back(i, j, 1.0);
    CHECK(found_in(testing::from_triplets(12, band)) == 1);
}

TEST_CASE("block size: nothing to look at, and what is no matrix") {
    CHECK(found_in(testing::from_triplets(0, {})) == 1);
    CHECK(found_in(testing::from_triplets(1, {{0, 0, 1.0}})) == 1);
    CHECK(found_in(testing::diagonal_matrix({1, 2, 3, 4, 5, 6})) == 1);
    auto wrong = testing::from_dense({{1, 2}, {3, 4}});
    CHECK(found_in(wrong) == 2);
    wrong.row_offsets = {0, 9, 4};
    CHECK(found_in(wrong) == 1);
    wrong.row_offsets = {-3, 0, 4};
    CHECK(found_in(wrong) == 1);
    wrong.row_offsets = {0, 2};
    CHECK(found_in(wrong) == 1);
}

} // namespace krylith

// Overlapping blocks made on the devices, against those that the host cuts out.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/incomplete/principal_submatrix.hpp>
#include <krylith/precond/matrix/overlapping_blocks.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>

namespace krylith {

namespace {

/// Rows and columns of the set that is found by looking at all entries again and again.
std::vector<bool> inside(const csr_matrix<double>& a, row_range owned, int rings) {
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<bool> in(n, false);
    for (std::int64_t i = owned.begin; i < owned.end; ++i) in[static_cast<std::size_t>(i)] = true;
    for (int ring = 0; ring < rings; ++ring) {
        const std::vector<bool> before = in;
        for (std::size_t i = 0; i < n; ++i)
            for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
                 before[i] && k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k)
                in[static_cast<std::size_t>(a.column_indices[k])] = true;
    }
    return in;
}

csr_matrix<double> cut_out(const csr_matrix<double>& a, const std::vector<bool>& in) {
    std::vector<std::int32_t> number(in.size());
    csr_matrix<double> block{0, 0, {0}, {}, {}};
    for (std::size_t i = 0; i < in.size(); ++i)
        if (in[i]) number[i] = static_cast<std::int32_t>(block.columns++);
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!in[i]) continue;
        ++block.rows;
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            const auto column = static_cast<std::size_t>(a.column_indices[k]);
            if (!in[column]) continue;
            block.column_indices.push_back(number[column]);
            block.values.push_back(a.values[k]);
        }
        block.row_offsets.push_back(static_cast<std::int64_t>(block.values.size()));
    }
    return block;
}

void check_same_block(const csr_matrix<double>& found, const csr_matrix<double>& expected) {
    CHECK(found.rows == expected.rows);
    CHECK(found.columns == expected.columns);
    CHECK(found.row_offsets == expected.row_offsets);
    CHECK(found.column_indices == expected.column_indices);
    CHECK(found.values == expected.values);
}

} // namespace

KRYLITH_GROUP_TEST("overlapping blocks: rows of several rings, cut to their own columns") {
    testing::triplets far; // rows whose neighbours are far away, and some that nobody refers to
    for (int i = 0; i < 90; ++i) {
        far.push_back({i, i, 4.0});
        if (i % 3 != 0) far.push_back({i, (i * 37 + 11) % 90, 1.0 + i});
    }
    const csr_matrix<double> matrices[] = {make_gallery<double>("convection_diffusion:5:20"),
                                           testing::from_triplets(90, far),
                                           testing::laplace_1d(2), // more devices than rows
                                           testing::random_matrix(70, 3, 5, 8)};
    for (const csr_matrix<double>& given : matrices) {
        CAPTURE(given.rows);
        std::vector<std::tuple<std::int64_t, std::int64_t, double>> entries; // rows that ascend
        for (std::int64_t i = 0; i < given.rows; ++i)
            for (auto k = static_cast<std::size_t>(given.row_offsets[static_cast<std::size_t>(i)]);
                 k < static_cast<std::size_t>(given.row_offsets[static_cast<std::size_t>(i) + 1]);
                 ++k)
                entries.emplace_back(i, given.column_indices[k], given.values[k]);
        const csr_matrix<double> matrix = testing::from_triplets(given.rows, entries);
        const row_partition rows = equal_rows(matrix.rows, group.size());
        const distributed_csr<double> spread(group, csr_view<double>(matrix), rows, rows);
        for (const int overlap : {0, 1, 2, 5}) {
            CAPTURE(overlap);
            const auto blocks = detail::make_overlapping_blocks(spread, overlap);
            REQUIRE(blocks.matrices.size() == static_cast<std::size_t>(group.size()));
            for (int rank = 0; rank < group.size(); ++rank) {
                CAPTURE(rank);
                const auto at = static_cast<std::size_t>(rank);
                const std::vector<bool> in = inside(matrix, rows.owned(rank), overlap);
                const csr_matrix<double> expected = cut_out(matrix, in);
                CHECK(blocks.matrices[at].comm().ranks() == 1);
                check_same_block(blocks.matrices[at].block(0).download(), expected);
                const std::vector<std::int32_t> around =
                    incomplete::rows_around(csr_view<double>(matrix), rows.owned(rank), overlap);
                const local_indices expected_rows(rows.owned(rank), {around.begin(), around.end()});
                CHECK(blocks.rows[at].ghosts() == expected_rows.ghosts());
                CHECK(blocks.rows[at].owned() == rows.owned(rank));
                check_same_block(incomplete::principal_submatrix<double>(csr_view<double>(matrix),
                                                                         expected_rows),
                                 expected);
            }
        }
    }
}

} // namespace krylith

#include <krylith/partition/row_partition.hpp>

#include <krylith/device/error.hpp>

#include <krylith/tests/partition/patterns.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace krylith::partition_tests {

namespace {

constexpr std::int64_t most_rows = std::numeric_limits<std::int64_t>::max();

std::int64_t offset(const pattern& a, std::int64_t row) {
    return a.row_offsets[static_cast<std::size_t>(row)];
}

// The boundaries 0, alignment, 2 alignment ... and rows.
std::vector<std::int64_t> allowed_boundaries(std::int64_t rows, std::int64_t alignment) {
    std::vector<std::int64_t> result;
    for (std::int64_t row = 0; row < rows; row += alignment) {
        result.push_back(row);
    }
    result.push_back(rows);
    return result;
}

void check_boundaries_allowed(const row_partition& partition, std::int64_t alignment) {
    for (const std::int64_t row : partition.begin) {
        CHECK((row % alignment == 0 || row == partition.rows()));
    }
}

} // namespace

TEST_CASE("row_partition: ranges and owners, empty parts anywhere") {
    const row_partition partition{{0, 0, 3, 3, 3, 5, 5}};
    check(partition, 5);
    CHECK(partition.ranks() == 6);
    CHECK(partition.rows() == 5);
    CHECK(partition.owned(0) == row_range{0, 0});
    CHECK(partition.owned(1) == row_range{0, 3});
    CHECK(partition.owned(1).size() == 3);
    CHECK(partition.owned(5).size() == 0);
    const std::vector<int> owners{1, 1, 1, 4, 4};
    for (int row = 0; row < 5; ++row) {
        CHECK(partition.owner(row) == owners[static_cast<std::size_t>(row)]);
        CHECK(partition.owned(partition.owner(row)).contains(row));
    }
    CHECK_FALSE(partition.owned(1).contains(-1));
    CHECK_FALSE(partition.owned(1).contains(3));
    CHECK_FALSE(partition.owned(0).contains(0));
}

TEST_CASE("row_partition: parts and rows that don't exist are refused") {
    const row_partition partition{{0, 2, 4}};
    CHECK_THROWS_AS(static_cast<void>(partition.owned(-1)), usage_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(partition.owned(2)),
                         "row_partition::owned: rank is 2, must be 0 or more and below 2",
                         usage_error);
    CHECK_THROWS_AS(static_cast<void>(partition.owner(-1)), usage_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(partition.owner(4)),
                         "row_partition::owner: row is 4, must be 0 or more and below 4",
                         usage_error);
    CHECK(row_partition{}.ranks() == 0);
    CHECK(row_partition{}.rows() == 0);
    CHECK(row_partition{{}}.ranks() == 0);
    CHECK_THROWS_AS(static_cast<void>(row_partition{{}}.owned(0)), usage_error);
    CHECK_THROWS_AS(static_cast<void>(row_partition{}.owner(0)), usage_error);
}

TEST_CASE("row_partition: the checker rejects each violation") {
    CHECK_NOTHROW(check(row_partition{{0, 0}}, 0));
    CHECK_NOTHROW(check(row_partition{{0, 4, 4, 7}}, 7));
    CHECK_THROWS_WITH_AS(
        check(row_partition{{}}, 0),
        "row_partition: begin has 0 entries, must have ranks + 1 with at least 1 rank",
        usage_error);
    CHECK_THROWS_AS(check(row_partition{}, 0), usage_error);
    CHECK_THROWS_WITH_AS(check(row_partition{{1, 4, 7}}, 7),
                         "row_partition: begin[0] is 1, must be 0", usage_error);
    CHECK_THROWS_WITH_AS(check(row_partition{{0, 4, 3, 7}}, 7),
                         "row_partition: begin[2] is 3, must not be below begin[1], which is 4",
                         usage_error);
    CHECK_THROWS_WITH_AS(check(row_partition{{0, 4, 7}}, 8),
                         "row_partition: begin[2] is 7, must be the number of rows, 8",
                         usage_error);
    CHECK_THROWS_AS(check(row_partition{{0, 4, 7}}, 6), usage_error);
}

TEST_CASE("equal_rows: sizes differ by at most the alignment") {
    for (const std::int64_t rows : {0, 1, 2, 5, 12, 31, 32, 33, 100}) {
        for (const int ranks : {1, 2, 3, 4, 7, 50}) {
            for (const std::int64_t alignment : {1, 4, 32}) {
                CAPTURE(rows);
                CAPTURE(ranks);
                CAPTURE(alignment);
                const row_partition partition = equal_rows(rows, ranks, alignment);
                CHECK_NOTHROW(check(partition, rows));
                CHECK(partition.ranks() == ranks);
                check_boundaries_allowed(partition, alignment);
                const std::int64_t blocks = (rows + alignment - 1) / alignment;
                for (int rank = 0; rank < ranks; ++rank) {
                    const std::int64_t size = partition.owned(rank).size();
                    CHECK(size <= (blocks + ranks - 1) / ranks * alignment);
                    // The last block may be a single row.
                    CHECK(size >=
                          std::max<std::int64_t>(0, blocks / ranks * alignment - (alignment - 1)));
                }
            }
        }
    }
    CHECK(equal_rows(10, 3) == row_partition{{0, 3, 6, 10}});
    CHECK(equal_rows(10, 2, 4) == row_partition{{0, 4, 10}});
}

TEST_CASE("equal_rows: sizes near the end of 64 bits don't overflow") {
    for (const std::int64_t alignment : {std::int64_t{1}, std::int64_t{1000}, most_rows / 2 + 1}) {
        const row_partition partition = equal_rows(most_rows, 7, alignment);
        CHECK_NOTHROW(check(partition, most_rows));
        check_boundaries_allowed(partition, alignment);
    }
    CHECK(equal_rows(10, 2, most_rows) == row_partition{{0, 0, 10}});
}

TEST_CASE("partition builders refuse impossible sizes") {
    CHECK_THROWS_WITH_AS(static_cast<void>(equal_rows(-1, 2)),
                         "equal_rows: rows is -1, must be 0 or more", usage_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(equal_rows(4, 0)),
                         "equal_rows: ranks is 0, must be 1 or more", usage_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(equal_rows(4, 2, 0)),
                         "equal_rows: alignment is 0, must be 1 or more", usage_error);
    const std::vector<std::int64_t> offsets{0, 2, 3};
    CHECK_THROWS_AS(static_cast<void>(equal_nonzeros(offsets, -1)), usage_error);
    CHECK_THROWS_AS(static_cast<void>(equal_nonzeros(offsets, 1, -4)), usage_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(equal_nonzeros({}, 1)),
                         "equal_nonzeros: row_offsets has 0 entries, must have rows + 1",
                         usage_error);
    const std::vector<std::int64_t> descending{5, 2};
    CHECK_THROWS_WITH_AS(static_cast<void>(equal_nonzeros(descending, 1)),
                         "equal_nonzeros: row_offsets runs from 5 to 2, must ascend from 0 or more",
                         input_error);
    const std::vector<std::int64_t> negative{-1, 2};
    CHECK_THROWS_AS(static_cast<void>(equal_nonzeros(negative, 1)), input_error);
}

TEST_CASE("equal_nonzeros: balanced, nearest and aligned for every pattern") {
    for (const named_pattern& entry : all_patterns()) {
        const pattern& a = entry.matrix;
        const std::int64_t nnz = a.row_offsets.back();
        for (const int ranks : {1, 2, 3, 4, 7, 64}) {
            for (const std::int64_t alignment : {1, 4, 32}) {
                CAPTURE(entry.name);
                CAPTURE(ranks);
                CAPTURE(alignment);
                const row_partition partition = equal_nonzeros(a.row_offsets, ranks, alignment);
                CHECK_NOTHROW(check(partition, a.rows()));
                REQUIRE(partition.ranks() == ranks);
                check_boundaries_allowed(partition, alignment);

                const auto allowed = allowed_boundaries(a.rows(), alignment);
                std::int64_t largest_block = 0;
                for (std::size_t k = 1; k < allowed.size(); ++k) {
                    largest_block =
                        std::max(largest_block, offset(a, allowed[k]) - offset(a, allowed[k - 1]));
                }
                for (int rank = 0; rank < ranks; ++rank) {
                    const row_range owned = partition.owned(rank);
                    const std::int64_t mine = offset(a, owned.end) - offset(a, owned.begin);
                    CHECK(mine * ranks <= nnz + largest_block * ranks);

                    const std::int64_t target = nnz * rank / ranks;
                    std::int64_t least = nnz;
                    for (const std::int64_t row : allowed) {
                        least = std::min(least, std::abs(offset(a, row) - target));
                    }
                    CHECK(std::abs(offset(a, owned.begin) - target) == least);
                }
            }
        }
    }
}

TEST_CASE("equal_nonzeros: rows without nonzeros are spread") {
    for (const std::int64_t alignment : {1, 4}) {
        CHECK(equal_nonzeros(without_nonzeros(29).row_offsets, 4, alignment) ==
              equal_rows(29, 4, alignment));
    }
    // Row 0 and row 99 have a nonzero each: every boundary between them balances equally well.
    pattern ends = without_nonzeros(100);
    std::fill(ends.row_offsets.begin() + 1, ends.row_offsets.end(), 1);
    ends.row_offsets.back() = 2;
    CHECK(equal_nonzeros(ends.row_offsets, 2) == row_partition{{0, 50, 100}});
    CHECK(equal_nonzeros(ends.row_offsets, 2, 32) == row_partition{{0, 64, 100}});
    // The nonzeros of rows 40 to 59 are partitioned; the matrix is empty elsewhere.
    CHECK(equal_nonzeros(mirrored_band(100, 40, 60).row_offsets, 4) ==
          row_partition{{0, 45, 50, 55, 100}});
}

TEST_CASE("equal_nonzeros: known boundaries") {
    const std::vector<std::int64_t> even{0, 2, 4, 6, 8};
    CHECK(equal_nonzeros(even, 1) == row_partition{{0, 4}});
    CHECK(equal_nonzeros(even, 2) == row_partition{{0, 2, 4}});
    CHECK(equal_nonzeros(even, 4) == row_partition{{0, 1, 2, 3, 4}});
    const std::vector<std::int64_t> one_large_row{0, 1, 101, 102};
    CHECK(equal_nonzeros(one_large_row, 3) == row_partition{{0, 1, 2, 3}});
    CHECK(equal_nonzeros(one_large_row, 4) == row_partition{{0, 1, 1, 2, 3}});
    // The offsets of a slice of a matrix need not start at 0.
    const std::vector<std::int64_t> slice{100, 102, 104, 106, 108};
    CHECK(equal_nonzeros(slice, 2) == equal_nonzeros(even, 2));
}

TEST_CASE("equal_nonzeros: offsets near the end of 64 bits don't overflow") {
    const std::vector<std::int64_t> offsets{0, most_rows / 4, most_rows / 2, most_rows / 4 * 3,
                                            most_rows};
    CHECK(equal_nonzeros(offsets, 4) == row_partition{{0, 1, 2, 3, 4}});
}

TEST_CASE("equal_nonzeros: descending offsets still give a partition") {
    const std::vector<std::int64_t> descending{0, 9, 5, 10};
    const std::vector<std::int64_t> wild{0, 50, 3, 70, 20, 90, 10, 60, 0, 100};
    for (const int ranks : {1, 2, 3, 4, 7, 20}) {
        CHECK_NOTHROW(check(equal_nonzeros(descending, ranks), 3));
        CHECK_NOTHROW(check(equal_nonzeros(wild, ranks), 9));
    }
}

} // namespace krylith::partition_tests

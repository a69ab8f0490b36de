// Offsets of blocks that are made of ranges of rows, of parts of rows, and of padding.
#include <doctest/doctest.h>

#include <vector>

#include <krylith/distributed/source/joined_rows.hpp>

namespace krylith {

namespace {

using offsets = std::vector<std::int64_t>;

/// Reads the offsets in pieces of all lengths.
void check_offsets(const joined_rows& rows, const offsets& of_matrix, const offsets& expected) {
    CHECK(rows.offsets(of_matrix) == expected);
    const auto count = static_cast<std::int64_t>(expected.size());
    for (std::int64_t length = 1; length <= count; ++length) {
        offsets read(expected.size(), -1);
        for (std::int64_t first = 0; first < count; first += length)
            rows.read_offsets(of_matrix, first, std::min(length, count - first),
                              read.data() + first);
        CHECK(read == expected);
    }
}

} // namespace

TEST_CASE("joined rows: segments follow each other, padding has no entries") {
    const offsets of_matrix{0, 2, 2, 5, 9, 10, 14};
    joined_rows rows;
    rows.segments = {{0, {4, 6}, {9, 14}}, {4, {0, 3}, {0, 5}}};
    rows.size = 8;
    check_offsets(rows, of_matrix, {0, 1, 5, 5, 5, 7, 7, 10, 10});
    CHECK(rows.entries().size() == 10);
    check_offsets(lone_rows({2, 5}, std::span<const std::int64_t>(of_matrix)), of_matrix,
                  {0, 3, 7, 8});
    check_offsets(lone_rows({3, 3}, std::span<const std::int64_t>(of_matrix)), of_matrix, {0});
}

TEST_CASE("joined rows: a range of the entries cuts rows, and leaves others empty") {
    const offsets of_matrix{0, 2, 2, 5, 9, 10, 14};
    joined_rows rows;
    rows.segments = {{0, {0, 6}, {4, 8}}};
    rows.size = 6;
    check_offsets(rows, of_matrix, {0, 0, 0, 1, 4, 4, 4});
    rows.segments = {{0, {0, 2}, {4, 4}}};
    rows.size = 2;
    check_offsets(rows, of_matrix, {0, 0, 0});
    rows.segments = {{0, {2, 3}, {4, 5}}, {1, {3, 4}, {5, 7}}};
    check_offsets(rows, of_matrix, {0, 1, 3});
}

} // namespace krylith

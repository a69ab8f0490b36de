// Entries of blocks: ranges and numbers read alike, whole and in pieces.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include <krylith/partition/nonzero/entry_list.hpp>

namespace krylith {

namespace {

/// Reads the entries of 0, 1, 2 ... in pieces of a length.
std::vector<int> in_pieces(const entry_list& entries, std::int64_t length) {
    std::vector<int> all(100);
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> result(as_size(entries.size()), -1);
    for (std::int64_t first = 0; first < entries.size(); first += length)
        entries.read(all.data(), first, std::min(length, entries.size() - first),
                     result.data() + first);
    return result;
}

void check_list(const entry_list& entries, const std::vector<int>& expected) {
    CHECK(entries.size() == static_cast<std::int64_t>(expected.size()));
    for (const std::int64_t length : {1, 2, 3, 7, 100})
        CHECK(in_pieces(entries, length) == expected);
    for (std::size_t k = 0; k < expected.size(); ++k)
        CHECK(entries.number(static_cast<std::int64_t>(k)) == expected[k]);
    std::vector<int> all(100);
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> room{5, 6}; // what an earlier list has left
    const auto read = entries.of(std::span<const int>(all), room);
    CHECK(std::vector<int>(read.begin(), read.end()) == expected);
}

} // namespace

TEST_CASE("entry lists: ranges in any order, those without entries left out") {
    check_list({}, {});
    check_list(entry_list(row_range{3, 3}), {});
    check_list(entry_list(row_range{3, 6}), {3, 4, 5});
    const std::vector<row_range> ranges{{8, 8}, {90, 92}, {92, 93}, {1, 4}, {7, 7}, {99, 100}};
    const entry_list entries{std::span<const row_range>(ranges)};
    CHECK(entries.ranges().size() == 3);
    CHECK(!entries.consecutive());
    check_list(entries, {90, 91, 92, 1, 2, 3, 99});
}

TEST_CASE("entry lists: numbers that follow each other are a range") {
    check_list(entry_list(std::vector<std::int64_t>{}), {});
    const entry_list range(std::vector<std::int64_t>{4, 5, 6});
    CHECK(range.consecutive());
    CHECK(range.ranges().size() == 1);
    check_list(range, {4, 5, 6});
    const entry_list numbers(std::vector<std::int64_t>{0, 3, 4, 50});
    CHECK(!numbers.consecutive());
    CHECK(numbers.ranges().empty());
    check_list(numbers, {0, 3, 4, 50});
}

} // namespace krylith

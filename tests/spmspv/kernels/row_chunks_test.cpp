// Chunks of long words: those of a word are consecutive and cover its entries once.
#include <krylith/spmspv/csr_csc_pair/row_chunks.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace krylith::spmspv {

namespace {

std::vector<std::int32_t> offsets_of(const std::vector<std::int32_t>& lengths) {
    std::vector<std::int32_t> offsets = {0};
    for (const std::int32_t length : lengths) offsets.push_back(offsets.back() + length);
    return offsets;
}

void check_ranges(const std::vector<std::int32_t>& lengths) {
    const auto offsets = offsets_of(lengths);
    const auto chunks = cut_long_words(offsets);
    std::size_t next = 0;
    for (std::size_t row = 0; row < lengths.size(); row += 32) {
        const std::size_t end = std::min(row + 32, lengths.size());
        const auto entries = static_cast<std::uint32_t>(offsets[end] - offsets[row]);
        if (entries <= whole_word_entries) continue;
        const std::uint32_t each = chunk_entries(entries);
        std::uint32_t covered = 0;
        REQUIRE(next < chunks.size());
        const std::int32_t parts = chunks[next].parts;
        for (std::int32_t part = 0; part < parts; ++part, ++next) {
            REQUIRE(next < chunks.size());
            CHECK(chunks[next].word == static_cast<std::int32_t>(row / 32));
            CHECK(chunks[next].part == part);
            CHECK(chunks[next].parts == parts);
            CHECK(covered < entries); // none is empty
            covered += each;
        }
        CHECK(covered >= entries);
        CHECK(covered - entries < each);
    }
    CHECK(next == chunks.size());
}

} // namespace

TEST_CASE("row chunks: none where no word is long") {
    CHECK(cut_long_words(std::vector<std::int32_t>{0}).empty());
    CHECK(cut_long_words(offsets_of(std::vector<std::int32_t>(100, 32))).empty());
    CHECK(cut_long_words(offsets_of({1024})).empty());
    CHECK(cut_long_words(offsets_of({1025})).size() == 2);
}

TEST_CASE("row chunks: cover the entries of each long word once") {
    check_ranges({5000});
    check_ranges(std::vector<std::int32_t>(33, 33)); // the last word is short
    check_ranges({0, 0, 100000, 0, 3});
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::int32_t> lengths(
            std::uniform_int_distribution<std::size_t>(1, 200)(random));
        for (std::int32_t& length : lengths)
            length = random() % 20 == 0 ? static_cast<std::int32_t>(random() % 200000)
                                        : static_cast<std::int32_t>(random() % 90);
        check_ranges(lengths);
    }
}

TEST_CASE("row chunks: at most 1024 of a word, whatever its length") {
    for (const std::uint32_t entries :
         {1025U, 100000U, 2097152U, 2097153U, 100000000U, 2147483647U}) {
        CAPTURE(entries);
        const std::uint32_t each = chunk_entries(entries);
        CHECK(each >= whole_word_entries);
        CHECK(each % 256 == 0);
        CHECK((entries - 1) / each + 1 <= 1024);
    }
}

} // namespace krylith::spmspv

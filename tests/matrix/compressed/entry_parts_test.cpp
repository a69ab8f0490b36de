// Entries in equal parts, against a plain count of what each visit has.
#include <krylith/matrix/compressed/entry_parts.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace krylith {

TEST_CASE("entry parts: each entry and each row is visited, in equal parts") {
    for (const auto& offsets : std::vector<std::vector<std::int64_t>>{
             {0}, {0, 0, 0}, {0, 0, 0, 7, 7}, {0, 1000}, {0, 0, 3, 3, 900, 901, 901, 1000, 1000}}) {
        const std::vector<std::int32_t> indices(static_cast<std::size_t>(offsets.back()));
        const compressed_pattern a{offsets, indices, 1};
        for (const int parts : {1, 2, 3, 8}) {
            CAPTURE(parts);
            const auto places = divide_entries(a, parts);
            REQUIRE(places.size() == static_cast<std::size_t>(parts) + 1);
            std::int64_t entry = 0;
            std::vector<int> begun(offsets.size() - 1);
            for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
                CHECK(places[part].entry == entry);
                for_each_row(offsets.data(), places[part], places[part + 1],
                             [&](std::int64_t row, std::int64_t first, std::int64_t last) {
                                 const auto at = static_cast<std::size_t>(row);
                                 CHECK(first == entry);
                                 CHECK(first >= offsets[at]);
                                 CHECK(last <= offsets[at + 1]);
                                 begun[at] += first == offsets[at] ? 1 : 0;
                                 entry = last;
                             });
                CHECK(entry - places[part].entry >= a.nonzeros() / parts);
                CHECK(entry - places[part].entry <= a.nonzeros() / parts + 1);
            }
            CHECK(entry == a.nonzeros());
            CHECK(begun == std::vector<int>(offsets.size() - 1, 1));
        }
    }
}

} // namespace krylith

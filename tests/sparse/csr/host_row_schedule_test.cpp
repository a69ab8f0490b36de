// The division of rows into chunks on a host device.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <krylith/sparse/csr/host_row_schedule.hpp>
#include <krylith/vector/execution/host_context.hpp>

namespace krylith {

TEST_CASE("row schedule: every row once, interior first, few chunks, right weights") {
    std::mt19937 random(23);
    for (const std::int64_t rows : {0, 1, 63, 64, 65, 1000, 66'000, 131'073}) {
        for (const int kind : {0, 1, 2, 3, 4, 5}) {
            CAPTURE(rows);
            CAPTURE(kind);
            std::vector<std::int64_t> offsets{100};
            std::vector<std::uint8_t> boundary;
            std::vector<std::int64_t> giants; // which count as empty
            for (std::int64_t i = 0; i < rows; ++i) {
                offsets.push_back(offsets.back() + static_cast<std::int64_t>(random() % 9));
                if (kind == 1) boundary.push_back(i < rows / 5 || i > rows - rows / 7);
                if (kind >= 4 && i % 61 == 7) giants.push_back(i);
                if (kind == 2 || kind == 5) boundary.push_back(random() % 2 == 0);
                if (kind == 3) boundary.push_back(1);
            }
            const auto s = host::make_row_schedule(offsets, boundary, giants);
            CHECK(s.chunks() <= host::reduction_chunks);
            CHECK(s.interior <= s.chunks());
            CHECK(s.first_range.size() == s.items_before.size());
            std::vector<int> visits(static_cast<std::size_t>(rows));
            int misplaced = 0;
            int misweighed = 0;
            for (std::int64_t c = 0; c < s.chunks(); ++c) {
                const auto chunk = static_cast<std::size_t>(c);
                std::int64_t items = 0;
                for (auto r = static_cast<std::size_t>(s.first_range[chunk]);
                     r < static_cast<std::size_t>(s.first_range[chunk + 1]); ++r) {
                    const auto begin = static_cast<std::size_t>(s.ranges[r].begin);
                    const auto end = static_cast<std::size_t>(s.ranges[r].end);
                    items += static_cast<std::int64_t>(end - begin) + offsets[end] - offsets[begin];
                    for (std::size_t i = begin; i < end; ++i) {
                        if (kind >= 4 && i % 61 == 7) items -= offsets[i + 1] - offsets[i];
                        ++visits[i];
                        const bool ghosts = !boundary.empty() && boundary[i] != 0;
                        if (ghosts != (c >= s.interior)) ++misplaced;
                    }
                }
                if (items != s.items_before[chunk + 1] - s.items_before[chunk]) ++misweighed;
            }
            CHECK(visits == std::vector<int>(static_cast<std::size_t>(rows), 1));
            CHECK(misplaced == 0);
            CHECK(misweighed == 0);
        }
    }
}

} // namespace krylith

// The couplings that threads add up aggregate by aggregate, against those that rows add atomically.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregate_couplings.hpp>

namespace krylith::aggregation {

namespace {

/// A table of the couplings of `count` aggregates from `first` on, and its arrays.
struct owned_table {
    owned_table(std::int32_t first, std::int32_t count)
        : numbers(as_size(count) * 2 * coupling_table::places),
          crowded(as_size(count)),
          table{first, count, numbers.data(), crowded.data()} {}

    /// The couplings of an aggregate, by the other.
    [[nodiscard]] std::map<std::int32_t, std::int32_t> of(std::int32_t g) const {
        std::map<std::int32_t, std::int32_t> found;
        const std::int32_t* const own =
            numbers.data() + std::int64_t{g - table.first} * 2 * coupling_table::places;
        for (int i = 0; i < coupling_table::places; ++i)
            if (own[i] != 0) found[own[i] - 1] = own[coupling_table::places + i];
        return found;
    }

    std::vector<std::int32_t> numbers;
    std::vector<std::int32_t> crowded;
    coupling_table table;
};

} // namespace

TEST_CASE("aggregate couplings: those of rows that add atomically, whatever the division") {
    constexpr std::int32_t rows = 600;
    constexpr std::int32_t below = 10; // ghosts before the owned columns, and as many behind
    constexpr std::int32_t first = 5;  // of the rank's own aggregates
    constexpr std::int32_t count = 60;
    constexpr std::int32_t all = 80;
    std::mt19937 random(31);
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> indices;
    std::vector<std::uint8_t> couplings;
    for (int row = 0; row < rows; ++row) {
        const auto length = row % 50 == 0 ? 60u : static_cast<unsigned>(random() % 8);
        for (unsigned k = 0; k < length; ++k) {
            indices.push_back(static_cast<std::int32_t>(random() % (rows + 2 * below)));
            couplings.push_back(static_cast<std::uint8_t>(random() % 3 == 0 ? 0 : random() % 256));
        }
        offsets.push_back(static_cast<std::int64_t>(indices.size()));
    }
    std::vector<std::int32_t> aggregate; // neighbours mostly share one; some have none
    for (int column = 0; column < rows + 2 * below; ++column)
        aggregate.push_back(random() % 20 == 0
                                ? no_aggregate
                                : static_cast<std::int32_t>(column * all / (rows + 2 * below)));
    const rank_rows a{
        rows, offsets.data(), indices.data(), couplings.data(), {0, below, rows, 0, nullptr}};

    const owned_table expected(first, count);
    const couple_step step{a, aggregate.data(), expected.table};
    for (std::int64_t row = 0; row < rows; ++row)
        if (step.wanted(row)) (void)step.part(row, 0, 1);

    for (const int parts : {1, 2, 7}) {
        CAPTURE(parts);
        const owned_table found(first, count);
        for (int part = 0; part < parts; ++part)
            add_up_couplings(a, aggregate.data(), found.table, first + count * part / parts,
                             first + count * (part + 1) / parts, all);
        CHECK(found.crowded == expected.crowded);
        for (std::int32_t g = first; g < first + count; ++g) {
            CAPTURE(g);
            if (found.crowded[as_size(g - first)] == 0) CHECK(found.of(g) == expected.of(g));
        }
    }
    CHECK(std::ranges::count(expected.crowded, 1) > 0);
    CHECK(std::ranges::count(expected.crowded, 0) > 0);
}

} // namespace krylith::aggregation

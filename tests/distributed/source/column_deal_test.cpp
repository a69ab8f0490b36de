// Entries dealt out by columns on devices are where assign_by_columns() has them.
#include <krylith/distributed/source/column_deal.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>

#include <krylith/tests/distributed/products/split_rows.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

namespace {

struct pattern {
    std::string shape;
    std::int64_t columns = 0;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> indices = {}; ///< in any order within a row, with duplicates

    [[nodiscard]] std::int64_t rows() const {
        return static_cast<std::int64_t>(offsets.size()) - 1;
    }
};

enum class shape { random, hub, two_hubs, empty_columns, one_column, empty_rows, long_row, few };
constexpr const char* shape_names[]{"random columns",      "a hub",      "two hubs",
                                    "most columns empty",  "one column", "most rows empty",
                                    "a row with the most", "few entries"};
constexpr int shapes = 8;

std::int32_t random_column(shape of, int columns, testing::random_numbers& random) {
    switch (of) {
    case shape::hub: return random.below(4) != 0 ? columns / 3 : random.below(columns);
    case shape::two_hubs:
        if (random.below(5) != 0) return random.flip() ? columns / 4 : columns / 4 * 3;
        return random.below(columns);
    case shape::empty_columns: return random.below(3) * (columns - 1) / 2;
    case shape::one_column: return columns / 2;
    default: return random.below(columns);
    }
}

pattern random_pattern(shape of, int rows, int columns, int mean, std::uint64_t seed) {
    testing::random_numbers random(seed);
    pattern made{shape_names[static_cast<int>(of)], columns};
    for (int row = 0; row < rows; ++row) {
        int length = random.below(2 * mean + 1);
        if (of == shape::empty_rows && random.below(5) != 0) length = 0;
        if (of == shape::few) length = row % 11 == 7 ? 1 : 0;
        if (of == shape::long_row && row == rows / 2) length = 3 * mean * rows;
        for (int k = 0; k < length; ++k) made.indices.push_back(random_column(of, columns, random));
        made.offsets.push_back(static_cast<std::int64_t>(made.indices.size()));
    }
    return made;
}

/// The rows of a pattern on the devices of a group, from where they are dealt out.
struct resident_parts {
    std::vector<buffer<std::int64_t>> offsets;
    std::vector<buffer<std::int32_t>> columns;
    std::vector<resident_csr> parts;

    resident_parts(const device_group& group, const pattern& p, const row_partition& rows) {
        for (int rank = 0; rank < group.size(); ++rank) {
            const row_range mine = rows.owned(rank);
            const std::int64_t first = p.offsets[as_size(mine.begin)];
            const std::int64_t count = p.offsets[as_size(mine.end)] - first;
            std::vector<std::int64_t> from_0;
            for (std::int64_t row = mine.begin; row <= mine.end; ++row)
                from_0.push_back(p.offsets[as_size(row)] - first);
            offsets.emplace_back(group.handle(rank), std::span<const std::int64_t>(from_0), "test");
            columns.emplace_back(group.handle(rank),
                                 std::span(p.indices).subspan(as_size(first), as_size(count)),
                                 "test");
            parts.push_back({offsets.back().data(), columns.back().data(), mine.size(), count});
        }
    }
};

/// What a rank holds, and which entries of the matrix these are.
struct held_entries {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns = {};
    std::vector<std::size_t> entries = {};
};

std::vector<held_entries> held_by_ranks(const pattern& p, const nonzero_assignment& assigned,
                                        int ranks) {
    std::vector<held_entries> held(as_size(ranks));
    for (std::int64_t row = 0; row < p.rows(); ++row) {
        for (auto k = as_size(p.offsets[as_size(row)]); k < as_size(p.offsets[as_size(row + 1)]);
             ++k) {
            held[assigned.holder[k]].columns.push_back(p.indices[k]);
            held[assigned.holder[k]].entries.push_back(k);
        }
        for (held_entries& h : held)
            h.offsets.push_back(static_cast<std::int64_t>(h.entries.size()));
    }
    return held;
}

/// The values are the numbers of entries, which float has exactly.
template <class T>
void check_values(const device_group& group, const pattern& p, const row_partition& rows,
                  const column_deal& deal, const std::vector<held_entries>& expected) {
    std::vector<buffer<T>> values;
    std::vector<buffer<T>> held;
    std::vector<const T*> from;
    std::vector<T*> to;
    for (int rank = 0; rank < group.size(); ++rank) {
        const row_range mine = rows.owned(rank);
        std::vector<T> numbers;
        for (std::int64_t k = p.offsets[as_size(mine.begin)]; k < p.offsets[as_size(mine.end)]; ++k)
            numbers.push_back(static_cast<T>(k));
        values.emplace_back(group.handle(rank), std::span<const T>(numbers), "test");
        held.emplace_back(group.handle(rank), as_size(deal.held[as_size(rank)].nonzeros()), "test");
        from.push_back(values.back().data());
        to.push_back(held.back().data());
    }
    deal_values<T>(group, deal.given, from, to);
    for (std::size_t rank = 0; rank < held.size(); ++rank) {
        const auto& entries = expected[rank].entries;
        CHECK(held[rank].download() == std::vector<T>(entries.begin(), entries.end()));
    }
}

/// Pieces name each entry of a rank's rows, by holders, in the order of the matrix.
void check_order(const row_partition& rows, const pattern& p, const nonzero_assignment& assigned,
                 const std::vector<dealt_order>& given) {
    for (std::size_t rank = 0; rank < given.size(); ++rank) {
        const row_range mine = rows.owned(static_cast<int>(rank));
        const std::int64_t first = p.offsets[as_size(mine.begin)];
        std::vector<std::int32_t> order;
        std::vector<std::int64_t> begin{0};
        for (std::size_t holder = 0; holder < given.size(); ++holder) {
            for (std::int64_t k = first; k < p.offsets[as_size(mine.end)]; ++k)
                if (assigned.holder[as_size(k)] == holder)
                    order.push_back(static_cast<std::int32_t>(k - first));
            begin.push_back(static_cast<std::int64_t>(order.size()));
        }
        CHECK(given[rank].order.download() == order);
        CHECK(given[rank].begin == begin);
    }
}

void check_deal(const device_group& group, const pattern& p, int row_shape) {
    INFO(p.shape << ", " << p.rows() << " x " << p.columns << ", " << p.indices.size()
                 << " entries, rows as in shape " << row_shape);
    const row_partition rows = testing::uneven_rows(p.rows(), group.size(), row_shape);
    const nonzero_assignment assigned =
        assign_by_columns(p.offsets, p.indices, p.columns,
                          equal_entries(static_cast<std::int64_t>(p.indices.size()), group.size()));
    const auto expected = held_by_ranks(p, assigned, group.size());
    const resident_parts parts(group, p, rows);
    const column_deal deal = deal_columns(group, rows, parts.parts, p.columns);
    CHECK(deal.columns == assigned.columns);
    REQUIRE(deal.held.size() == expected.size());
    for (std::size_t rank = 0; rank < expected.size(); ++rank) {
        CHECK(deal.held[rank].offsets.download() == expected[rank].offsets);
        CHECK(deal.held[rank].columns.download() == expected[rank].columns);
        CHECK(deal.held[rank].nonzeros() ==
              static_cast<std::int64_t>(expected[rank].columns.size()));
    }
    check_order(rows, p, assigned, deal.given);
    check_values<double>(group, p, rows, deal, expected);
    check_values<float>(group, p, rows, deal, expected);
}

} // namespace

KRYLITH_GROUP_TEST("deal by columns: small matrices of all shapes") {
    for (int number = 0; number < 12 * shapes; ++number) {
        testing::random_numbers random(static_cast<std::uint64_t>(number) + 1);
        const int rows = 1 + random.below(40);
        const int columns = 1 + random.below(40);
        const auto of = static_cast<shape>(number % shapes);
        check_deal(group, random_pattern(of, rows, columns, random.below(6), 50u + number),
                   number % 3);
    }
}

KRYLITH_GROUP_TEST("deal by columns: enough entries for many stretches, sums and threads") {
    for (int number = 0; number < shapes; ++number)
        check_deal(group, random_pattern(static_cast<shape>(number), 5000, 7000, 5, 900u + number),
                   number % 3);
}

KRYLITH_GROUP_TEST("deal by columns: matrices without entries, rows or columns") {
    check_deal(group, {"no entries", 9, std::vector<std::int64_t>(6, 0)}, 0);
    check_deal(group, {"no columns", 0, std::vector<std::int64_t>(4, 0)}, 1);
    check_deal(group, {"no rows", 5}, 0);
    check_deal(group, {"nothing", 0}, 0);
    check_deal(group, {"one entry", 30, {0, 0, 1, 1}, {17}}, 2);
}

KRYLITH_GROUP_TEST("deal by columns: cuts at ends of columns, and several in one row of a column") {
    pattern equal{"four entries a column", 28};
    for (std::int32_t k = 0; k < 4 * 28; ++k) {
        equal.indices.push_back((k * 5 + 3) % 28);
        if (k % 8 == 7) equal.offsets.push_back(k + 1);
    }
    for (int row_shape = 0; row_shape < 3; ++row_shape) check_deal(group, equal, row_shape);
    check_deal(group, {"one row of duplicates", 3, {0, 2000}, std::vector<std::int32_t>(2000, 1)},
               0);
}

KRYLITH_GROUP_TEST("deal by columns: values follow what devices do with those before") {
    const pattern p = random_pattern(shape::hub, 3000, 2000, 6, 4);
    const row_partition rows = equal_rows(p.rows(), group.size());
    const resident_parts parts(group, p, rows);
    const column_deal deal = deal_columns(group, rows, parts.parts, p.columns);
    constexpr int rounds = 8;
    std::vector<buffer<double>> values; // [rounds][ranks], uploaded before the first deal, since
    std::vector<buffer<double>> kept;   // uploads may wait
    std::vector<buffer<double>> held;
    std::vector<double*> to;
    for (int round = 0; round < rounds; ++round)
        for (int rank = 0; rank < group.size(); ++rank) {
            const std::vector<double> numbers(as_size(parts.parts[as_size(rank)].nonzeros), round);
            const std::size_t count = deal.held[as_size(rank)].columns.size();
            values.emplace_back(group.handle(rank), std::span<const double>(numbers), "test");
            kept.emplace_back(group.handle(rank), count, "test");
            if (round > 0) continue;
            held.emplace_back(group.handle(rank), count, "test");
            to.push_back(held.back().data());
        }
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t first = round * held.size();
        std::vector<const double*> from;
        for (std::size_t rank = 0; rank < held.size(); ++rank)
            from.push_back(values[first + rank].data());
        deal_values<double>(group, deal.given, from, to);
        for (std::size_t rank = 0; rank < held.size(); ++rank)
            group[static_cast<int>(rank)].copy(kept[first + rank].data(), held[rank].data(),
                                               held[rank].size() * sizeof(double));
    }
    for (std::size_t k = 0; k < kept.size(); ++k) {
        const std::size_t round = k / held.size();
        CHECK(kept[k].download() ==
              std::vector<double>(kept[k].size(), static_cast<double>(round)));
    }
}

KRYLITH_GROUP_TEST("deal by columns: parts of another group or of other rows are refused") {
    const pattern p = random_pattern(shape::random, 30, 20, 3, 8);
    const row_partition rows = equal_rows(p.rows(), group.size());
    resident_parts parts(group, p, rows);
    const auto more = equal_rows(p.rows(), group.size() + 1);
    CHECK_THROWS_AS((void)deal_columns(group, more, parts.parts, p.columns), usage_error);
    const std::vector<const double*> values(parts.parts.size() + 1);
    const std::vector<double*> to(parts.parts.size());
    const column_deal deal = deal_columns(group, rows, parts.parts, p.columns);
    CHECK_THROWS_AS(deal_values<double>(group, deal.given, values, to), usage_error);
    ++parts.parts.back().rows;
    CHECK_THROWS_WITH_AS((void)deal_columns(group, rows, parts.parts, p.columns),
                         doctest::Contains("rows, must have"), usage_error);
    parts.parts.pop_back();
    CHECK_THROWS_AS((void)deal_columns(group, rows, parts.parts, p.columns), usage_error);
}

} // namespace krylith

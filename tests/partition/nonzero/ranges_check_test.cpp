// The checkers of parts must see every defect, and say which: each clause gets one planted.
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/partition/nonzero/joined_ranges.hpp>
#include <krylith/partition/nonzero/shared_major.hpp>

using namespace krylith;

namespace {

using offset_list = std::vector<std::int64_t>;
using index_list = std::vector<std::int32_t>;

// Rows of 2, 0, 5, 0 and 2 entries on three parts: [0 0 2] [2 2 2] [2 4 4], of which row 2 is
// shared by all, and the last begins with it.
const offset_list offsets{0, 2, 2, 7, 7, 9};
const index_list row_indices{0, 0, 2, 2, 2, 2, 2, 4, 4};
const index_list column_indices{0, 3, 0, 1, 2, 3, 4, 2, 1};
const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9};

pcsr<double> good_pcsr() {
    return make_pcsr<double>(5, 5, offsets, column_indices, values, equal_entries(9, 3));
}

pcoo<double> good_pcoo() {
    return make_pcoo<double>(5, 5, row_indices, column_indices, values, equal_entries(9, 3));
}

template <class Parts>
struct defect {
    const char* message; // a part of what the checker says
    std::function<void(Parts&)> plant;
};

const std::vector<defect<std::vector<major_range>>> share_defects{
    {"there are 0 parts, must be at least 1", [](auto& s) { s.clear(); }},
    {"part 1 begins at entry 4, must begin at 3", [](auto& s) { s[1].start_idx = 4; }},
    {"part 1 ends at entry 2, before it begins, at 3", [](auto& s) { s[1].end_idx = 2; }},
    {"part 1 ends at entry 6, must end at the number of entries, 9", [](auto& s) { s.pop_back(); }},
    {"part 0 owns the rows from 1 on, must own them from 0 on",
     [](auto& s) { s[0].start_major = 1; }},
    {"part 0 owns the rows from 0 on, must own them from 0 on",
     [](auto& s) {
         s[0].start_major = -1;
         s[0].start_flag = true;
     }},
    {"part 2 owns the rows from 4 on, must own them from 3 on",
     [](auto& s) { s[2].start_major = 3; }},
    {"part 1 ends at row 2, before those that it owns begin, at 3",
     [](auto& s) { s[1].end_major = 2; }},
    {"part 2 ends at row 4, must end at their number, 5", [](auto& s) { s[2].end_major = 4; }},
    {"part 1 has start_flag but no entries", [](auto& s) { s[1].end_idx = s[2].start_idx = 3; }},
};

const std::vector<defect<std::vector<major_range>>> pcsr_defects{
    {"part 0 has no entries, but owns 2 from row 0 on",
     [](auto& s) {
         s = {{0, 0, 0, 1, false}, {0, 9, 1, 5, false}};
     }},
    {"part 2 has start_flag, but at entry 7 row 2, of entries 2 to 7, doesn't go on",
     [](auto& s) { s[1].end_idx = s[2].start_idx = 7; }},
    {"part 1 has start_flag, but at entry 2 row 2, of entries 2 to 7, doesn't go on",
     [](auto& s) { s[0].end_idx = s[1].start_idx = 2; }},
    {"part 2 begins at entry 6, but row 3 begins at 7",
     [](auto& s) {
         s[2].start_major = 3;
         s[2].start_flag = false;
     }},
    {"part 0 ends at entry 3, but its last row ends at 2",
     [](auto& s) {
         s[0].end_major = 2;
         s[1] = {3, 6, 1, 3, true};
     }},
};

const std::vector<defect<std::vector<major_range>>> pcoo_defects{
    {"part 1 has no start_flag, but row 2 goes on at its first entry",
     [](auto& s) {
         s[1].start_major = 3;
         s[1].start_flag = false;
     }},
    {"part 1 has start_flag, but row 2 begins at its first entry",
     [](auto& s) { s[0].end_idx = s[1].start_idx = 2; }},
    {"part 0 has entries of rows 0 to 2, which must be among 0 to 1",
     [](auto& s) {
         s[0].end_major = 2;
         s[1] = {3, 6, 1, 3, true};
     }},
    {"part 1 has entries of rows 2 to 2, which must be among 3 to 3",
     [](auto& s) {
         s[0].end_major = 4;
         s[1] = {3, 6, 3, 4, true};
         s[2].start_major = 3;
     }},
};

template <class Check>
void expect(const std::string& message, const Check& check) {
    std::string said = "nothing";
    try {
        check();
    } catch (const error& e) {
        said = e.what();
    }
    CHECK_MESSAGE(said.find(message) != std::string::npos, message << ": " << said);
}

} // namespace

TEST_CASE("parts check: what is made passes") {
    CHECK(good_pcsr().major_ranges ==
          std::vector<major_range>{{0, 3, 0, 3, false}, {3, 6, 2, 3, true}, {6, 9, 2, 5, true}});
    CHECK_NOTHROW(check(good_pcsr(), offsets));
    CHECK_NOTHROW(check(good_pcoo()));
}

TEST_CASE("parts check: every defect of shares is found") {
    for (const auto& [message, plant] : share_defects) {
        auto a = good_pcsr();
        plant(a.major_ranges);
        expect(message, [&a] { check(a, offsets); });
        auto b = good_pcoo();
        plant(b.major_ranges);
        expect(message, [&b] { check(b); });
    }
    for (const auto& [message, plant] : pcsr_defects) {
        auto a = good_pcsr();
        plant(a.major_ranges);
        expect(message, [&a] { check(a, offsets); });
    }
    for (const auto& [message, plant] : pcoo_defects) {
        auto a = good_pcoo();
        plant(a.major_ranges);
        expect(message, [&a] { check(a); });
    }
}

TEST_CASE("parts check: arrays that are not those of the parts") {
    const std::vector<defect<pcsr<double>>> defects{
        {"pcsr: there are 6 offsets for 6 lines", [](auto& a) { a.major_size = 6; }},
        {"pcsr: lines are -1 long", [](auto& a) { a.across = -1; }},
        {"pcsr: there are 8 values for 9 indices", [](auto& a) { a.values = a.values.first(8); }},
        {"must run from 0 to the number of indices, 8",
         [](auto& a) {
             a.indices = a.indices.first(8);
             a.values = {};
         }},
        {"pcsr: there are 2 pointer arrays for 3 parts", [](auto& a) { a.offsets.pop_back(); }},
        {"pcsr: part 1 has 1 offsets, must have 2", [](auto& a) { a.offsets[1].pop_back(); }},
        {"pcsr: part 2 has offset 0 at 1, must have 1", [](auto& a) { a.offsets[2][1] = 0; }},
    };
    for (const auto& [message, plant] : defects) {
        auto a = good_pcsr();
        plant(a);
        expect(message, [&a] { check(a, offsets); });
    }
    auto a = make_pcsc<double>(5, 5, offsets, column_indices, values, equal_entries(9, 3));
    a.major_ranges[1].end_major = 2;
    expect("part 1 ends at column 2", [&a] { check(a, offsets); });

    index_list rows = row_indices;
    auto b = make_pcoo<double>(5, 5, rows, column_indices, values, equal_entries(9, 3));
    rows[4] = 5;
    expect("entry 4 is in row 5, must be 0 or more and below 5", [&b] { check(b); });
    rows[4] = 1;
    expect("entry 4 is in row 1, must not be before that of entry 3, 2", [&b] { check(b); });
    b.values = b.values.first(8);
    expect("pcoo: there are 8 values for 9 row indices", [&b] { check(b); });

    auto c = make_pcoo<double>(5, 5, row_indices, column_indices, values, equal_entries(9, 3),
                               coo_order::unsorted);
    c.major_ranges[1].end_major = 4;
    expect("part 1 has the rows from 2 to below 4, its entries are from 2 to below 3",
           [&c] { check(c); });
    c.major_ranges[1] = {3, 6, 2, 3, true};
    expect("part 1 has start_flag, which unsorted entries don't have", [&c] { check(c); });
}

TEST_CASE("parts check: makers refuse sizes that disagree and what they can see to be wrong") {
    const auto cut = equal_entries(9, 3);
    const std::span<const double> none;
    CHECK_THROWS_AS((void)make_pcsr(4, 5, offsets, column_indices, none, cut), usage_error);
    CHECK_THROWS_AS((void)make_pcsr(5, 5, offsets, column_indices, none, equal_entries(8, 3)),
                    usage_error);
    CHECK_THROWS_AS((void)make_major_ranges({}, cut), usage_error);
    CHECK_THROWS_AS((void)make_major_ranges(offsets, equal_entries(10, 3)), input_error);
    CHECK_THROWS_AS((void)make_pcoo(5, 5, row_indices, std::span(column_indices).first(8), none,
                                    cut, coo_order::by_rows),
                    usage_error);
    CHECK_THROWS_AS((void)make_pcoo(-1, 5, row_indices, column_indices, none, cut), usage_error);
    CHECK_THROWS_WITH_AS(
        (void)make_sorted_major_ranges(2, row_indices, cut),
        "make_sorted_major_ranges: entry 2 is in line 2, must be 0 or more and below 2",
        input_error);
    CHECK_THROWS_WITH_AS(
        (void)make_unsorted_major_ranges(4, row_indices, cut),
        "make_unsorted_major_ranges: entry 7 is in line 4, must be 0 or more and below 4",
        input_error);
    // Only the pattern.
    CHECK(join(make_pcsr(5, 5, offsets, column_indices, none, cut)).values.empty());
}

TEST_CASE("parts check: a wrong plan of shared lines is refused") {
    const auto major_ranges = good_pcsr().major_ranges;
    const auto says = [&](std::vector<shared_index> plan, const char* message) {
        expect(message, [&] { check(plan, major_ranges); });
    };
    CHECK_NOTHROW(check(std::vector<shared_index>{{2, 0, 2}}, major_ranges));
    says({}, "0 parts continue a line, must be 2");
    says({{2, 0, 1}}, "1 parts continue a line, must be 2");
    says({{2, 0, 3}}, "must have at least two of the 3 parts");
    says({{2, 1, 1}}, "must have at least two of the 3 parts");
    says({{2, 1, 2}}, "is not owned by the first of them");
    says({{1, 0, 2}}, "line 1 of parts 0 to 2 is not the first line of part 1");
    says({{2, 0, 2}, {2, 0, 2}}, "stands after line 2, lines must ascend");
}

TEST_CASE("parts check: pieces that don't fit are not joined") {
    const auto a = good_pcsr();
    const std::vector<pcsr_range<double>> good{a.range(0), a.range(1), a.range(2)};
    const auto says = [&](const char* message, const auto& plant, std::int64_t major_size = 5) {
        auto ranges = good;
        plant(ranges);
        expect(message,
               [&] { (void)join(std::span<const pcsr_range<double>>(ranges), major_size); });
    };
    says("part 1 begins at entry 6, must begin at 3", [](auto& p) { p.erase(p.begin() + 1); });
    says(
        "must end at their number, 6", [](auto&) {}, 6);
    says("join: part 0 has 3 offsets, must have 4",
         [](auto& p) { p[0].offsets = p[0].offsets.first(3); });
    const offset_list late{1, 2, 2, 3};
    says("join: part 0 has offset 1 at 0, must have 0", [&](auto& p) { p[0].offsets = late; });
    const offset_list down{0, 2, 1, 3};
    says("has offset 1 at 2, must not be below that before it, 2",
         [&](auto& p) { p[0].offsets = down; });
    const offset_list few{0, 2, 2, 2};
    says("has offsets to 2, must be its number of entries, 3",
         [&](auto& p) { p[0].offsets = few; });
    const offset_list closed{0, 2, 3, 3};
    says("join: part 1 has start_flag, but its first line has no entries here or at the end",
         [&](auto& p) { p[0].offsets = closed; });
    const offset_list empty_first{0, 0, 0, 3};
    says("join: part 2 has start_flag", [&](auto& p) { p[2].offsets = empty_first; });
    says("join: part 1 has 2 indices, must have 3",
         [](auto& p) { p[1].indices = p[1].indices.first(2); });
    says("join: part 1 has 0 values, must have 3", [](auto& p) { p[1].values = {}; });

    const auto c = good_pcoo();
    const auto coo_says = [&](const char* message, const auto& plant) {
        std::vector<pcoo_range<double>> ranges{c.range(0), c.range(1), c.range(2)};
        plant(ranges);
        expect(message, [&] { (void)join(std::span<const pcoo_range<double>>(ranges)); });
    };
    coo_says("part 1 has the entries from 6 to below 9, must have those from 3 on",
             [](auto& p) { p.erase(p.begin() + 1); });
    coo_says("part 1 has 2 row indices, must have 3",
             [](auto& p) { p[1].row_indices = p[1].row_indices.first(2); });
    coo_says("part 1 has 2 column indices, must have 3",
             [](auto& p) { p[1].column_indices = p[1].column_indices.first(2); });
    coo_says("part 1 has 0 values, must have 3", [](auto& p) { p[1].values = {}; });
}

// The checkers of parts must see every defect, and say which: each clause gets one planted.
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/partition/nonzero/coo_order.hpp>
#include <krylith/partition/pcsr.hpp>

namespace krylith::partition_tests {

namespace {

using offset_list = std::vector<std::int64_t>;
using index_list = std::vector<std::int32_t>;

// Rows of 2, 0, 5, 0 and 2 entries on three parts: [0 0 2] [2 2 2] [2 4 4], of which row 2 is
// shared by all, and the last begins with it.
const offset_list offsets{0, 2, 2, 7, 7, 9};
const index_list row_indices{0, 0, 2, 2, 2, 2, 2, 4, 4};

pcsr good() {
    return make_pcsr(offsets, equal_entries(9, 3));
}

struct range_defect {
    const char* message; // a part of what the checker says
    std::function<void(std::vector<major_range>&)> plant;
};

const std::vector<range_defect> share_defects{
    {"there are 0 ranges, must be at least 1", [](auto& s) { s.clear(); }},
    {"range 1 begins at entry 4, must begin at 3", [](auto& s) { s[1].start_idx = 4; }},
    {"range 1 ends at entry 2, before it begins, at 3", [](auto& s) { s[1].end_idx = 2; }},
    {"range 1 ends at entry 6, must end at the number of entries, 9",
     [](auto& s) { s.pop_back(); }},
    {"range 0 owns the rows from 1 on, must own them from 0 on",
     [](auto& s) { s[0].start_major = 1; }},
    {"range 0 owns the rows from 0 on, must own them from 0 on",
     [](auto& s) {
         s[0].start_major = -1;
         s[0].start_flag = true;
     }},
    {"range 2 owns the rows from 4 on, must own them from 3 on",
     [](auto& s) { s[2].start_major = 3; }},
    {"range 1 ends at row 2, before those that it owns begin, at 3",
     [](auto& s) { s[1].end_major = 2; }},
    {"range 2 ends at row 4, must end at their number, 5", [](auto& s) { s[2].end_major = 4; }},
    {"range 1 has start_flag but no entries", [](auto& s) { s[1].end_idx = s[2].start_idx = 3; }},
};

const std::vector<range_defect> pcsr_defects{
    {"range 0 has no entries, but owns 2 from row 0 on",
     [](auto& s) {
         s = {{0, 0, 0, 1, false}, {0, 9, 1, 5, false}};
     }},
    {"range 2 has start_flag, but at entry 7 row 2, of entries 2 to 7, doesn't go on",
     [](auto& s) { s[1].end_idx = s[2].start_idx = 7; }},
    {"range 1 has start_flag, but at entry 2 row 2, of entries 2 to 7, doesn't go on",
     [](auto& s) { s[0].end_idx = s[1].start_idx = 2; }},
    {"range 2 begins at entry 6, but row 3 begins at 7",
     [](auto& s) {
         s[2].start_major = 3;
         s[2].start_flag = false;
     }},
    {"range 0 ends at entry 3, but its last row ends at 2",
     [](auto& s) {
         s[0].end_major = 2;
         s[1] = {3, 6, 1, 3, true};
     }},
};

const std::vector<range_defect> pcoo_defects{
    {"range 1 has no start_flag, but row 2 goes on at its first entry",
     [](auto& s) {
         s[1].start_major = 3;
         s[1].start_flag = false;
     }},
    {"range 1 has start_flag, but row 2 begins at its first entry",
     [](auto& s) { s[0].end_idx = s[1].start_idx = 2; }},
    {"range 0 has entries of rows 0 to 2, which must be among 0 to 1",
     [](auto& s) {
         s[0].end_major = 2;
         s[1] = {3, 6, 1, 3, true};
     }},
    {"range 1 has entries of rows 2 to 2, which must be among 3 to 3",
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
    CHECK(good().ranges ==
          std::vector<major_range>{{0, 3, 0, 3, false}, {3, 6, 2, 3, true}, {6, 9, 2, 5, true}});
    CHECK(good().shared == std::vector<shared_major>{{2, 0, 2}});
    CHECK(good() == make_pcoo(5, row_indices, equal_entries(9, 3)));
    CHECK_NOTHROW(check(good(), offsets));
    CHECK_NOTHROW(check(good(), 5, row_indices));
}

TEST_CASE("parts check: every defect of shares is found") {
    const auto by_offsets = [](const range_defect& d) {
        pcsr a = good();
        d.plant(a.ranges);
        expect(d.message, [&a] { check(a, offsets, "row"); });
    };
    const auto by_indices = [](const range_defect& d) {
        pcsr a = good();
        d.plant(a.ranges);
        expect(d.message, [&a] { check(a, 5, row_indices, "row"); });
    };
    for (const range_defect& d : share_defects) {
        by_offsets(d);
        by_indices(d);
    }
    for (const range_defect& d : pcsr_defects) by_offsets(d);
    for (const range_defect& d : pcoo_defects) by_indices(d);
}

TEST_CASE("parts check: arrays that are not those of the parts") {
    expect("offsets has 0 numbers, must have one more than rows",
           [] { check(good(), offset_list(), "row"); });
    pcsr a = good();
    a.ranges[1].end_major = 2;
    expect("range 1 ends at column 2", [&a] { check(a, offsets, "column"); });
    index_list rows = row_indices;
    rows[4] = 5;
    expect("entry 4 is in row 5, must be 0 or more and below 5",
           [&rows] { check(good(), 5, rows, "row"); });
    rows[4] = 1;
    expect("entry 4 is in row 1, must not be before that of entry 3, 2",
           [&rows] { check(good(), 5, rows, "row"); });
}

TEST_CASE("parts check: makers refuse sizes that disagree and what they can see to be wrong") {
    const auto cut = equal_entries(9, 3);
    CHECK_THROWS_AS((void)make_pcsr({}, cut), usage_error);
    const major_range beyond{.start_idx = 0, .end_idx = 9, .start_major = 0, .end_major = 99};
    CHECK_THROWS_AS((void)range_offsets(offsets, beyond), usage_error);
    CHECK_THROWS_AS((void)range_offsets({}, {}), usage_error);
    CHECK_THROWS_AS((void)make_pcsr(offsets, nonzero_partition{{0, 5, 3, 9}}), usage_error);
    CHECK_THROWS_AS((void)make_pcsr(offsets, equal_entries(10, 3)), input_error);
    CHECK_THROWS_AS((void)make_pcoo(5, row_indices, equal_entries(8, 3)), usage_error);
    CHECK_THROWS_AS((void)make_pcoo(-1, row_indices, cut), usage_error);
    CHECK_THROWS_WITH_AS((void)make_pcoo(2, row_indices, cut),
                         "make_pcoo: entry 2 has the major index 2, must be 0 or more and below 2",
                         input_error);
    CHECK_THROWS_AS((void)find_coo_order(row_indices, index_list(8)), usage_error);
}

TEST_CASE("parts check: a wrong plan of shared lines is refused") {
    const auto says = [&](std::vector<shared_major> shared, const char* message) {
        const pcsr a{good().ranges, std::move(shared)};
        expect(message, [&a] { check(a, offsets, "row"); });
        expect(message, [&a] { check(a, 5, row_indices, "row"); });
    };
    says({}, "shared rows go on in 0 ranges, must go on in 2");
    says({{2, 0, 1}}, "shared rows go on in 1 ranges, must go on in 2");
    says({{2, 0, 3}}, "must have at least two of the 3 ranges");
    says({{2, 1, 1}}, "must have at least two of the 3 ranges");
    says({{2, 1, 2}}, "is not owned by the first of them");
    says({{1, 0, 2}}, "row 1 of ranges 0 to 2 is not the first row of range 1");
    says({{2, 0, 2}, {2, 0, 2}}, "stands after row 2, rows must ascend");
}

} // namespace krylith::partition_tests

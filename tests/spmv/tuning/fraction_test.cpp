// Tuning the fractions of lra and lra-rc: the search by tables of times, the trial on every group.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/tuning/fraction_trial.hpp>

#include <krylith/tests/support/cache_folder.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

#include <krylith/vector/fused.hpp>

namespace krylith {

using testing::cache_folder;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr row_fractions usual = {0.35, 0.2};

/// Returns the time of a point in a valley around `bottom`.
double valley(const row_fractions& at, const row_fractions& bottom) {
    return 1e-6 * (10 + 40 * std::abs(at.long_rows - bottom.long_rows) +
                   40 * std::abs(at.redundant - bottom.redundant));
}

/// Checks that the product with x0 is right to rounding.
void check_vector_product(const csr_matrix<double>& matrix, const matrix_operator<double>& a,
                          const std::vector<double>& x0) {
    execution run(a.layout()->comm, {});
    const auto source = testing::make_range_vector(a.layout(), x0);
    auto x = a.make_domain_vector();
    auto y = a.make_range_vector();
    fused(run, x = source);
    a.apply(run, 1.0, x, 0.0, y);
    const auto result = testing::values_of(y);
    const auto expected = testing::product(matrix, 1.0, x0, 0.0, x0);
    bool good = true;
    for (std::size_t i = 0; i < result.size(); ++i)
        good = good && expected[i].allows<double>(result[i]);
    CHECK(good);
}

} // namespace

TEST_CASE("fraction search: finds the bottom, the rule first, nine points at most, none twice") {
    for (const double long_rows : {0.2, 0.35, 0.5})
        for (const double redundant : {0.0, 0.05, 0.1, 0.2, 0.3}) {
            const row_fractions bottom{long_rows, redundant};
            std::vector<row_fractions> asked;
            const auto found = search_fractions(usual, {}, [&](const row_fractions& point) {
                for (const row_fractions& before : asked) CHECK(before != point);
                asked.push_back(point);
                return valley(point, bottom);
            });
            REQUIRE(found);
            CHECK(asked.front() == usual);
            CHECK(asked.size() <= most_fraction_points);
            CHECK(found->tried.size() == asked.size());
            CHECK(found->best == bottom);
            CHECK(found->rule == usual);
            CHECK(found->rule_loss == doctest::Approx(valley(usual, bottom) / 1e-5));
            CHECK(found->from == "measured");
        }
}

TEST_CASE("fraction search: what is fixed stays, and sums stay within 1") {
    const auto points = [](const row_fractions& rule, free_fractions free) {
        std::vector<row_fractions> asked;
        CHECK(search_fractions(rule, free, [&](const row_fractions& point) {
                  asked.push_back(point);
                  return 1.0;
              })->best == rule); // the first of equal points
        return asked;
    };
    for (const auto& p : points({0.9, 0.1}, {false, true})) {
        CHECK(p.long_rows == 0.9);
        CHECK(p.redundant <= 0.1);
    }
    for (const auto& p : points({0.35, 0.45}, {true, false})) CHECK(p.redundant == 0.45);
    CHECK(points({0.35, 0}, {true, false}).size() == 3);
    CHECK(points({0.4, 0.25}, {true, true}).size() == 9);
    CHECK(points({0.4, 0}, {false, false}).size() == 1);
}

TEST_CASE("fraction search: points that can't be built are left out") {
    const auto found = search_fractions(usual, {}, [](const row_fractions& point) {
        return point == usual ? never : valley(point, {0.5, 0.1});
    });
    REQUIRE(found);
    CHECK(found->best == row_fractions{0.5, 0.1});
    CHECK(found->rule_loss == 0);
    CHECK(in_words(*found).find("memory is too short") != std::string::npos);
    CHECK_FALSE(search_fractions(usual, {}, [](const row_fractions&) { return never; }));
}

TEST_CASE("fraction search: what format writes is read, and nothing else") {
    fraction_choice choice;
    choice.best = {0.35, 0.05};
    choice.rule = usual;
    choice.rule_loss = 1.0425;
    choice.from = "measured";
    CHECK(format(choice) == "0.35 0.05 1.0425");
    const auto read = parse_fraction_choice(format(choice), usual);
    REQUIRE(read);
    CHECK(read->best == choice.best);
    CHECK(read->rule == usual);
    CHECK(read->rule_loss == choice.rule_loss);
    CHECK(read->tried.empty());
    CHECK(in_words(choice) ==
          "long_fraction 0.35 and redundant_fraction 0.05 (measured); the rule's "
          "0.35 and 0.2 take 1.04 times as long");
    CHECK(parse_fraction_choice("0.5 0 0", usual));
    for (const char* const wrong :
         {"", "0.35", "0.35 0.05", "0.35 0.05 0.9", "0.35 0.05 1 ", "0.35 0.05 1 2", "0.7 0.4 1",
          "-0.1 0.5 1", "nan 0 1", "0.35 nan 1", "0.35 0 inf", "0.35  0 1", "0.35,0,1", "x 0 1"})
        CHECK_MESSAGE(!parse_fraction_choice(wrong, usual), wrong);
}

KRYLITH_GROUP_TEST("fractions: measured, kept, and read again") {
    const cache_folder cache;
    const auto matrix = testing::random_matrix(500, 6, 2, 61);
    const auto x0 = testing::random_values<double>(500, 62);
    for (const auto kind : {operators::lra, operators::lra_rc}) {
        fraction_choice first;
        for (const bool again : {false, true}) {
            const auto a = make_operator(group, matrix, {.kind = kind, .measure = true});
            CHECK(a->kind() == kind);
            check_vector_product(matrix, *a, x0);
            if (group.size() == 1) { // nothing is sent, so there is no trial
                CHECK(a->choice() == nullptr);
                continue;
            }
            REQUIRE(a->choice() != nullptr);
            REQUIRE(a->choice()->fractions);
            const fraction_choice& found = *a->choice()->fractions;
            INFO(a->choice()->because);
            CHECK(a->choice()->because == in_words(found));
            CHECK(found.rule_loss >= 1);
            CHECK(found.tried.empty() == again);
            CHECK((found.from == "measured") != again);
            if (kind == operators::lra) CHECK(found.best.redundant == 0);
            if (!again) {
                CHECK(found.tried.front().fractions == found.rule);
                for (const timed_fractions& t : found.tried) CHECK(t.seconds > 0);
                first = found;
            } else {
                CHECK(found.best == first.best);
                CHECK(found.rule == first.rule);
                CHECK(found.rule_loss == first.rule_loss);
            }
            // The operator computes with the fractions that it was tuned to.
            const auto same = make_operator(
                group, matrix,
                {.kind = kind,
                 .long_fraction = found.best.long_rows,
                 .redundant_fraction = kind == operators::lra_rc ? found.best.redundant : -1});
            for (int rank = 0; rank < group.size(); ++rank)
                CHECK(a->received(rank) == same->received(rank));
        }
    }
}

TEST_CASE("fractions: one that is given stays, and is kept apart") {
    const cache_folder cache;
    const auto group = device_group::host(3);
    const auto matrix = testing::random_matrix(500, 6, 2, 63);
    const operator_options fixed{.kind = operators::lra_rc, .measure = true, .long_fraction = 0.45};
    const auto a = make_operator(group, matrix, fixed);
    REQUIRE(a->choice() != nullptr);
    for (const timed_fractions& t : a->choice()->fractions->tried)
        CHECK(t.fractions.long_rows == 0.45);
    const auto free = make_operator(group, matrix, {.kind = operators::lra_rc, .measure = true});
    CHECK(free->choice()->fractions->from == "measured");
    CHECK(make_operator(group, matrix, fixed)->choice()->fractions->from != "measured");

    const auto refused = [&](const operator_options& options, const char* words) {
        CHECK_THROWS_WITH_AS((void)make_operator(group, matrix, options), doctest::Contains(words),
                             usage_error);
    };
    refused({.kind = operators::lra, .measure = true, .long_fraction = 0.3}, "no fraction is left");
    refused({.kind = operators::lra_rc,
             .measure = true,
             .long_fraction = 0.3,
             .redundant_fraction = 0.1},
            "no fraction is left");
    refused({.kind = operators::halo, .measure = true}, "only auto, lra and lra-rc");
}

TEST_CASE("fractions: auto measured takes those that were tuned before, and tunes none itself") {
    const cache_folder cache;
    const auto group = device_group::host(3);
    const auto matrix = testing::random_matrix(500, 6, 2, 64);
    const trial_subject subject{group, pattern_hash(matrix.row_offsets, matrix.column_indices)};
    const std::string machine = machine_name(group);
    const auto taken = [&](const char* name) { // as if an earlier trial had found it fastest
        CHECK(keep_tuned({machine, subject.pattern, "operator fp64"}, name).empty());
        auto a = make_operator(group, matrix, {.measure = true});
        CHECK(a->kind() == parse_operator_kind(name));
        return a;
    };
    CHECK_FALSE(taken("lra-rc")->choice()->fractions);
    const auto key = fractions_key(subject, operators::lra_rc, {}, sizeof(double));
    CHECK(key.name == "lra-rc fractions fp64");
    CHECK(keep_tuned(key, "0.25 0.5 1.5").empty());
    const auto a = taken("lra-rc");
    REQUIRE(a->choice()->fractions);
    CHECK(a->choice()->fractions->best == row_fractions{0.25, 0.5});
    CHECK(a->choice()->because.find("long_fraction 0.25") != std::string::npos);
    std::int64_t redundant = 500 * group.size();
    for (int rank = 0; rank < group.size(); ++rank) redundant -= a->received(rank);
    CHECK(redundant == 500 + 250 * (group.size() - 1)); // rows computed on all devices together
    CHECK_FALSE(taken("lra")->choice()->fractions);
    CHECK(keep_tuned(key, "broken").empty());
    CHECK_FALSE(taken("lra-rc")->choice()->fractions);
}

} // namespace krylith

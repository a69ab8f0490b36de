// The cost model is arithmetic: its results for extreme matrices and machines, and its numbers.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/matrices.hpp>

namespace krylith {

namespace {

/// Rates that make seconds easy to compute by hand.
machine_rates round_rates() {
    return {1e12, 2e12, 1e11, 1e11, {2e-6, 3e-6, 4e-6}};
}

double seconds_of(const std::string& name, const std::vector<prediction>& all) {
    const auto found = std::ranges::find(all, name, &prediction::name);
    REQUIRE(found != all.end());
    return found->seconds;
}

pattern_statistics statistics(const csr_matrix<double>& a, int devices) {
    return measure_pattern(
        make_halo_plan(a.row_offsets, a.column_indices, partition_rows(a.row_offsets, devices)),
        a.row_offsets, a.column_indices, find_longest_row(a.row_offsets), 8);
}

/// Statistics of a matrix with equal rows, of which every device needs `ghosts` entries.
pattern_statistics even(std::int64_t rows, std::int64_t row_length, int devices,
                        std::int64_t ghosts) {
    pattern_statistics s;
    s.longest_row = row_length;
    const std::int64_t mine = rows / devices;
    s.parts.assign(static_cast<std::size_t>(devices),
                   {mine, mine * row_length, ghosts, ghosts, std::min(mine, ghosts)});
    return s;
}

std::string first(const pattern_statistics& s, const machine_rates& rates) {
    return predict(s, rates).front().name;
}

} // namespace

TEST_CASE("cost model: one device has the bytes of the product and of the vectors, and 3 phases") {
    const auto all = predict(even(1'000'000, 7, 1, 0), round_rates());
    REQUIRE(all.size() == 1);
    CHECK(all[0].name == "halo");
    CHECK(all[0].devices == 1);
    CHECK(all[0].seconds == doctest::Approx(100e6 / 2e12 + 64e6 / 1e12 + 6e-6));
}

TEST_CASE("cost model: the formulas, by hand") {
    // There are two devices with 500000 rows of 10, and each needs all entries of the other.
    const auto all = predict(even(1'000'000, 10, 2, 500'000), round_rates());
    const double p = (60e6 + 12e6) / 2e12; // 36 us
    const double t = 8 * 500'000 / 1e11;   // 40 us
    const double phases = 3 * 3e-6;
    CHECK(seconds_of("nz", all) == doctest::Approx(t + 0.1 * p + 64e-6 + phases));
    CHECK(seconds_of("2nz", all) == seconds_of("nz", all));
    CHECK(seconds_of("lra", all) == seconds_of("nz", all));
    CHECK(seconds_of("lra-rc", all) == seconds_of("nz", all));
    CHECK(seconds_of("allgather", all) == doctest::Approx(p + 12e-6 + t + phases));
    CHECK(seconds_of("halo", all) ==
          // There are no interior rows.
          doctest::Approx(p + 32e-6 + 44 * 0.5e-6 + 1e-6 + t + phases));
    CHECK(std::ranges::is_sorted(all, {}, &prediction::seconds));
    CHECK(all.size() == 6);

    const auto half = predict(even(1'000'000, 10, 2, 500'000), round_rates(), {0.5});
    CHECK(seconds_of("lra-rc", half) ==
          doctest::Approx(p + 30e6 / 2e12 + 0.1 * t / 2 + 64e-6 + phases));
    CHECK(seconds_of("lra", half) == seconds_of("nz", all));
}

TEST_CASE("cost model: interior rows hide the ghosts of halo") {
    auto few = even(1'000'000, 10, 2, 1000); // sending takes 1.08 us, the product 36 us
    const auto rates = round_rates();
    const double hidden = seconds_of("halo", predict(few, rates));
    for (auto& part : few.parts) part.boundary_rows = part.rows;
    const double shown = seconds_of("halo", predict(few, rates));
    CHECK(shown - hidden == doctest::Approx(1e-6 + 8000 / 1e11));
}

TEST_CASE("cost model: few ghosts are for halo, many for allgather, slow vectors against nz") {
    auto rates = h200_rates();
    const auto grid = statistics(poisson3d<double>(40, 40, 200), 2);
    CHECK(seconds_of("halo", predict(grid, rates)) < seconds_of("nz", predict(grid, rates)));
    CHECK(first(even(64'000'000, 7, 4, 200'000), rates) == "halo");
    CHECK(first(even(64'000'000, 30, 4, 48'000'000), rates) != "halo");
    // A long product hides a transfer of nz; all other operators send while vectors are written.
    rates.stores = 2e11;
    const auto dense = even(4'000'000, 100, 4, 3'000'000);
    CHECK(first(dense, rates) == "nz");
    rates.stores = 4e12; // links are fast, so only the vector work counts
    CHECK(first(dense, rates) == "allgather");
}

TEST_CASE("cost model: more devices cost small systems time and save large ones") {
    const auto rates = h200_rates();
    const auto time = [&](std::int64_t rows, int devices) {
        return predict(even(rows, 7, devices, devices == 1 ? 0 : 2000), rates).front().seconds;
    };
    CHECK(time(50'000, 4) > time(50'000, 1));
    CHECK(time(50'000'000, 4) < 0.4 * time(50'000'000, 1));
    // These were measured on H200: 7-point Poisson on 256^3 667 us and 195 us, on 64^3 21.4 us and
    // 22.4 us.
    CHECK(time(256L * 256 * 256, 1) == doctest::Approx(667e-6).epsilon(0.2));
    CHECK(time(256L * 256 * 256, 4) == doctest::Approx(195e-6).epsilon(0.2));
    CHECK(time(64L * 64 * 64, 1) == doctest::Approx(21.4e-6).epsilon(0.2));
}

TEST_CASE("cost model: rows without neighbours' columns read a sector for each entry of x") {
    for (const int devices : {1, 4}) {
        CAPTURE(devices);
        for (const auto& part : statistics(poisson3d<double>(16), devices).parts)
            CHECK(part.scattered < 0.02);
        for (const auto& part : statistics(random_uniform<double>(20'000, 9, 3), devices).parts)
            CHECK(part.scattered > 0.98);
    }
    auto s = even(1'000'000, 10, 1, 0);
    s.parts[0].scattered = 0.5;
    CHECK(predict(s, round_rates())[0].seconds ==
          doctest::Approx((320e6 + 16e6) / 2e12 + 64e6 / 1e12 + 6e-6));
    // On four H200 a product with 4 M rows of 17 took 166 us with nz, 236 us with allgather.
    auto random = even(4'000'000, 17, 4, 3'000'000);
    for (auto& part : random.parts) part.scattered = 1;
    const machine_rates measured = {3.79e12, 6.29e12, 3.43e11, 3.78e11, {8.7e-6}};
    CHECK(first(random, measured) == "nz");
}

TEST_CASE("cost model: a long row keeps its device") {
    auto s = even(1'000'000, 10, 4, 1000);
    const double before = predict(s, round_rates()).front().seconds;
    s.longest_row = 1'000'000;
    CHECK(predict(s, round_rates()).front().seconds > before + 100e-6);
}

TEST_CASE("cost model: statistics are counted from the plan") {
    const auto a = testing::random_matrix(300, 4, 1, 17);
    for (const int devices : {1, 2, 3, 7, 301}) {
        const auto s = statistics(a, devices);
        CHECK(s.rows() == 300);
        std::int64_t nonzeros = 0, sent = 0, ghosts = 0;
        for (const auto& part : s.parts) {
            nonzeros += part.nonzeros;
            sent += part.sent;
            ghosts += part.ghosts;
            CHECK(part.boundary_rows <= part.rows);
            CHECK((part.boundary_rows == 0) == (part.ghosts == 0));
        }
        CHECK(nonzeros == a.nnz());
        CHECK(sent == ghosts);
        for (const auto& p : predict(s, h200_rates())) CHECK(p.seconds > 0);
    }
    CHECK(statistics(testing::laplace_1d(20), 2).longest_row == 3);
}

TEST_CASE("cost model: candidates are what can be built, and misuse is refused") {
    const auto s = even(1000, 3, 2, 10);
    const auto kinds = ranked_operators(s, h200_rates());
    CHECK(kinds.size() >= 3);
    for (const auto kind : {operators::nz, operators::halo, operators::allgather})
        CHECK(std::ranges::count(kinds, kind) == 1);
    CHECK(ranked_operators(even(1000, 3, 1, 0), h200_rates()) ==
          std::vector<operator_kind>{operators::halo});
    CHECK_THROWS_AS((void)predict({}, h200_rates()), usage_error);
    CHECK_THROWS_AS((void)predict(s, machine_rates{}), usage_error);
    CHECK_THROWS_WITH_AS((void)predict(s, h200_rates(), {1.5}),
                         doctest::Contains("fraction is 1.5, must be 0 to 1"), usage_error);
    const std::vector<prediction> two = {{"halo", 2, 18.2e-6}, {"nz", 2, 40e-6}};
    CHECK(in_words(two) == "halo 18.2 us, nz 40 us");
    CHECK(in_words(std::vector<prediction>{{"allgather", 2, 3.24e-3}}) == "allgather 3.24 ms");
}

} // namespace krylith

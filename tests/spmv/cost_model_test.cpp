// The cost model is arithmetic: its results for extreme matrices and machines, and its numbers.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>
#include <krylith/spmv/cost/cut_statistics.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/tuning/mocked_rates.hpp>

#include <krylith/tests/support/groups.hpp>
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
    return measure_pattern(make_halo_plan(a.row_offsets, a.column_indices,
                                          partition_rows(csr_view<double>(a), devices)),
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

TEST_CASE("cost model: a cut within rows, by hand") {
    auto s = even(1'000'000, 10, 2, 1000);
    s.longest_row = 5'000'000;
    cut_statistics cut;
    cut.parts.assign(2, {500'000, 5'000'000, 2000, 3000, 500'000});
    cut.has_remote_row = {false, true};
    cut.partial_sums = {1, 0};
    cut.longest_row = 100;
    s.cut = std::make_shared<cut_statistics>(cut);
    const auto all = predict(s, round_rates());
    CHECK(all.size() == 7);
    const double p = (60e6 + 8e6 + 16e3) / 2e12;
    CHECK(seconds_of("pcsr", all) ==
          doctest::Approx(p + (32e6 + 44 * 3000) / 1e12 + 1e-6 + 8 * 2001 / 1e11 + 4 * 3e-6));
    CHECK(all.front().name == "pcsr"); // all others leave the long row to a block of one device
    cut.has_remote_row = {false, false};
    cut.partial_sums = {0, 0};
    s.cut = std::make_shared<cut_statistics>(cut);
    CHECK(seconds_of("pcsr", all) - seconds_of("pcsr", predict(s, round_rates())) ==
          doctest::Approx(3e-6 + 8 / 1e11));
    cut.longest_row = 1'000'000; // 12e6 bytes by one block of a hundred
    s.cut = std::make_shared<cut_statistics>(cut);
    CHECK(seconds_of("pcsr", predict(s, round_rates())) > 600e-6);
}

TEST_CASE("cost model: the statistics of a cut are those of the operator's plan") {
    // Rows of a few entries, and one with as many as all others.
    std::vector<std::vector<double>> dense(60, std::vector<double>(60, 0));
    for (std::size_t i = 0; i < 60; ++i) dense[i][i] = dense[i][(i * 7 + 3) % 60] = 2;
    auto uneven = dense;
    std::ranges::fill(uneven[20], 1.0);
    for (const auto& a : {testing::from_dense(uneven), testing::from_dense(dense),
                          testing::random_matrix(400, 5, 2, 19), testing::laplace_1d(300)})
        for (const int devices : {2, 3, 4, 7}) {
            CAPTURE(a.rows);
            CAPTURE(devices);
            const auto s = statistics(a, devices);
            REQUIRE(s.cut);
            const auto plan = make_nonzero_split_plan(
                a.row_offsets, a.column_indices,
                assign_by_rows(a.row_offsets, a.columns, equal_entries(a.nnz(), devices)));
            std::int64_t fullest = 0;
            for (const auto& part : s.parts) fullest = std::max(fullest, part.nonzeros);
            const bool exact =
                static_cast<double>(fullest * devices) > even_enough * static_cast<double>(a.nnz());
            std::int64_t sums = 0, remote = 0, longest = 0;
            for (int k = 0; k < devices; ++k) {
                const auto i = static_cast<std::size_t>(k);
                const auto& part = plan.local[i];
                CHECK(s.cut->parts[i].rows == plan.halo.rows.owned(k).size());
                CHECK(s.cut->parts[i].nonzeros ==
                      part.own.offsets.back() + part.remote.offsets.back());
                CHECK(s.cut->has_remote_row[i] == (part.remote.rows() != 0));
                remote += part.remote.rows();
                sums += s.cut->partial_sums[i];
                for (const auto* block : {&part.own, &part.remote})
                    for (std::size_t row = 0; row + 1 < block->offsets.size(); ++row)
                        longest = std::max(longest, block->offsets[row + 1] - block->offsets[row]);
                if (exact) {
                    CHECK(s.cut->parts[i].ghosts == plan.halo.ghost_count(k));
                    CHECK(s.cut->parts[i].sent == plan.halo.send_count(k));
                } else {
                    CHECK(s.cut->parts[i].ghosts == s.parts[i].ghosts);
                }
            }
            CHECK(sums == remote);
            CHECK(s.cut->longest_row == longest);
        }
}

KRYLITH_GROUP_TEST("cost model: auto takes pcsr where a row has most of the nonzeros") {
    const std::size_t n = 400;
    std::vector<std::vector<double>> dense(n, std::vector<double>(n, 0));
    for (std::size_t i = 0; i < n; ++i) dense[i][i] = 4;
    std::ranges::fill(dense[n / 2], 1.0);
    const auto matrix = testing::from_dense(dense);
    // Products are slow, and nothing else takes time.
    const mocked_rates slow({1e12, 1e6, 1e12, 1e12, {1e-9}});
    const auto a = make_operator(group, matrix);
    const bool several = group.size() > 1;
    CHECK((a->kind() == operators::pcsr) == several);
    if (several) CHECK(a->choice()->because.starts_with("pcsr "));
    const auto grid = make_operator(group, poisson2d<double>(60));
    CHECK(grid->kind() == operators::halo); // rows divide evenly
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

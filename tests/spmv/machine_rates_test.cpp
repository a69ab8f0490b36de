// Rates of the machine: measured on every group on request, kept in a file, and built in where
// there is no such file.
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/tuning_file.hpp>
#include <krylith/matrix/gallery/poisson.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/tuning/mocked_rates.hpp>

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

std::string contents_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

KRYLITH_GROUP_TEST("machine rates: measured, with all memory given back") {
    std::vector<std::size_t> before;
    for (int rank = 0; rank < group.size(); ++rank) before.push_back(group[rank].ledger().live());
    const machine_rates rates = measure(group);
    INFO(format(rates));
    CHECK_NOTHROW(check(rates));
    CHECK(rates.phase.size() == static_cast<std::size_t>(group.size()));
    for (int rank = 0; rank < group.size(); ++rank)
        CHECK(group[rank].ledger().live() == before[static_cast<std::size_t>(rank)]);
}

TEST_CASE("machine rates: what format writes is read, and nothing else") {
    const machine_rates rates = h200_rates();
    CHECK(parse_machine_rates(format(rates)) == rates);
    for (const char* const wrong : {"", "copy", "copy 1", "copy 1 product 1 stores 1 engines 1",
                                    "copy 1 product 1 stores 1 "
                                    "engines 1 phase",
                                    "copy 0 product 1 stores 1 engines 1 phase 1",
                                    "copy nan product 1 stores 1 engines 1 phase 1",
                                    "copy 1 product inf stores 1 engines 1 phase 1",
                                    "copy 1 product 1 stores -1 engines 1 phase 1",
                                    "copy 1x product 1 stores 1 engines 1 phase 1",
                                    "product 1 copy 1 stores 1 engines 1 phase 1",
                                    "copy 1 product 1 stores 1 engines 1 phase 1 x"})
        CHECK_MESSAGE(!parse_machine_rates(wrong), wrong);
    CHECK(rates.phase_on(4) == 5.2e-6);
    CHECK(rates.phase_on(30) == rates.phase.back());
}

TEST_CASE("machine rates: are kept by machine, and a broken file is as none") {
    const cache_folder cache;
    const auto group = device_group::host(2, {.host_threads = 2});
    const auto other = device_group::host(3, {.host_threads = 3});
    machine_rates rates = h200_rates();
    CHECK(kept_measurements(group).empty());
    rates.phase.resize(3);
    CHECK(keep_measurement(other, rates).empty());
    CHECK(kept_measurements(group).empty());
    CHECK(kept_measurements(other) == std::vector{rates});
    rates.phase.resize(2);
    CHECK(keep_measurement(group, rates).empty());
    CHECK(kept_measurements(group) == std::vector{rates});
    rates.phase.resize(1); // rates of another number of devices
    CHECK(keep_measurement(group, rates).empty());
    CHECK(kept_measurements(group).empty());

    const auto file = tuning_file(machine_name(group));
    for (const std::string& broken :
         {std::string(), std::string("\0\xff\n\n", 4), contents_of(file).substr(0, 40),
          contents_of(file).substr(0, contents_of(file).size() - 9)}) {
        std::ofstream(file) << broken;
        CHECK(kept_measurements(group).empty());
    }
    rates.phase.resize(2, 1e-6);
    CHECK(keep_measurement(group, rates).empty());
    CHECK(kept_measurements(group) == std::vector{rates});
}

TEST_CASE("machine rates: the last five measurements are kept, and their median counts") {
    const cache_folder cache;
    const mocked_rates as_in_programs;
    const auto group = device_group::host(2, {.host_threads = 2});
    machine_rates quiet = host_rates();
    quiet.phase.resize(2);
    machine_rates busy = quiet;
    busy.copy /= 1000;
    busy.phase[1] *= 1000;
    CHECK(keep_measurement(group, busy).empty());
    for (int k = 0; k < 2; ++k) CHECK(keep_measurement(group, quiet).empty());
    CHECK(kept_measurements(group).size() == 3);
    CHECK(median(kept_measurements(group)) == quiet);
    CHECK(rates_of(group).rates == quiet);
    CHECK(rates_of(group).from.starts_with("median of 3 measurements, in "));
    for (std::size_t k = 0; k < most_kept_measurements - 2; ++k)
        CHECK(keep_measurement(group, quiet).empty());
    CHECK(kept_measurements(group) == std::vector(most_kept_measurements, quiet));

    machine_rates half = quiet;
    half.copy = quiet.copy / 2;
    CHECK(median(std::array{quiet, half}).copy == quiet.copy * 0.75);
    CHECK_THROWS_AS((void)median({}), usage_error);
}

TEST_CASE("machine rates: are built in where none are kept, and never measured unasked") {
    const cache_folder cache;
    const mocked_rates as_in_programs;
    // No other test keeps rates of such a group.
    const auto group = device_group::host(2, {.host_threads = 4});
    const known_rates known = rates_of(group);
    CHECK(known.rates == built_in_rates(backend::host));
    CHECK(known.from.starts_with("built in"));
    CHECK(group[0].ledger().peak() == 0); // measuring takes memory of the group's devices
    CHECK_FALSE(std::filesystem::exists(cache.path));
    const machine_rates sound = built_in_rates(backend::cuda);
    CHECK_NOTHROW(check(sound));
    CHECK_NOTHROW(check(host_rates()));

    const known_rates measured = measure_and_keep(group);
    CHECK(group[0].ledger().peak() > 0);
    CHECK(kept_measurements(group) == std::vector{measured.rates});
    CHECK(rates_of(group).rates == measured.rates);
    CHECK(rates_of(group).from.starts_with("one measurement, in "));
}

TEST_CASE("machine rates: what can't be written is said and does no harm") {
    const cache_folder cache;
    const mocked_rates as_in_programs;
    std::ofstream(cache.path) << "a file where the folder should be";
    const auto group = device_group::host(1);
    machine_rates rates = h200_rates();
    CHECK_FALSE(keep_measurement(group, rates).empty());
    CHECK(kept_measurements(group).empty());
    const known_rates measured = measure_and_keep(group);
    CHECK(measured.from.starts_with("measured for this process only: "));
    CHECK(rates_of(group).rates == measured.rates);
}

TEST_CASE("operators: auto takes the same one each time where no rates can be kept") {
    const cache_folder cache;
    const mocked_rates as_in_programs;
    std::ofstream(cache.path) << "a file where the folder should be";
    const auto matrix = poisson2d<double>(10);
    std::string words;
    for (int k = 0; k < 20; ++k) {
        const auto a = make_operator(device_group::host(2, {.host_threads = 2}), matrix);
        REQUIRE(a->choice() != nullptr);
        const std::string now = std::string(to_string(a->kind())) + ": " + a->choice()->because;
        CHECK(now == (words.empty() ? now : words));
        words = now;
    }
}

TEST_CASE("operators: auto leaves halo only for what is clearly faster") {
    const std::vector<prediction> near = {{"nz", 2, 0.91}, {"allgather", 2, 0.95}, {"halo", 2, 1}};
    CHECK(clear_choice(near).name == "halo");
    const std::vector<prediction> far = {{"nz", 2, 0.89}, {"allgather", 2, 0.95}, {"halo", 2, 1}};
    CHECK(clear_choice(far).name == "nz");
    const std::vector<prediction> none = {{"nz", 2, 0.99}, {"allgather", 2, 1}};
    CHECK(clear_choice(none).name == "nz");
}

TEST_CASE("tuning file: values by machine, pattern and name") {
    const cache_folder cache;
    const auto a = testing::laplace_1d(20);
    const auto b = testing::laplace_1d(21);
    const auto hash = pattern_hash(a.row_offsets, a.column_indices);
    CHECK(hash == pattern_hash(a.row_offsets, a.column_indices));
    CHECK(hash != pattern_hash(b.row_offsets, b.column_indices));
    const tuning_key key{"m", hash, "operator fp64"};
    CHECK_FALSE(recall_tuned(key));
    CHECK(keep_tuned(key, "halo").empty());
    CHECK(keep_tuned({"m", hash, "fractions"}, "0.25 0.5").empty());
    CHECK(keep_tuned({"m", hash + 1, "operator fp64"}, "nz").empty());
    CHECK(keep_tuned({"another", hash, "operator fp64"}, "allgather").empty());
    CHECK(recall_tuned(key) == "halo");
    CHECK(recall_tuned({"m", hash, "fractions"}) == "0.25 0.5");
    CHECK(recall_tuned({"m", hash + 1, "operator fp64"}) == "nz");
    CHECK(recall_tuned({"another", hash, "operator fp64"}) == "allgather");
    CHECK_FALSE(recall_tuned({"m", hash, "operator"}));
}

KRYLITH_GROUP_TEST("operators: auto says what it reckoned with, and follows the rates") {
    // The matrix has no structure: every device needs nearly all entries. With slow vectors nz
    // loses; with fast ones and a link that the product hides it wins.
    const auto matrix = testing::random_matrix(600, 20, 1, 47);
    const std::vector<double> phases(7, 1e-6);
    const auto taken = [&](const machine_rates& rates) {
        const mocked_rates mock(rates);
        const auto a = make_operator(group, matrix);
        if (group.size() == 1) {
            CHECK(a->choice() == nullptr);
            return operators::automatic;
        }
        REQUIRE(a->choice() != nullptr);
        CHECK(a->choice()->predictions.size() >= 3);
        CHECK(clear_choice(a->choice()->predictions).name == to_string(a->kind()));
        CHECK(a->choice()->because.find("by the cost model") != std::string::npos);
        CHECK(a->choice()->measured.empty());
        CHECK(a->choice()->rates_from == "given by a test");
        return a->kind();
    };
    const auto slow_vectors = taken({1e8, 1e9, 1e9, 1e9, phases});
    const auto fast_vectors = taken({1e15, 1e9, 5e7, 1e9, phases});
    if (group.size() == 1) return;
    CHECK(slow_vectors == operators::allgather);
    CHECK(fast_vectors == operators::nz);
}

KRYLITH_GROUP_TEST("operators: auto measured tries, keeps the fastest, and remembers it") {
    const cache_folder cache;
    const auto matrix = testing::random_matrix(500, 6, 2, 51);
    const auto x0 = testing::random_values<double>(500, 52);
    const auto expected = testing::product(matrix, 1.0, x0, 0.0, x0);
    for (const bool again : {false, true}) {
        const auto a = make_operator(group, matrix, {.measure = true});
        execution run(group, {});
        auto source = testing::make_range_vector(a->layout(), x0);
        auto x = a->make_domain_vector();
        auto y = a->make_range_vector();
        fused(run, x = source);
        a->apply(run, 1.0, x, 0.0, y);
        const auto result = testing::values_of(y);
        bool good = true;
        for (std::size_t i = 0; i < result.size(); ++i)
            good = good && expected[i].allows<double>(result[i]);
        CHECK(good);
        if (group.size() == 1) continue;
        REQUIRE(a->choice() != nullptr);
        CHECK(a->choice()->measured.empty() == again);
        if (!again) {
            CHECK(clear_choice(a->choice()->measured).name == to_string(a->kind()));
            CHECK(a->choice()->measured.front().seconds > 0);
        } else {
            CHECK(a->choice()->because.find("earlier trial") != std::string::npos);
        }
    }
    CHECK_THROWS_WITH_AS(
        (void)make_operator(group, matrix, {.kind = operators::nz, .measure = true}),
        doctest::Contains("only auto, lra and lra-rc"), usage_error);
}

} // namespace krylith

// Rates of the machine: measured on every group, kept in a file, measured anew where that is
// broken.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/operator_trial.hpp>
#include <krylith/spmv/tuning_file.hpp>

#include "../support/cache_folder.hpp"
#include "../support/groups.hpp"
#include "../support/matrices.hpp"
#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/vectors.hpp"

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
    CHECK_FALSE(load_rates(group));
    rates.phase.resize(3);
    CHECK(save_rates(other, rates).empty());
    CHECK_FALSE(load_rates(group));
    CHECK(load_rates(other) == rates);
    rates.phase.resize(2);
    CHECK(save_rates(group, rates).empty());
    CHECK(load_rates(group) == rates);
    rates.copy = 17;
    CHECK(save_rates(group, rates).empty()); // in place of the first
    CHECK(load_rates(group) == rates);
    rates.phase.resize(1); // of another number of devices
    CHECK(save_rates(group, rates).empty());
    CHECK_FALSE(load_rates(group));

    const auto file = tuning_file(machine_name(group));
    for (const std::string& broken :
         {std::string(), std::string("\0\xff\n\n", 4), contents_of(file).substr(0, 40),
          contents_of(file).substr(0, contents_of(file).size() - 9)}) {
        std::ofstream(file) << broken;
        CHECK_FALSE(load_rates(group));
    }
    rates.phase.resize(2, 1e-6);
    CHECK(save_rates(group, rates).empty());
    CHECK(load_rates(group) == rates);
}

TEST_CASE("machine rates: what can't be written is said and does no harm") {
    const cache_folder cache;
    std::ofstream(cache.path) << "a file where the folder should be";
    const auto group = device_group::host(1);
    machine_rates rates = h200_rates();
    CHECK_FALSE(save_rates(group, rates).empty());
    CHECK_FALSE(load_rates(group));
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
    CHECK(keep_tuned({"m", hash, "shares"}, "0.25 0.5").empty());
    CHECK(keep_tuned({"m", hash + 1, "operator fp64"}, "nz").empty());
    CHECK(keep_tuned({"another", hash, "operator fp64"}, "gather").empty());
    CHECK(recall_tuned(key) == "halo");
    CHECK(recall_tuned({"m", hash, "shares"}) == "0.25 0.5");
    CHECK(recall_tuned({"m", hash + 1, "operator fp64"}) == "nz");
    CHECK(recall_tuned({"another", hash, "operator fp64"}) == "gather");
    CHECK_FALSE(recall_tuned({"m", hash, "operator"}));
}

KRYLITH_GROUP_TEST("operators: auto says what it reckoned with, and follows the rates") {
    // No structure: every device needs nearly all. With slow vectors nz loses, with fast ones and
    // a link that the product hides it wins.
    const auto matrix = testing::random_matrix(600, 20, 1, 47);
    const std::vector<double> phases(7, 1e-6);
    const auto taken = [&](const machine_rates& rates) {
        const mocked_rates mock(rates);
        const auto a = make_operator(group, matrix);
        if (group.size() == 1) {
            CHECK(a->choice() == nullptr);
            return operator_kind::automatic;
        }
        REQUIRE(a->choice() != nullptr);
        CHECK(a->choice()->predictions.size() >= 3);
        CHECK(a->choice()->predictions.front().name == to_string(a->kind()));
        CHECK(a->choice()->because.find("by the cost model") != std::string::npos);
        CHECK(a->choice()->measured.empty());
        CHECK(a->choice()->rates_from == "given by a test");
        return a->kind();
    };
    const auto slow_vectors = taken({1e8, 1e9, 1e9, 1e9, phases});
    const auto fast_vectors = taken({1e15, 1e9, 1e9, 1e9, phases});
    if (group.size() == 1) return;
    CHECK(slow_vectors == operator_kind::gather);
    CHECK(fast_vectors == operator_kind::nz);
}

KRYLITH_GROUP_TEST("operators: auto measured tries, keeps the fastest, and remembers it") {
    const cache_folder cache;
    const auto matrix = testing::random_matrix(500, 6, 2, 51);
    const auto x0 = testing::random_values<double>(500, 52);
    const auto expected = testing::product(matrix, 1.0, x0, 0.0, x0);
    for (const bool again : {false, true}) {
        const auto a = make_operator(group, matrix, {.measure = true});
        execution run(group, {});
        auto source = testing::make_vector(a->share_layout(), x0);
        auto x = a->make_operand();
        auto y = a->make_vector();
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
            CHECK(a->choice()->measured.front().name == to_string(a->kind()));
            CHECK(a->choice()->measured.front().seconds > 0);
        } else {
            CHECK(a->choice()->because.find("earlier trial") != std::string::npos);
        }
    }
    CHECK_THROWS_WITH_AS(
        (void)make_operator(group, matrix, {.kind = operator_kind::nz, .measure = true}),
        doctest::Contains("only auto, lra and lra-rc"), usage_error);
}

} // namespace krylith

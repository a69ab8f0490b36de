// What krylith bench spmspv measures: the list of matrices, places of entries, requests.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/bench/spmspv/spmspv_request.hpp>
#include <krylith/bench/spmspv/spmspv_row.hpp>
#include <krylith/bench/spmspv/spmspv_run.hpp>
#include <krylith/bench/spmspv/spmspv_training.hpp>
#include <krylith/bench/spmspv/spmspv_vectors.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace krylith::bench {

namespace {

std::string family_of(const std::string& matrix) {
    return matrix.substr(8, matrix.find(':', 8) - 8);
}

} // namespace

TEST_CASE("training list: 300 matrices, all families, three sizes of each or more") {
    for (const char* const scale : {"small", "medium", "large"}) {
        const std::vector<std::string> all = training_matrices(scale);
        CHECK(all.size() >= 300);
        CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
        std::map<std::string, int> members;
        for (const std::string& matrix : all) {
            ++members[family_of(matrix)];
        }
        for (const gallery_entry& entry : gallery_names()) {
            CAPTURE(entry.name);
            CHECK(members[std::string(entry.name)] >= 3);
        }
    }
    CHECK_THROWS_WITH_AS((void)training_matrices("huge"),
                         "unknown scale 'huge'; allowed are small, medium, large", usage_error);
}

TEST_CASE("training list: what has no rule of its own grows from its example") {
    for (const char* const name : {"poisson2d_9point", "poisson3d", "nlpkkt", "helmholtz3d"}) {
        for (const double nonzeros : {2e4, 2e5}) {
            const std::string matrix = grown(gallery_named(name), nonzeros);
            CAPTURE(matrix);
            const double share = static_cast<double>(load_matrix<float>(matrix).nnz()) / nonzeros;
            CHECK(share > 0.5);
            CHECK(share < 2);
        }
    }
}

TEST_CASE("training list: sizes are about what they are said to be") {
    const std::vector<double> sizes = training_sizes("small");
    const std::vector<std::string> all = training_matrices("small");
    for (std::size_t k = 0; k < all.size(); k += sizes.size()) {
        for (std::size_t size = 0; size < 2; ++size) { // the larger ones take longer
            const auto matrix = load_matrix<float>(all[k + size]);
            const double share = static_cast<double>(matrix.nnz()) / sizes[size];
            CAPTURE(all[k + size]);
            CHECK(share > (size == 0 ? 0.1 : 0.25)); // small dense graphs repeat edges
            CHECK(share < (size == 0 ? 15 : 4));     // random rows of 256 need 257 columns
        }
    }
}

TEST_CASE("test vectors: as many entries as asked for, each once") {
    for (const std::int64_t n : {1, 2, 33, 1000}) {
        for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, n / 2, n}) {
            const std::vector<std::int32_t> drawn = draw_ascending(n, count, 3);
            CHECK(static_cast<std::int64_t>(drawn.size()) == count);
            CHECK(std::ranges::adjacent_find(drawn, std::greater_equal<>()) == drawn.end());
            CHECK((drawn.empty() || (drawn.front() >= 0 && drawn.back() < n)));
        }
    }
    CHECK(draw_ascending(1000, 10, 3) == draw_ascending(1000, 10, 3));
    CHECK(draw_ascending(1000, 10, 3) != draw_ascending(1000, 10, 4));
}

TEST_CASE("test vectors: a frontier of a path is a stretch of it, and goes on elsewhere") {
    const csr_matrix<float> path = poisson1d<float>(100);
    std::vector<std::int32_t> nearest = breadth_first(path, 9, 5);
    CHECK(nearest.size() == 9);
    const std::int32_t first = nearest.front();
    for (const std::int32_t vertex : nearest) {
        CHECK(std::abs(vertex - first) <= 8);
    }
    std::ranges::sort(nearest);
    CHECK(nearest.back() - nearest.front() == 8);
    csr_matrix<float> lonely; // no edges
    lonely.rows = lonely.columns = 7;
    lonely.row_offsets.assign(8, 0);
    std::vector<std::int32_t> all = breadth_first(lonely, 7, 5);
    std::ranges::sort(all);
    CHECK(all == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("test vectors: kinds and densities") {
    const csr_matrix<float> a = poisson2d<float>(10, 10);
    const std::vector<vector_kind> both = {vector_kind::random, vector_kind::frontier};
    const std::vector<double> densities = {0, 0.001, 0.25, 1};
    const std::vector<test_vector> vectors = make_vectors(csr_view<float>(a), both, densities, 1);
    std::vector<std::size_t> entries;
    for (const test_vector& x : vectors) {
        entries.push_back(x.indices.size());
        CHECK(x.ascending == std::ranges::is_sorted(x.indices));
    }
    CHECK(entries == std::vector<std::size_t>{1, 25, 100, 1, 25});
    const csr_matrix<float> none;
    CHECK(make_vectors(csr_view<float>(none), both, densities, 1).empty());
}

TEST_CASE("bench_spmspv: requests that can't be carried out are refused") {
    const auto refused = [](auto&& change) {
        spmspv_request request;
        change(request);
        CHECK_THROWS_AS(request.check(), usage_error);
    };
    CHECK_NOTHROW(spmspv_request().check());
    refused([](auto& q) { q.training = true, q.matrices = {"gallery:rmat:5"}; });
    refused([](auto& q) { q.training = true, q.every = 0; });
    refused([](auto& q) { q.every = 2; });
    refused([](auto& q) { q.first = 1; });
    refused([](auto& q) { q.training = true, q.first = 1; });
    refused([](auto& q) { q.training = true, q.every = 3, q.first = -1; });
    spmspv_request beyond;
    beyond.training = true, beyond.every = 3, beyond.first = 3;
    CHECK_THROWS_WITH_AS(beyond.check(), "--first is 3, must be 0 to 2 (below --every, which is 3)",
                         usage_error);
    beyond.first = 2;
    CHECK_NOTHROW(beyond.check());
    refused([](auto& q) { q.densities = {}; });
    refused([](auto& q) { q.densities = {1.5}; });
    refused([](auto& q) { q.vectors = "some"; });
    refused([](auto& q) { q.scale = "tiny"; });
    spmspv_request misspelt;
    misspelt.kernels = {"row", "column-balanced"};
    CHECK_THROWS_WITH_AS(misspelt.check(), doctest::Contains("unknown kernel 'column-balanced'"),
                         usage_error);
    refused([](auto& q) { q.effort.repetitions = 0; });
    refused([](auto& q) { q.effort.quantile = 2; });
    refused([](auto& q) { q.effort.seconds = -1; });
    refused([](auto& q) { q.effort.batch = -1; });
}

namespace {

/// Of the training list.
struct short_run {
    int every;
    int first = 0;
    std::vector<std::string> kernels = {}; ///< empty: all
};

/// The lines that a run writes.
std::vector<json> trained(const short_run& run) {
    const test::temporary_folder folder;
    spmspv_request request;
    request.training = true;
    request.every = run.every;
    request.first = run.first;
    request.kernels = run.kernels;
    request.densities = {0.01, 0.3};
    request.devices = {.backend = "host", .threads = 2};
    request.effort = {.repetitions = 1, .seconds = 0, .batch = 0};
    request.report_file = folder.file("run.jsonl").string();
    CHECK(spmspv_run(request).run());
    std::ifstream file(request.report_file);
    std::vector<json> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(json::parse(line));
    }
    return lines;
}

} // namespace

TEST_CASE("bench_spmspv: runs that share the training list have each matrix once, with its place") {
    const std::vector<std::string> all = training_matrices("small");
    for (const int shares : {1, 2, 7, 1000}) {
        std::map<std::uint64_t, std::string> seen;
        for (int first = 0; first < shares; ++first) {
            spmspv_request request;
            request.training = true;
            request.every = shares;
            request.first = first;
            for (const listed_matrix& matrix : request.matrix_list()) {
                CHECK(seen.emplace(matrix.place, matrix.name).second);
            }
        }
        CHECK(seen.size() == all.size());
        for (const auto& matrix : seen) {
            CHECK(all[matrix.first] == matrix.second);
        }
    }
}

TEST_CASE("bench_spmspv: runs that share the training list measure what one run does") {
    const auto cases = [](int every, int first) {
        std::vector<std::string> result; // all but the times
        for (json row : trained({.every = every, .first = first})) {
            row.erase("us");
            row.erase("count_us");
            if (row.contains("matrix")) {
                result.push_back(row.dump());
            }
        }
        return result;
    };
    std::vector<std::string> one = cases(160, 0);
    std::vector<std::string> shared = cases(320, 0);
    const std::vector<std::string> other = cases(320, 160);
    CHECK(one.size() >= 9); // of three matrices: features, and two vectors or more
    CHECK(!other.empty());
    shared.insert(shared.end(), other.begin(), other.end());
    std::ranges::sort(one);
    std::ranges::sort(shared);
    CHECK(one == shared);
}

TEST_CASE("bench_spmspv: a run of some kernels has the vectors of a run of all, and their order") {
    const std::vector<json> all = trained({.every = 320});
    const std::vector<json> some =
        trained({.every = 320, .kernels = {"row-balanced", "spmv-balanced", "row-balanced"}});
    CHECK(all.front()["kernels"].size() == spmspv::kernel_count);
    CHECK(some.front()["kernels"] == json({"spmv-balanced", "row-balanced"}));
    REQUIRE(all.size() == some.size());
    for (std::size_t k = 1; k < all.size(); ++k) {
        for (const char* const field :
             {"matrix", "features", "vector", "entries", "work", "void_because"}) {
            CHECK(all[k].value(field, json()) == some[k].value(field, json()));
        }
        if (some[k].contains("us")) {
            for (const json& times : some[k]["us"]["bits"]) {
                CHECK(times.size() == 2);
            }
        }
    }
    const std::vector<spmspv::kernel> two = {spmspv::kernel::spmv_balanced,
                                             spmspv::kernel::row_balanced};
    CHECK(spmspv_table_lines(some.back(), two).find(" - ") != std::string::npos);
}

TEST_CASE("bench_spmspv: a measurement has every form and kernel, and its checks hold") {
    const device_group group = device_group::host(1, {.host_threads = 2});
    const csr_matrix<float> a = rmat<float>(6, 4, 1);
    const std::vector<vector_kind> kinds = {vector_kind::random, vector_kind::frontier};
    const std::vector<double> densities = {0.1, 1};
    const spmspv_effort least{.repetitions = 1, .seconds = 0, .batch = 0};
    for (const char* const semiring :
         {"plus-times", "plus-second", "or-and", "min-plus", "min-column"}) {
        for (const char* const precision : {"fp32", "fp64"}) {
            const auto subject =
                make_subject(group.handle(0), csr_view<float>(a), semiring, precision);
            for (const test_vector& x : make_vectors(csr_view<float>(a), kinds, densities, 2)) {
                const spmspv_numbers numbers = subject->measure(x, least);
                CHECK(numbers.void_because.empty());
                const json row = product_row("m", x, numbers);
                for (const char* const given : given_names) {
                    for (const char* const wanted : wanted_names) {
                        CHECK(row["us"][given][wanted].size() == spmspv::kernel_count);
                        for (const json& us : row["us"][given][wanted]) {
                            CHECK(us.get<double>() > 0);
                        }
                    }
                }
            }
        }
    }
    CHECK_THROWS_AS((void)make_subject(group.handle(0), csr_view<float>(a), "plus", "fp32"),
                    usage_error);
    CHECK_THROWS_AS((void)make_subject(group.handle(0), csr_view<float>(a), "or-and", "fp16"),
                    usage_error);
}

} // namespace krylith::bench

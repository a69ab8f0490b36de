// krylith spmv --sparse against a loop over all entries.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/load.hpp>
#include <krylith/tests/tools/support/command_run.hpp>

using krylith::csr_matrix;
using krylith::load_matrix;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

namespace {

using entries_by_index = std::map<std::int64_t, double>;

entries_by_index entries_of(const csr_matrix<double>& column) {
    entries_by_index entries;
    for (std::size_t i = 0; i < static_cast<std::size_t>(column.rows); ++i)
        for (auto k = column.row_offsets[i]; k < column.row_offsets[i + 1]; ++k)
            entries[static_cast<std::int64_t>(i)] += column.values[static_cast<std::size_t>(k)];
    return entries;
}

/// alpha A x, or alpha A' x, with an entry wherever a term is.
entries_by_index product(const csr_matrix<double>& a, const entries_by_index& x, double alpha,
                         bool transposed) {
    entries_by_index y;
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            const auto row = static_cast<std::int64_t>(i);
            const std::int64_t column = a.column_indices[k];
            const auto found = x.find(transposed ? row : column);
            if (found == x.end()) continue;
            y[transposed ? column : row] += alpha * a.values[k] * found->second;
        }
    return y;
}

/// 4 x 6 of small whole numbers, with an empty row and empty columns.
constexpr const char* wide = "%%MatrixMarket matrix coordinate real general\n4 6 7\n1 1 2\n1 4 -1\n"
                             "3 1 5\n3 6 3\n4 4 7\n4 6 -3\n1 6 4\n";
constexpr const char* x_of_six = "%%MatrixMarket matrix coordinate real general\n6 1 3\n4 1 2\n6 1 "
                                 "-1\n3 1 9\n";

} // namespace

TEST_CASE("spmv --sparse: entries of alpha A x, by every kernel") {
    const temporary_folder folder;
    const auto a = load_matrix<double>(folder.write("a.mtx", wide).string());
    const auto x = load_matrix<double>(folder.write("x.mtx", x_of_six).string());
    const auto expected = product(a, entries_of(x), -2, false);
    REQUIRE(expected.size() == 3);
    for (const char* options :
         {"", "--kernel row", "--kernel row-balanced", "--kernel column-atomic",
          "--kernel column-sort", "--kernel column-balanced-atomic --precision fp32",
          "--kernel column-balanced-sort"}) {
        CAPTURE(options);
        const auto said = run_krylith(
            folder, std::string("spmv a.mtx --sparse x.mtx --alpha -2 --repeat 2 --backend host "
                                "--output y.mtx --report - --quiet ") +
                        options);
        REQUIRE_MESSAGE(said.status == 0, said.err);
        CHECK(entries_of(load_matrix<double>(folder.file("y.mtx").string())) == expected);
        const json report = json::parse(said.out);
        CHECK(report.at("x").at("entries") == 3);
        CHECK(report.at("y").at("entries") == 3);
        CHECK(report.at("effective_nonzeros") == 5);
        CHECK(report.at("agrees") == true);
        CHECK(report.at("model").is_null() == contains(options, "--kernel"));
    }
}

TEST_CASE("spmv --sparse: A', ones at places, and a vector that the command wrote") {
    const temporary_folder folder;
    const auto a = load_matrix<double>("gallery:web:60");
    const std::string common = "spmv gallery:web:60 --backend host --repeat 1 --quiet ";
    REQUIRE(run_krylith(folder, common + "--sparse ones:7,3 --transpose --output y.kcsr").status ==
            0);
    const auto y = entries_of(load_matrix<double>(folder.file("y.kcsr").string()));
    CHECK(y == product(a, {{2, 1.0}, {6, 1.0}}, 1, true));
    REQUIRE(run_krylith(folder, common + "--sparse y.kcsr --output z.npz").status == 0);
    const auto z = entries_of(load_matrix<double>(folder.file("z.npz").string()));
    const auto expected = product(a, y, 1, false);
    REQUIRE(z.size() == expected.size());
    for (const auto& [index, value] : expected)
        CHECK(z.at(index) == doctest::Approx(value).epsilon(1e-14));
    const auto said = run_krylith(folder, "spmv gallery:web:60 --backend host --sparse ones:3").out;
    for (const char* part : {"ones:3: 1 entries", "by the model", "a product (48 of them)"})
        CHECK_MESSAGE(contains(said, part), said);
}

TEST_CASE("spmv --sparse: no entries, a pattern, one place twice in a file") {
    const temporary_folder folder;
    folder.write("a.mtx", wide);
    const auto written = [&](const char* x) {
        const auto said = run_krylith(
            folder,
            std::string("spmv a.mtx --backend host --repeat 1 --output y.mtx --sparse ") + x);
        REQUIRE_MESSAGE(said.status == 0, said.err);
        return entries_of(load_matrix<double>(folder.file("y.mtx").string()));
    };
    CHECK(written("ones:").empty());
    CHECK(written("ones:2,3").empty());
    folder.write("pattern.mtx",
                 "%%MatrixMarket matrix coordinate pattern general\n6 1 2\n1 1\n6 1\n");
    CHECK(written("pattern.mtx") == entries_by_index{{0, 6}, {2, 8}, {3, -3}});
    CHECK(written("ones:6,1") == written("pattern.mtx"));
    folder.write("twice.mtx",
                 "%%MatrixMarket matrix coordinate real general\n6 1 2\n1 1 2\n1 1 3\n");
    CHECK(written("twice.mtx") == entries_by_index{{0, 10}, {2, 25}});
}

TEST_CASE("spmv --sparse: what doesn't fit is refused") {
    const temporary_folder folder;
    folder.write("a.mtx", wide);
    folder.write("x.mtx", x_of_six);
    const auto refused = [&](const std::string& arguments, int status, const std::string& message) {
        const auto said = run_krylith(folder, "spmv a.mtx --backend host " + arguments);
        CHECK_MESSAGE(said.status == status, arguments);
        CHECK_MESSAGE(contains(said.err, message), said.err);
    };
    refused("--sparse x.mtx --transpose", 3, "x.mtx is 6 x 1: x must be 4 x 1");
    refused("--sparse a.mtx", 3, "a.mtx is 4 x 6: x must be 6 x 1");
    refused("--sparse absent.mtx", 3, "absent.mtx");
    refused("--sparse ones:7", 2, "allowed are entries 1 to 6");
    refused("--sparse ones:0", 2, "allowed are entries 1 to 6");
    refused("--sparse ones:3,", 2, "allowed are entries 1 to 6");
    refused("--sparse ones:2,4,2", 2, "it names entry 2 more than once");
    refused("--sparse x.mtx --x ones", 2, "--x is not for --sparse");
    refused("--sparse x.mtx --operator nz", 2, "--operator is not for --sparse");
    refused("--sparse x.mtx --beta 1", 2, "--beta is not for --sparse");
    refused("--sparse x.mtx --devices 2", 2, "a product with a sparse x is on one");
    refused("--sparse x.mtx --kernel colum-sort", 2, "did you mean 'column-sort'?");
    refused("--sparse x.mtx --repeat 0", 2, "--repeat is 0");
    refused("--sparse x.mtx --precision fp16", 2, "fp16");
    refused("--sparse x.mtx --output y.txt", 2, "with --sparse its name must end in .mtx");
    refused("--sparse x.mtx --output x.mtx", 2, "x.mtx");
    refused("--kernel row", 2, "--sparse names it");
    CHECK(contents_of(folder.file("x.mtx")) == x_of_six);
}

// The outcome is one, in bounded memory, however the text is cut into blocks and for any threads.
#include <krylith/matrix/market/reader.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <omp.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/tests/matrix/support/market.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>

namespace {

using krylith::market::line_source;
using krylith::test::banner::real;

/// Returns the matrix's values, or the refusal.
std::string read_outcome(const std::string& text, int threads, std::size_t block_bytes) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    std::string result;
    try {
        krylith::file_report report;
        const auto matrix = krylith::market::read_matrix<double>(
            line_source::from_text(text, "x.mtx", {.block_bytes = block_bytes}),
            {.report = &report});
        result = in_words(report);
        for (std::size_t k = 0; k < matrix.values.size(); ++k) {
            result += ' ';
            result += std::to_string(matrix.column_indices[k]);
            result += ':';
            result += std::to_string(matrix.values[k]);
        }
    } catch (const krylith::input_error& e) {
        result = e.what();
    }
    omp_set_num_threads(before);
    return result;
}

void check_one_outcome(const std::string& text, const std::string& expected) {
    CAPTURE(text.substr(0, 200));
    const std::string serial = read_outcome(text, 1, 1 << 19);
    CHECK(serial.find(expected) != std::string::npos);
    for (const int threads : {1, 2, 5}) {
        for (const std::size_t block_bytes : {1, 7, 64, 300}) {
            CAPTURE(threads);
            CAPTURE(block_bytes);
            CHECK(read_outcome(text, threads, block_bytes) == serial);
        }
    }
}

std::string memory_refusal(const std::string& text, std::int64_t memory) {
    return krylith::test::message_of<krylith::input_error>([&] {
        static_cast<void>(krylith::parse_matrix_market<double>(text, "x.mtx", {.memory = memory}));
    });
}

} // namespace

TEST_CASE("blocks of any size, read by any number of threads, give the same matrix") {
    std::string lines;
    for (int k = 0; k < 300; ++k) { // unsorted, with duplicates whose sum depends on the order
        lines += std::to_string(k * 7 % 20 + 1) + " " + std::to_string(k * 11 % 10 + 1) + " " +
                 std::to_string(1e9 / (k + 1)) + (k % 40 == 0 ? "\r\n\n\t\n" : "\n");
    }
    check_one_outcome(real + "20 17 300\n" + lines, " 9:");
    check_one_outcome(real + "20 17 300\n" + lines + "\n\n\n", "duplicates");
    check_one_outcome(real + "20 17 300\n" + lines.substr(0, lines.size() - 1), "duplicates");
    check_one_outcome("%%MatrixMarket matrix array real general\n2 3\n1\n2\n\n3\n4\n0\n6\n", "2:6");
}

TEST_CASE("the first flaw of a file is the one that is named, whichever thread is quicker") {
    std::string lines;
    for (int k = 1; k <= 100; ++k) {
        lines += std::to_string(k) + " 1 2.5\n\n";
    }
    check_one_outcome(real + "100 100 101\n" + lines, "x.mtx:202: the file ends after 100");
    check_one_outcome(real + "100 100 99\n" + lines, "x.mtx:201: in \"100 1 2.5\" entry 100");
    check_one_outcome(real + "100 100 99\n" + lines + "x\n", "x.mtx:201: in \"100 1 2.5\" entry");
    check_one_outcome(real + "100 100 100\n" + lines + "x\n", "x.mtx:203: in \"x\" entry 101");
    check_one_outcome(real + "100 100 100\n" + lines + "\n%\n", "x.mtx:204: in \"%\" a comment");
    for (const std::size_t place : {300, 500, 700}) {
        lines[lines.find('.', place)] = ',';
    }
    check_one_outcome(real + "100 100 50\n" + lines, "2,5");
}

TEST_CASE("rows beyond what entries vouch for are believed as far as the memory reaches") {
    const std::string text = real + "20000000 20000000 1\n1 20000000 5\n";
    const auto matrix =
        krylith::parse_matrix_market<double>(text, "x.mtx", {.memory = std::int64_t{2} << 30});
    CHECK(matrix.rows == 20'000'000);
    CHECK(matrix.row_offsets.back() == 1);
    CHECK(matrix.column_indices == std::vector<std::int32_t>{19'999'999});
    CHECK(memory_refusal(text, std::int64_t{1} << 30)
              .find("x.mtx:2: 20000000 rows for 1 entries, allowed are 16777216, 64 for each "
                    "entry, and "
                    "what an eighth of 1.07 GB of memory holds, 16777216") == 0);
    // Rows up to 2^24 need no evidence, but memory.
    CHECK(memory_refusal(real + "16000000 1 0\n", 100'000'000)
              .find("x.mtx:2: 16000000 rows and 0 entries need another 128 MB of memory, allowed "
                    "is what is available: 100 MB") == 0);
}

TEST_CASE("reading stops where the memory does") {
    std::string text = real + "1000 1000 10000\n";
    for (int k = 9999; k >= 0; --k) { // descending: sorting them takes another 12 bytes each
        text += std::to_string(k / 100 + 1) + " " + std::to_string(k % 100 + 1) + " 1\n";
    }
    const auto reads = [&](std::int64_t memory) {
        return memory_refusal(text, memory) == "no exception";
    };
    CHECK(reads(10000 * (16 + 12) + 8 * 1001));
    CHECK_FALSE(reads(10000 * (16 + 12) + 8 * 1001 - 1));
    CHECK(memory_refusal(text, 100'000)
              .find("x.mtx:2: 1000 rows and 10000 entries need another 160 kB") == 0);
    CHECK(memory_refusal(
              "%%MatrixMarket matrix array real general\n100 1\n" +
                  [] {
                      std::string ones;
                      for (int k = 0; k < 100; ++k) {
                          ones += "1\n";
                      }
                      return ones;
                  }(),
              1000)
              .find("x.mtx:2: ") == 0);
    const auto vector = [&](std::int64_t memory) {
        return krylith::test::message_of<krylith::input_error>([&] {
            static_cast<void>(krylith::parse_vector_market<double>(real + "1000000 1 1\n1 1 1\n",
                                                                   "v.mtx", {.memory = memory}));
        });
    };
    CHECK(vector(9'000'000) == "no exception");
    CHECK(vector(8'000'000).find("v.mtx:2: ") == 0);
}

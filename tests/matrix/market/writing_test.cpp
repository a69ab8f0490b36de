// A matrix that is written reads back as the same bits.
#include <krylith/matrix/matrix_market.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace {

using krylith::csr_matrix;
using krylith::test::contents_of;
using krylith::test::temporary_folder;

/// Makes values of random bit patterns, those that are finite, and the ends of the range.
template <class T, class Bits>
std::vector<T> difficult_values() {
    using limits = std::numeric_limits<T>;
    std::vector<T> values{T(0),
                          -T(0),
                          T(1) / 3,
                          T(0.1),
                          limits::max(),
                          limits::lowest(),
                          limits::min(),
                          limits::denorm_min(),
                          -limits::denorm_min(),
                          limits::min() - limits::denorm_min()};
    for (std::uint64_t k = 0; k < 20000; ++k) {
        const T value = std::bit_cast<T>(static_cast<Bits>(krylith::counter_hash(5, k)));
        if (std::isfinite(value)) {
            values.push_back(value);
        }
    }
    return values;
}

template <class T, class Bits>
void check_round_trips() {
    const temporary_folder folder;
    const auto values = difficult_values<T, Bits>();
    const auto same_bits = [&](const std::vector<T>& back) {
        REQUIRE(back.size() == values.size());
        std::size_t different = 0;
        for (std::size_t k = 0; k < values.size(); ++k) {
            different += std::bit_cast<Bits>(back[k]) != std::bit_cast<Bits>(values[k]);
        }
        CHECK(different == 0);
    };
    krylith::write_vector_market<T>(folder.file("v.mtx"), values, "difficult");
    same_bits(krylith::read_vector_market<T>(folder.file("v.mtx")));

    csr_matrix<T> row{1, static_cast<std::int64_t>(values.size()), {0}, {}, values};
    row.row_offsets.push_back(row.columns);
    for (std::int32_t k = 0; k < row.columns; ++k) {
        row.column_indices.push_back(k);
    }
    for (const char* name : {"m.mtx", "m.mtx.gz"}) {
        write_matrix_market(folder.file(name), row);
        const auto back = krylith::read_matrix_market<T>(folder.file(name));
        CHECK(back == row);
        same_bits(back.values);
    }
}

} // namespace

TEST_CASE("doubles keep their bits through a file") {
    check_round_trips<double, std::uint64_t>();
}

TEST_CASE("floats keep their bits through a file") {
    check_round_trips<float, std::uint32_t>();
}

TEST_CASE("the text of a matrix: banner, comment lines, sizes, entries from 1") {
    const temporary_folder folder;
    const csr_matrix<double> matrix{2, 3, {0, 2, 3}, {0, 2, 1}, {1, 0.1, -2e300}};
    write_matrix_market(folder.file("m.mtx"), matrix, "first\n\nthird");
    CHECK(contents_of(folder.file("m.mtx")) == "%%MatrixMarket matrix coordinate real general\n"
                                               "% first\n"
                                               "% \n"
                                               "% third\n"
                                               "2 3 3\n"
                                               "1 1 1\n"
                                               "1 3 0.10000000000000001\n"
                                               "2 2 -2.0000000000000001e+300\n");
    CHECK(krylith::read_matrix_market<double>(folder.file("m.mtx")) == matrix);
}

TEST_CASE("the text of a vector") {
    const temporary_folder folder;
    krylith::write_vector_market<float>(folder.file("v.mtx"), std::vector<float>{0.1F, -3});
    CHECK(contents_of(folder.file("v.mtx")) == "%%MatrixMarket matrix array real general\n"
                                               "2 1\n0.100000001\n-3\n");
    krylith::write_vector_market<double>(folder.file("none.mtx"), std::span<const double>());
    CHECK(krylith::read_vector_market<double>(folder.file("none.mtx")).empty());
}

TEST_CASE("empty matrices, empty rows and explicit zeros are written and read") {
    const temporary_folder folder;
    for (const auto& matrix : {csr_matrix<double>{}, csr_matrix<double>{2, 0, {0, 0, 0}, {}, {}},
                               csr_matrix<double>{3, 2, {0, 0, 1, 1}, {1}, {0}}}) {
        write_matrix_market(folder.file("m.mtx"), matrix);
        CHECK(krylith::read_matrix_market<double>(folder.file("m.mtx")) == matrix);
    }
}

TEST_CASE("a matrix that no reader would accept is not written, and the file not touched") {
    const temporary_folder folder;
    folder.write("m.mtx", "precious");
    csr_matrix<double> matrix{1, 2, {0, 2}, {0, 1}, {1, std::nan("")}};
    const auto refusal = [&] {
        return krylith::test::message_of<krylith::input_error>(
            [&] { write_matrix_market(folder.file("m.mtx"), matrix); });
    };
    CHECK(refusal().find("nan in row 0, column 1") != std::string::npos);
    matrix.values[1] = std::numeric_limits<double>::infinity();
    CHECK(refusal().find("inf in row 0, column 1") != std::string::npos);
    matrix = {1, 2, {0, 2}, {0, 2}, {1, 2}};
    CHECK(refusal().find("column_indices[1]") != std::string::npos);
    CHECK(contents_of(folder.file("m.mtx")) == "precious");
}

TEST_CASE("a solution that went wrong is written as it is") {
    const temporary_folder folder;
    const double inf = std::numeric_limits<double>::infinity();
    krylith::write_vector_market<double>(folder.file("v.mtx"), std::vector<double>{1, inf, -inf});
    CHECK(contents_of(folder.file("v.mtx")).find("3 1\n1\ninf\n-inf\n") != std::string::npos);
}

TEST_CASE("files that can't be written are named") {
    const temporary_folder folder;
    const auto refusal = [](const std::filesystem::path& path) {
        return krylith::test::message_of<krylith::input_error>([&] {
            krylith::write_vector_market<double>(path, std::vector<double>(300000, 1.0 / 3));
        });
    };
    const auto absent = folder.file("absent/v.mtx");
    CHECK(refusal(absent).find(absent.string() + ": can't be written: No such file") == 0);
    CHECK(refusal(folder.file("")).find("can't be written") != std::string::npos);
    if (std::filesystem::exists("/dev/full")) {
        CHECK(refusal("/dev/full") == "/dev/full: can't be written: No space left on device");
    }
}

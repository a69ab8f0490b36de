// Sizes beyond what indices can address, with the limit mocked so that small data reaches it.
#include <krylith/device/device_group.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/coo_assembly.hpp>
#include <krylith/matrix/kcsr.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace {

using krylith::mocked_index_limit;

template <class Call>
std::string size_refusal(const Call& call) {
    return krylith::test::message_of<krylith::input_error>([&] { static_cast<void>(call()); });
}

/// Checks that the limit `most` is allowed, and that less is refused by a message with `what`.
template <class Call>
void check_limit(std::int64_t most, const std::string& what, const Call& call) {
    {
        const mocked_index_limit enough(most);
        CHECK(size_refusal(call) == "no exception");
    }
    const mocked_index_limit too_little(most - 1);
    const std::string message = size_refusal(call);
    CHECK_MESSAGE(message.find(what) != std::string::npos, message);
    CHECK_MESSAGE(message.find(std::to_string(most - 1)) != std::string::npos, message);
}

} // namespace

TEST_CASE("narrowing keeps what fits and names what doesn't") {
    // This finds 2^31 that becomes negative, 2^32 that becomes 0.
    CHECK(krylith::narrow_index_size("n", 2147483647) == 2147483647);
    CHECK(krylith::narrow_index_size("n", 0) == 0);
    for (const std::int64_t size : {std::int64_t{1} << 31, std::int64_t{1} << 32,
                                    (std::int64_t{1} << 32) + 5, std::int64_t{-1}}) {
        CHECK(size_refusal([&] { return krylith::narrow_index_size("n", size); }) ==
              "n is " + std::to_string(size) + ", allowed are 0 to 2147483647");
    }
    const mocked_index_limit mocked(9);
    CHECK(size_refusal([] { return krylith::narrow_index_size("n", 10); }) ==
          "n is 10, allowed are 0 to 9");
}

TEST_CASE("every way to a matrix checks its sizes before it narrows them") {
    // This finds a reader or a conversion that narrows without a check.
    const krylith::test::temporary_folder folder;
    const krylith::csr_matrix<double> wide{1, 7, {0, 1}, {6}, {1}};
    const krylith::csr_matrix<double> tall{7, 1, {0, 0, 0, 0, 0, 0, 0, 1}, {0}, {1}};
    write_binary_csr(folder.file("wide.kcsr"), wide);

    check_limit(7, "line.mtx:2: ", [] {
        return krylith::parse_matrix_market<double>(
            "%%MatrixMarket matrix coordinate real general\n7 1 1\n7 1 1\n", "line.mtx");
    });
    check_limit(7, "line.mtx:2: ", [] {
        return krylith::parse_matrix_market<double>(
            "%%MatrixMarket matrix array real general\n1 7\n1\n1\n1\n1\n1\n1\n1\n", "line.mtx");
    });
    check_limit(7, "columns is 7",
                [&] { return krylith::read_binary_csr<double>(folder.file("wide.kcsr")); });
    check_limit(7, "COO matrix: rows is 7", [] {
        return to_csr(krylith::coo_matrix<double>{7, 1, {6}, {0}, {1}});
    });
    check_limit(7, "COO matrix: columns is 7", [] {
        return to_csr(krylith::coo_matrix<double>{1, 7, {0}, {6}, {1}});
    });
    check_limit(7, "CSR matrix: columns is 7", [&] { return transpose(wide); });
    check_limit(7, "CSR matrix: rows is 7", [&] { return transpose(tall); });
    check_limit(7, "CSR matrix: rows is 7", [&] { return to_csc(tall); });
    check_limit(7, "CSR matrix: rows is 7", [&] { return to_coo(tall); });
    const auto wide_csc = to_csc(wide);
    check_limit(7, "CSC matrix: columns is 7", [&] { return to_csr(wide_csc); });
    check_limit(7, "CSC matrix: columns is 7", [&] { return to_coo(wide_csc); });
    check_limit(7, "CSC matrix: rows is 7", [&] {
        return to_coo(krylith::csc_matrix<double>{7, 1, {0, 1}, {6}, {1}});
    });
    const std::vector<std::int64_t> last{6};
    const std::vector<std::int64_t> first{0};
    check_limit(7, "COO assembly: rows is 7", [&] {
        return krylith::coo_assembly(7, 1, std::span<const std::int64_t>(last),
                                     std::span<const std::int64_t>(first));
    });
    check_limit(7, "COO assembly: columns is 7", [&] {
        return krylith::coo_assembly(1, 7, std::span<const std::int64_t>(first),
                                     std::span<const std::int64_t>(last));
    });
}

TEST_CASE("a halo plan checks what a device holds and sends") {
    // This finds local columns (owned + ghosts) or numbers of sent entries that wrap, which can be
    // more than the rows of the matrix.
    const std::vector<std::int64_t> offsets{0, 6, 12, 18, 24, 30, 36};
    std::vector<std::int32_t> columns; // a full matrix: each rank needs all entries
    for (std::int32_t k = 0; k < 36; ++k) {
        columns.push_back(k % 6);
    }
    const auto plan = [&] {
        return krylith::make_halo_plan(offsets, columns, krylith::equal_rows(6, 3));
    };
    check_limit(6, "rank 0 owns 2 columns and references 4 ghosts", plan);

    // One row is read by three other ranks: each rank holds two, but the owner sends three.
    const std::vector<std::int64_t> star_offsets{0, 1, 3, 5, 7};
    const std::vector<std::int32_t> star{0, 0, 1, 0, 2, 0, 3};
    check_limit(3, "rank 0 sends to all others is 3", [&] {
        return krylith::make_halo_plan(star_offsets, star, krylith::equal_rows(4, 4));
    });
}

TEST_CASE("a device's block checks its rows, whoever made it") {
    // This finds tiles or slices whose first rows wrap.
    const auto device = krylith::device_group::host(1).handle(0);
    const std::vector<std::int64_t> offsets(8, 0);
    krylith::local_csr<double> block{};
    block.rows = 7;
    block.columns = 1;
    block.offsets = offsets;
    check_limit(7, "make_device_matrix: the number of rows of a device is 7", [&] {
        return krylith::make_device_matrix(device, block, krylith::formats::automatic)->name();
    });
}

// Coordinates given once and values many times, against to_csr of the same entries.
#include <krylith/matrix/coo_assembly.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/random_entries.hpp>
#include <krylith/tests/matrix/support/samples.hpp>
#include <krylith/tests/matrix/support/thread_count.hpp>

namespace {

using krylith::coo_assembly;
using krylith::coo_matrix;
using krylith::test::message_of;
using krylith::test::same_bits;

template <class T>
coo_assembly assembly_of(const coo_matrix<T>& coo) {
    return {coo.rows, coo.columns, std::span<const std::int32_t>(coo.row_indices),
            std::span<const std::int32_t>(coo.column_indices)};
}

using indices = std::vector<std::int64_t>;

std::string assembly_refusal(std::int64_t rows, std::int64_t columns, const indices& i,
                             const indices& j) {
    return message_of<krylith::input_error>([&] {
        static_cast<void>(coo_assembly(rows, columns, std::span<const std::int64_t>(i),
                                       std::span<const std::int64_t>(j)));
    });
}

} // namespace

TEST_CASE_TEMPLATE("gathering gives the bits of to_csr, with new values too, on any threads", T,
                   double, float) {
    // This finds sums in another order, a permutation that is right for the first values only.
    auto coo = krylith::test::random_entries<T>(900, 400, 200'000, 1);
    for (const int threads : {1, 2, 3, 8}) {
        const krylith::test::thread_count set(threads);
        const auto assembly = assembly_of(coo);
        CHECK_FALSE(assembly.first().empty());
        for (std::uint64_t round = 0; round < 2; ++round) {
            for (std::size_t k = 0; k < coo.values.size(); ++k) {
                coo.values[k] =
                    static_cast<T>(krylith::unit_interval(krylith::counter_hash(round, k)) - 0.5);
            }
            CHECK(same_bits(assembly.matrix(std::span<const T>(coo.values)), to_csr(coo)));
        }
    }
}

TEST_CASE("without duplicates there are no groups, and the pattern is that of to_csr") {
    // This finds a `first` that is not empty, or empty with duplicates in unsorted rows.
    const coo_matrix<double> coo{3, 4, {2, 0, 2, 0}, {3, 2, 0, 1}, {1, 2, 3, -0.0}};
    const auto assembly = assembly_of(coo);
    CHECK(assembly.first().empty());
    CHECK(std::vector(assembly.order().begin(), assembly.order().end()) == indices{3, 1, 2, 0});
    CHECK(same_bits(assembly.matrix(std::span<const double>(coo.values)), to_csr(coo)));

    const coo_matrix<double> twice{1, 4, {0, 0, 0}, {1, 3, 1}, {1, 2, 4}};
    const auto summed = assembly_of(twice);
    CHECK(std::vector(summed.order().begin(), summed.order().end()) == indices{0, 2, 1});
    CHECK(std::vector(summed.first().begin(), summed.first().end()) == indices{0, 2, 3});
    std::vector<double> values(2);
    summed.gather<double>(twice.values, values);
    CHECK(values == std::vector<double>{5, 2});
    CHECK(same_bits(summed.view<double>(values), krylith::csr_view<double>(to_csr(twice))));
}

TEST_CASE("entries with a negative index are left out, of both widths") {
    // This finds an index of -1 that is counted in a row, values that shift with those left
    // out.
    const indices rows{0, -1, 1, 1, 0, -5};
    const indices columns{1, 0, -1, 0, 1, -1};
    const coo_assembly wide(2, 2, std::span<const std::int64_t>(rows),
                            std::span<const std::int64_t>(columns));
    const std::vector<std::int32_t> narrow_rows(rows.begin(), rows.end());
    const std::vector<std::int32_t> narrow_columns(columns.begin(), columns.end());
    const coo_assembly narrow(2, 2, std::span<const std::int32_t>(narrow_rows),
                              std::span<const std::int32_t>(narrow_columns));
    const std::vector<double> values{1, 100, 100, 2, 4, 100};
    const krylith::csr_matrix<double> expected{2, 2, {0, 1, 2}, {1, 0}, {5, 2}};
    CHECK(wide.matrix<double>(values) == expected);
    CHECK(narrow.matrix<double>(values) == expected);
    CHECK(wide.entries() == 6);

    const indices none{-1, -1};
    const coo_assembly empty(2, 3, std::span<const std::int64_t>(none),
                             std::span<const std::int64_t>(none));
    CHECK(empty.nnz() == 0);
    CHECK(std::vector(empty.row_offsets().begin(), empty.row_offsets().end()) == indices{0, 0, 0});
}

TEST_CASE("an assembly of nothing") {
    // This finds offsets without their last element.
    const coo_assembly none(0, 0, std::span<const std::int32_t>(), std::span<const std::int32_t>());
    CHECK(none.matrix<double>({}) == krylith::csr_matrix<double>{});
}

TEST_CASE("the first offence is named") {
    // This finds a 64-bit index cut to 32 bits (2^32 would become 0), sizes taken on trust.
    CHECK(assembly_refusal(2, 2, {0, 1}, {0, 1}) == "no exception");
    const auto check = [](const std::string& message, const char* part) {
        CHECK_MESSAGE(message.find(part) != std::string::npos, message);
    };
    check(assembly_refusal(2, 2, {0, 2, 3}, {0, 0, 0}),
          "row_indices[1] is 2, allowed are numbers below 2");
    check(assembly_refusal(2, 2, {0, 0}, {0, std::int64_t{1} << 32}),
          "column_indices[1] is 4294967296");
    check(assembly_refusal(2, 2, {0}, {}), "have 1 and 0 entries");
    check(assembly_refusal(-1, 2, {}, {}), "rows is -1, allowed are 0 to 2147483647");
    check(assembly_refusal(1, std::int64_t{1} << 31, {}, {}), "columns is 2147483648, allowed");
}

TEST_CASE("values of a wrong number are a wrong use") {
    // This finds a read beyond the caller's array.
    const coo_matrix<double> coo{1, 1, {0, 0}, {0, 0}, {1, 2}};
    const auto assembly = assembly_of(coo);
    std::vector<double> one(1);
    std::vector<double> two(2);
    const auto assembly_refusal = [&](std::span<const double> from, std::span<double> to) {
        return message_of<krylith::usage_error>([&] { assembly.gather<double>(from, to); });
    };
    CHECK(assembly_refusal(two, one) == "no exception");
    CHECK(assembly_refusal(one, one).find("coo_values has 1 values, must have 2") !=
          std::string::npos);
    CHECK(assembly_refusal(two, two).find("csr_values has 2 values, must have 1") !=
          std::string::npos);
}

// Conversions between COO, CSR and CSC, against plain loops and each other.
#include <krylith/matrix/conversions.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/matrix/support/dense.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/random_entries.hpp>
#include <krylith/tests/matrix/support/samples.hpp>
#include <krylith/tests/matrix/support/thread_count.hpp>

namespace {

using krylith::csc_matrix;
using krylith::csr_matrix;
using krylith::test::same_bits;

/// Places one entry after the other, by a list for each column: the order that conversions must
/// keep.
template <class T>
csr_matrix<T> plain_transpose(const csr_matrix<T>& a) {
    std::vector<std::vector<std::pair<std::int32_t, T>>> lists(static_cast<std::size_t>(a.columns));
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (auto k = a.row_offsets[static_cast<std::size_t>(row)];
             k < a.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            lists[static_cast<std::size_t>(a.column_indices[place])].emplace_back(
                static_cast<std::int32_t>(row), a.values[place]);
        }
    }
    csr_matrix<T> result{a.columns, a.rows, {0}, {}, {}};
    for (const auto& list : lists) {
        for (const auto& [index, value] : list) {
            result.column_indices.push_back(index);
            result.values.push_back(value);
        }
        result.row_offsets.push_back(static_cast<std::int64_t>(result.values.size()));
    }
    return result;
}

/// The same arrays under the other name.
template <class T>
csr_matrix<T> as_rows(const csc_matrix<T>& a) {
    return {a.columns, a.rows, a.column_offsets, a.row_indices, a.values};
}

/// Makes rows of any length, unsorted, with duplicates: COO by rows, without more order than that.
csr_matrix<double> unsorted(std::int64_t rows, std::int64_t columns, std::int64_t entries) {
    auto coo = krylith::test::random_entries<double>(columns, rows, entries, 7);
    std::swap(coo.row_indices, coo.column_indices);
    std::swap(coo.rows, coo.columns);
    std::vector<std::vector<std::size_t>> lists(static_cast<std::size_t>(rows));
    for (std::size_t k = 0; k < coo.values.size(); ++k) {
        lists[static_cast<std::size_t>(coo.row_indices[k])].push_back(k);
    }
    csr_matrix<double> result{rows, columns, {0}, {}, {}};
    for (const auto& list : lists) {
        for (const std::size_t k : list) {
            result.column_indices.push_back(coo.column_indices[k]);
            result.values.push_back(coo.values[k]);
        }
        result.row_offsets.push_back(static_cast<std::int64_t>(result.values.size()));
    }
    return result;
}

template <class T>
void check_conversions(const csr_matrix<T>& a) {
    const csr_matrix<T> expected = plain_transpose(a);
    CHECK(same_bits(transpose(a), expected));
    const csc_matrix<T> csc = to_csc(a);
    CHECK_NOTHROW(validate(csc));
    CHECK(csc.rows == a.rows);
    CHECK(same_bits(as_rows(csc), expected));
    // The way back sorts rows stably, which is the same as transposing twice.
    CHECK(same_bits(to_csr(csc), plain_transpose(expected)));
    if (canonical(a)) {
        CHECK(same_bits(to_csr(csc), a));
        CHECK(same_bits(to_csr(to_coo(a)), a));
    }
    // The sums are the same where duplicates stand in the same order.
    CHECK(same_bits(to_csr(to_coo(a)), to_csr(to_coo(csc))));
}

} // namespace

TEST_CASE_TEMPLATE("small matrices of every shape", T, double, float) {
    // This finds wrong offsets of empty rows and columns, sizes exchanged, changed values.
    for (const auto& sample : krylith::test::file_samples<T>()) {
        if (sample.matrix.columns < 100) { // transposed rows take memory
            CAPTURE(sample.name);
            check_conversions(sample.matrix);
        }
    }
}

TEST_CASE("large matrices, the same bits on any number of threads") {
    // This finds threads that count or place each other's entries, sums in another order.
    for (const int threads : {1, 2, 3, 8}) {
        CAPTURE(threads);
        const krylith::test::thread_count set(threads);
        check_conversions(unsorted(2000, 300, 300'000));   // many duplicates, many threads
        check_conversions(unsorted(300, 90'000, 300'000)); // more columns than threads may count
        check_conversions(unsorted(1, 1000, 100'000));     // one row for all threads
        check_conversions(krylith::convection_diffusion<double>(24, 50.0));
    }
}

TEST_CASE("a transposed matrix is the dense one mirrored") {
    // This finds a plain loop above that is wrong in the same way.
    const csr_matrix<double> a{2, 3, {0, 2, 3}, {2, 0, 1}, {1, 2, 3}};
    CHECK(krylith::test::to_dense(transpose(a)) == krylith::test::dense{{2, 0}, {0, 3}, {1, 0}});
    const csc_matrix<double> expected{2, 3, {0, 1, 2, 3}, {0, 1, 0}, {2, 3, 1}};
    CHECK(to_csc(a) == expected);
    const auto coo = to_coo(a);
    CHECK(coo.row_indices == std::vector<std::int32_t>{0, 0, 1});
    CHECK(coo.column_indices == std::vector<std::int32_t>{2, 0, 1});
}

TEST_CASE("validate names the first offence of a CSC matrix, in its words") {
    // This finds conversions that trust the indices, messages about rows where columns are
    // meant.
    csc_matrix<double> a{3, 2, {0, 2, 3}, {0, 2, 1}, {1, 2, 3}};
    const auto refusal = [&] {
        return krylith::test::message_of<krylith::input_error>(
            [&] { static_cast<void>(to_csr(a)); });
    };
    CHECK(refusal() == "no exception");
    const auto check = [&](const char* what) {
        CHECK_MESSAGE(refusal().find(what) != std::string::npos, refusal());
        CHECK(refusal().find("allowed") != std::string::npos);
    };
    SUBCASE("row too large") {
        a.row_indices[2] = 3;
        check("CSC matrix: row_indices[2], in column 1, is 3");
    }
    SUBCASE("offsets descend") {
        a.column_offsets = {0, 4, 3};
        check("CSC matrix: column 1 starts at 4 and ends at 3");
    }
    SUBCASE("offsets missing") {
        a.column_offsets.pop_back();
        check("column_offsets has 2 entries, allowed is columns + 1, with columns = 2");
    }
    SUBCASE("rows beyond 32 bits") {
        a.rows = std::int64_t{1} << 31;
        check("CSC matrix: rows is 2147483648");
    }
    SUBCASE("values missing") {
        a.values.pop_back();
        check("values has 2 entries, allowed is as many as row_indices: 3");
    }
}

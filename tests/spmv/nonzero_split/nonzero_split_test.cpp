// Operators pcsr, pcsc and pcoo on matrices made for places where parts are cut. All values are
// such that sums are exact in any order: results must be equal.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/partition/nonzero/range_matrices.hpp>
#include <krylith/tests/sparse/sell/sell_products.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/tables.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using partition_tests::random_matrix;
using partition_tests::shuffled;
using partition_tests::test_arrays;
using partition_tests::test_matrix;
using partition_tests::triplet;
using testing::name_of;
using testing::random_numbers;
using testing::values_of;

namespace {

const std::vector<operator_kind> split_kinds = testing::operators_where(
    [](operator_kind kind) { return kind->sends == sent_data::x_and_partial_sums; });
constexpr double scale_factors[] = {0, 1, -2.5};

template <class T>
csr_matrix<T> csr_of(const test_matrix& m) {
    const test_arrays arrays(m.entries);
    return {m.rows, m.columns, test_arrays::offsets(arrays.row_indices, m.rows),
            arrays.column_indices, std::vector<T>(arrays.values.begin(), arrays.values.end())};
}

template <class T>
coo_matrix<T> coo_of(const test_matrix& m) {
    const test_arrays arrays(m.entries);
    return {m.rows, m.columns, arrays.row_indices, arrays.column_indices,
            std::vector<T>(arrays.values.begin(), arrays.values.end())};
}

test_matrix square_matrix(int number) {
    test_matrix m = random_matrix(number);
    m.rows = m.columns = std::max(m.rows, m.columns);
    return m;
}

template <class T>
std::vector<T> integers(std::int64_t n, random_numbers& random) {
    std::vector<T> values(as_size(n));
    for (T& v : values) v = static_cast<T>(random.below(21) - 10);
    return values;
}

template <class T>
double exact_dot(const std::vector<T>& a, const std::vector<T>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
}

/// All alpha and beta, with dot products; the diagonal; empty if all is right.
template <class T>
std::string compare(const matrix_operator<T>& a, const test_matrix& m, std::uint64_t seed) {
    random_numbers random(seed);
    execution run(a.layout()->comm, {});
    const auto x0 = integers<T>(m.rows, random);
    const auto w0 = integers<T>(m.rows, random);
    auto source = testing::make_range_vector(a.layout(), x0);
    auto w = testing::make_range_vector(a.layout(), w0);
    auto y = a.make_range_vector();
    auto x = a.make_domain_vector();
    scalar wy(run), yy(run);
    fused(run, x = source);
    for (const double alpha : scale_factors)
        for (const double beta : scale_factors) {
            const auto y0 = beta == 0
                                ? std::vector<T>(x0.size(), std::numeric_limits<T>::quiet_NaN())
                                : integers<T>(m.rows, random);
            const std::vector<double> wide = partition_tests::product(
                m, alpha, {x0.begin(), x0.end()}, beta, {y0.begin(), y0.end()});
            const std::vector<T> expected(wide.begin(), wide.end());
            const reduction_into<T> dots[] = {wy = dot(w, y), yy = dot(y, y)};
            for (std::size_t count = 0; count <= 2; ++count) {
                y.upload(y0);
                a.apply(run, static_cast<T>(alpha), x, static_cast<T>(beta), y,
                        std::span(dots, count));
                run.flush();
                if (values_of(y) != expected) return "y with " + std::to_string(count) + " dots";
                if (count > 0 && run.get(wy.number()) != exact_dot(w0, expected)) return "w'y";
                if (count > 1 && run.get(yy.number()) != exact_dot(expected, expected))
                    return "y'y";
            }
        }
    std::vector<T> main(as_size(m.rows));
    for (const triplet& e : m.entries)
        if (e.row == e.column) main[as_size(e.row)] += static_cast<T>(e.value);
    a.diagonal(y);
    return values_of(y) == main ? "" : "the diagonal";
}

template <class T>
void check_split_products(const device_group& group, const test_matrix& m, operator_kind kind,
                          format_kind format) {
    CAPTURE(m.shape);
    CAPTURE(name_of(kind));
    CAPTURE(name_of(format));
    const csr_matrix<T> matrix = csr_of<T>(m);
    const auto a = make_operator(group, matrix, {.kind = kind, .format = format});
    CHECK(a->kind() == kind);
    CHECK(compare(*a, m, 3) == "");
    test_matrix other = m;
    std::vector<T> values;
    for (triplet& e : other.entries) {
        e.value = 3 - 2 * e.value;
        values.push_back(static_cast<T>(e.value));
    }
    a->update(values);
    CHECK(compare(*a, other, 4) == "");
}

/// A row and a column that lie on all devices, among rows of several lengths.
test_matrix long_lines(std::int32_t n) {
    test_matrix m{"a row and a column over all parts", n, n, {}};
    random_numbers random(5);
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            if (i == n / 3 || j == n / 2 || (j >= i && j < i + i % 4))
                m.entries.push_back({i, j, static_cast<double>(random.below(9) - 4)});
    return m;
}

/// A row with most entries, so that devices between that of its first and that of its last own no
/// row that has any; the others are empty, or have one.
test_matrix giant_row(std::int32_t n) {
    test_matrix m{"a row over all parts", n, n, {}};
    random_numbers random(6);
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            if (i == n / 2 || (i == j && i % 50 == 0))
                m.entries.push_back({i, j, static_cast<double>(random.below(9) - 4)});
    return m;
}

/// A group of the same devices whose copies are staged.
device_group staged_like(const device_group& group) {
    if (group.kind() == backend::host) return device_group::host(group.size(), {.staged = true});
    std::vector<int> ordinals;
    for (int rank = 0; rank < group.size(); ++rank)
        ordinals.push_back(cuda_device_count() < group.size() ? 0 : rank);
    return device_group::cuda(ordinals, {.staged = true});
}

std::vector<format_kind> split_formats(const device_group& group) {
    auto formats = testing::formats_of(group.kind());
    if (group.kind() == backend::host)
        std::ranges::replace(formats, formats::csr, formats::automatic); // which is csr there
    return formats;
}

} // namespace

KRYLITH_GROUP_TEST("pieces: products of small matrices of all shapes, fp64") {
    for (int number = 0; number < (group.kind() == backend::host ? 20 : 10); ++number)
        for (const auto kind : split_kinds)
            for (const auto format : split_formats(group))
                check_split_products<double>(group, square_matrix(number), kind, format);
}

KRYLITH_GROUP_TEST("pieces: products of small matrices of all shapes, fp32") {
    for (int number = 20; number < 30; ++number)
        for (const auto kind : split_kinds)
            for (const auto format : split_formats(group))
                check_split_products<float>(group, square_matrix(number), kind, format);
}

KRYLITH_GROUP_TEST("pieces: rows and columns that all devices hold") {
    for (const auto kind : split_kinds)
        for (const auto format : split_formats(group))
            check_split_products<double>(group, long_lines(1500), kind, format);
}

KRYLITH_GROUP_TEST("pieces: a row of which most devices hold a part, and own no other") {
    const test_matrix m = giant_row(1000);
    for (const auto kind : split_kinds)
        for (const auto format : split_formats(group))
            check_split_products<double>(group, m, kind, format);
    const auto a = make_operator(group, csr_of<double>(m), {.kind = operators::pcsr});
    const auto& part = dynamic_cast<const nonzero_split_operator<double>&>(*a);
    for (int rank = 1; rank < group.size(); ++rank) {
        CHECK(part.remote_block(rank) != nullptr); // its first entries are of the giant row
        if (rank + 1 < group.size()) CHECK(a->layout()->rows.owned(rank).size() == 0);
    }
    CHECK(a->received(0) == group.size() - 1);
}

/// Rows of which a device has all entries have the kernel, and so the encodings, that halo has for
/// them: the same bits.
KRYLITH_GROUP_TEST("pieces: whole rows of a stencil are multiplied as by halo") {
    const int side = group.kind() == backend::cuda ? 40 : 12;
    const testing::pattern p = testing::stencil(7, side, side, side);
    const csr_matrix<double> matrix{p.rows(), p.rows(), p.offsets, p.indices,
                                    testing::values_by_diagonal<double>(p)};
    const auto format = group.kind() == backend::cuda ? formats::sell : formats::csr;
    const auto whole = make_operator(group, matrix, {.kind = operators::halo, .format = format});
    const auto x = testing::random_values<double>(p.rows(), 77);
    const auto expected = testing::product(*whole, x);
    for (const auto kind : {operators::pcsr, operators::pcoo}) {
        const auto a = make_operator(group, matrix, {.kind = kind, .format = format});
        CHECK(std::abs(testing::narrow_fraction(*a) - testing::narrow_fraction(*whole)) < 0.05);
        auto y = testing::product(*a, x);
        REQUIRE(y.size() == expected.size());
        int others = 0;
        for (std::size_t row = 0; row < y.size(); ++row) others += y[row] == expected[row] ? 0 : 1;
        CHECK(others < group.size()); // at most one row between two devices is summed in parts
        // On the host there are no encodings; on a GPU they leave less than a quarter of all bytes.
        for (int rank = 0; rank < group.size(); ++rank)
            CHECK(a->matrix_bytes(rank) < (group.kind() == backend::cuda
                                               ? 3 * matrix.row_offsets.back() / group.size()
                                               : whole->matrix_bytes(rank) * 6 / 5));
    }
}

KRYLITH_GROUP_TEST("pieces: coordinates are dealt as they lie") {
    random_numbers random(8);
    for (int number = 0; number < 10; ++number) {
        const test_matrix by_rows = square_matrix(number);
        for (const char* order : {"by rows", "by columns", "unsorted"}) {
            test_matrix m = by_rows;
            if (order[3] == 'c') m.entries = partition_tests::by_columns(m.entries);
            if (order[0] == 'u') m.entries = shuffled(m.entries, random);
            if (number % 2 == 0 && !m.entries.empty()) // duplicates add up
                m.entries.push_back(m.entries.back());
            CAPTURE(m.shape);
            CAPTURE(std::string(order));
            const auto a = make_operator(group, coo_of<double>(m), {.kind = operators::pcoo});
            CHECK(compare(*a, m, 9) == "");
            std::vector<double> values;
            for (triplet& e : m.entries) values.push_back(e.value = 1 - e.value);
            a->update(values);
            CHECK(compare(*a, m, 10) == "");
        }
    }
}

void check_bits(const device_group& group, const csr_matrix<double>& matrix) {
    const auto x0 = testing::random_values<double>(matrix.rows, 62);
    const device_group staged = staged_like(group);
    for (const auto kind : split_kinds) {
        std::vector<double> expected;
        for (int round = 0; round < 4; ++round) {
            const device_group& devices = round == 3 ? staged : group;
            const auto a = make_operator(devices, matrix, {.kind = kind});
            execution run(devices, {});
            auto source = testing::make_range_vector(a->layout(), x0);
            auto x = a->make_domain_vector();
            auto y = a->make_range_vector();
            scalar yy(run);
            fused(run, x = source);
            const reduction_into<double> dots[] = {yy = dot(y, y)};
            a->apply(run, 1.0, x, 0.0, y, dots);
            auto result = values_of(y);
            result.push_back(run.get(yy.number()));
            if (expected.empty()) expected = result;
            CHECK(testing::same_bits(result, expected));
        }
    }
}

KRYLITH_GROUP_TEST("pieces: the same bits every time, whatever the transport") {
    check_bits(group, testing::random_matrix(900, 7, 2, 61));
    csr_matrix<double> giant = csr_of<double>(giant_row(700));
    giant.values = testing::random_values<double>(std::ssize(giant.values), 63);
    check_bits(group, giant);
}

KRYLITH_GROUP_TEST("pieces: what they can't do is refused") {
    const auto matrix = testing::laplace_1d(40);
    for (const auto kind : split_kinds) {
        const auto a = make_operator(group, matrix, {.kind = kind});
        const std::vector<const double*> none(as_size(group.size()), nullptr);
        CHECK_THROWS_WITH_AS(a->update_on_devices(none), doctest::Contains("null"), usage_error);
        CHECK_THROWS_AS(a->update(std::span(matrix.values).first(3)), usage_error);
        CHECK(a->recordable());
        if (group.size() == 1) CHECK(a->received(0) == 0);
        CHECK_THROWS_AS(
            (void)make_operator(group, matrix, {.kind = kind, .transport = transports::peer_store}),
            usage_error);
        CHECK_THROWS_AS((void)make_operator(group, matrix, {.kind = kind, .measure = true}),
                        usage_error);
    }
    const auto unsorted = make_operator(group, coo_matrix<double>{2, 2, {1, 0}, {0, 1}, {1.0, 2.0}},
                                        {.kind = operators::pcoo});
    const std::vector<const double*> none(as_size(group.size()), nullptr);
    CHECK_THROWS_WITH_AS(unsorted->update_on_devices(none), doctest::Contains("coo_matrix"),
                         usage_error);
    CHECK_THROWS_WITH_AS((void)make_operator(group, coo_matrix<double>{2, 2, {0}, {0}, {1.0}}, {}),
                         doctest::Contains("pcoo"), usage_error);
    CHECK_THROWS_AS((void)make_operator(group, coo_matrix<double>{2, 3, {0}, {3}, {1.0}},
                                        {.kind = operators::pcoo}),
                    input_error);
}

} // namespace krylith

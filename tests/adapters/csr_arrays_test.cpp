// Arrays of other programs: every width and base gives the same matrix, nothing is copied without
// need, and errors are refused with their place.
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/adapters/csr_arrays.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/automatic.hpp>

namespace krylith {

namespace {

csr_matrix<double> copy_of(const csr_view<double>& view) {
    csr_matrix<double> m;
    m.rows = view.rows;
    m.columns = view.columns;
    m.row_offsets.assign(view.row_offsets.begin(), view.row_offsets.end());
    m.column_indices.assign(view.column_indices.begin(), view.column_indices.end());
    m.values.assign(view.values.begin(), view.values.end());
    return m;
}

/// The arrays of a matrix, with other integer types.
template <class Offset, class Column>
struct arrays {
    std::vector<Offset> offsets;
    std::vector<Column> columns;

    arrays(const csr_matrix<double>& m, std::int64_t base) {
        for (const auto offset : m.row_offsets)
            offsets.push_back(static_cast<Offset>(offset + base));
        for (const auto column : m.column_indices)
            columns.push_back(static_cast<Column>(column + base));
    }
};

template <class Offset, class Column>
void round_trip() {
    const auto m = poisson2d<double>(7);
    for (const auto base : {index_base::zero, index_base::one}) {
        CAPTURE(static_cast<int>(base));
        const arrays<Offset, Column> of(m, static_cast<std::int64_t>(base));
        const auto adapted = adapt_csr(m.rows, m.columns, of.offsets.data(), of.columns.data(),
                                       m.values.data(), base);
        CHECK(copy_of(adapted.view()) == m);
        CHECK(adapted.view().values.data() == m.values.data());
        CHECK_NOTHROW(validate(adapted.view()));
    }
}

} // namespace

// The bugs: an index read in the wrong width, or a base subtracted from one array only.
TEST_CASE("csr arrays: 32 and 64 bits, signed or not, from 0 and from 1, are the same matrix") {
    round_trip<std::int64_t, std::int32_t>();
    round_trip<std::int32_t, std::int32_t>();
    round_trip<std::int64_t, std::int64_t>();
    round_trip<std::int32_t, std::int64_t>();
    round_trip<std::uint32_t, std::uint32_t>();
    round_trip<long long, unsigned long long>();
}

// The bugs: an unneeded copy, or a view of a temporary after a move.
TEST_CASE("csr arrays: only what must be converted is copied, and moving keeps the view") {
    const auto m = poisson2d<double>(5);
    const auto rows = static_cast<std::size_t>(m.rows);
    const auto same = adapt_csr(m.rows, m.columns, m.row_offsets.data(), m.column_indices.data(),
                                m.values.data());
    CHECK(same.copied_bytes() == 0);
    CHECK(same.view().row_offsets.data() == m.row_offsets.data());
    CHECK(same.view().column_indices.data() == m.column_indices.data());

    const arrays<std::int32_t, std::int32_t> narrow(m, 0);
    auto offsets_only =
        adapt_csr(m.rows, m.columns, narrow.offsets.data(), narrow.columns.data(), m.values.data());
    CHECK(offsets_only.copied_bytes() == 8 * (rows + 1));
    CHECK(offsets_only.view().column_indices.data() == narrow.columns.data());
    const auto moved = std::move(offsets_only);
    CHECK(copy_of(moved.view()) == m);
}

TEST_CASE("csr arrays: no rows, and rows without entries, need no arrays of entries") {
    const std::int32_t none[] = {1};
    const auto empty = adapt_csr<double, std::int32_t, std::int32_t>(0, 0, none, nullptr, nullptr,
                                                                     index_base::one);
    CHECK(empty.view().rows == 0);
    CHECK(empty.view().nnz() == 0);
    CHECK_NOTHROW(validate(empty.view()));
    const std::int64_t zeros[] = {0, 0, 0};
    const auto hollow = adapt_csr<float, std::int64_t, std::int64_t>(2, 2, zeros, nullptr, nullptr);
    CHECK_NOTHROW(validate(hollow.view()));
}

TEST_CASE("csr arrays: what can't be right is refused, with its place and what is allowed") {
    const std::vector<std::int32_t> offsets = {0, 1, 3};
    const std::vector<std::int64_t> columns = {0, 0, 1};
    const std::vector<double> values = {1, 2, 3};
    const auto refused = [&](const std::vector<std::int32_t>& o, const std::vector<std::int64_t>& c,
                             index_base base, const char* what) {
        CHECK_THROWS_WITH_AS((void)adapt_csr(2, 2, o.data(), c.data(), values.data(), base),
                             doctest::Contains(what), input_error);
    };
    refused(offsets, columns, index_base::one, "row_offsets[0] is 0, allowed is 1");
    refused({1, 2, 4}, {1, 1, 2}, index_base::zero, "row_offsets[0] is 1, allowed is 0");
    refused({0, 1, -2}, columns, index_base::zero, "row_offsets[2] is -2");
    refused(offsets, {0, 0, 2}, index_base::zero, "column_indices[2] is 2, allowed are 0 to 1");
    refused(offsets, {0, -1, 1}, index_base::zero, "column_indices[1] is -1");
    refused(offsets, {0, std::int64_t{1} << 32, 1}, index_base::zero,
            "column_indices[1] is 4294967296"); // it would be 0 in 32 bits
    refused({1, 2, 4}, {1, 0, 2}, index_base::one, "column_indices[1] is 0, allowed are 1 to 2");

    const auto adapt = [&](std::int64_t rows, std::int64_t cols, const std::int32_t* o,
                           const std::int64_t* c,
                           const double* v) { (void)adapt_csr(rows, cols, o, c, v); };
    const auto* o = offsets.data();
    CHECK_THROWS_WITH_AS(adapt(-1, 2, o, columns.data(), values.data()),
                         doctest::Contains("rows is -1"), input_error);
    CHECK_THROWS_WITH_AS(adapt(2, std::int64_t{1} << 31, o, columns.data(), values.data()),
                         doctest::Contains("columns is 2147483648"), input_error);
    CHECK_THROWS_WITH_AS(adapt(2, 2, nullptr, columns.data(), values.data()),
                         doctest::Contains("row_offsets is null"), usage_error);
    CHECK_THROWS_WITH_AS(adapt(2, 2, o, nullptr, values.data()),
                         doctest::Contains("column_indices is null"), usage_error);
    CHECK_THROWS_WITH_AS(adapt(2, 2, o, columns.data(), nullptr),
                         doctest::Contains("values is null"), usage_error);
}

TEST_CASE("csr arrays: an operator is made without naming the type of the values") {
    const auto m = poisson2d<double>(7);
    const arrays<std::int32_t, std::int64_t> of(m, 1);
    const std::vector<float> single(m.values.begin(), m.values.end());
    const auto fp64 = make_operator(device_group::host(2),
                                    adapt_csr(m.rows, m.columns, of.offsets.data(),
                                              of.columns.data(), m.values.data(), index_base::one));
    const auto fp32 = make_operator(device_group::host(2),
                                    adapt_csr(m.rows, m.columns, of.offsets.data(),
                                              of.columns.data(), single.data(), index_base::one));
    static_assert(std::is_same_v<decltype(*fp64), matrix_operator<double>&>);
    static_assert(std::is_same_v<decltype(*fp32), matrix_operator<float>&>);
    CHECK(fp64->layout()->size() == m.rows);
    CHECK(fp32->layout()->size() == m.rows);
}

TEST_CASE("csr arrays: solve() takes them as make_operator() does") {
    const auto m = poisson2d<double>(7);
    const arrays<std::int32_t, std::int64_t> of(m, 1);
    const std::vector<double> b(static_cast<std::size_t>(m.rows), 1.0);
    std::vector<double> x(b.size());
    std::vector<double> expected(b.size());
    const auto group = device_group::host(2);
    CHECK(solve(group, m, b, expected).converged());
    CHECK(solve(group,
                adapt_csr(m.rows, m.columns, of.offsets.data(), of.columns.data(), m.values.data(),
                          index_base::one),
                b, x)
              .converged());
    CHECK(x == expected);
}

} // namespace krylith

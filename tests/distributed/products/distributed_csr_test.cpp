// Matrices over the devices of a group: what is given is what comes back, with local columns in the
// order of global ones, and errors that name what is wrong.
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/spmv/matrix_parts.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/poisson.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/vector.hpp>

#include <krylith/tests/distributed/products/split_rows.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/sparse/spgemm/spgemm_cases.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

namespace {

using testing::split;
using testing::uneven_rows;

/// Ghosts ascend around the owned columns, each is referred to, and local numbers ascend with
/// global ones.
template <class T>
void check_local_columns(const distributed_csr<T>& a) {
    for (int rank = 0; rank < a.comm().ranks(); ++rank) {
        const local_columns& mine = a.columns_of(rank);
        CHECK(mine.owned() == a.column_owners().owned(rank));
        CHECK(mine.count() == a.block(rank).columns());
        CHECK(std::is_sorted(mine.ghosts().begin(), mine.ghosts().end()));
        std::vector<std::int64_t> others;
        for (const std::int32_t column : a.global_columns(rank).download())
            if (!mine.owned().contains(column)) others.push_back(column);
        std::sort(others.begin(), others.end());
        others.erase(std::unique(others.begin(), others.end()), others.end());
        CHECK(mine.ghosts() == others);
        const auto below = std::count_if(others.begin(), others.end(), [&](std::int64_t column) {
            return column < mine.owned().begin;
        });
        CHECK(mine.first_owned() == below);
        if (a.comm().ranks() == 1) CHECK(mine.ghosts().empty());
    }
}

/// The arrays of rows of a matrix in the memory of a device, with offsets that begin with `first`.
template <class T, class Offset>
struct part_arrays {
    buffer<Offset> offsets;
    buffer<std::int32_t> columns;
    buffer<T> values;
    std::int64_t rows;

    part_arrays(const std::shared_ptr<device>& on, const csr_matrix<T>& a, row_range mine,
                Offset first)
        : rows(mine.size()) {
        std::vector<Offset> starts;
        const std::int64_t begin = a.row_offsets[static_cast<std::size_t>(mine.begin)];
        const std::int64_t end = a.row_offsets[static_cast<std::size_t>(mine.end)];
        for (std::int64_t i = mine.begin; i <= mine.end; ++i)
            starts.push_back(
                static_cast<Offset>(a.row_offsets[static_cast<std::size_t>(i)] - begin + first));
        const auto at = static_cast<std::size_t>(begin);
        const auto count = static_cast<std::size_t>(end - begin);
        offsets = {on, std::span<const Offset>(starts), "test"};
        columns = {on, std::span<const std::int32_t>(a.column_indices).subspan(at, count), "test"};
        values = {on, std::span<const T>(a.values).subspan(at, count), "test"};
    }
    [[nodiscard]] csr_part<T> part() const {
        return {rows, index_array(offsets.data()), columns.data(), values.data()};
    }
};

template <class Offset>
distributed_csr<double> from_parts(const device_group& group, const csr_matrix<double>& a,
                                   Offset first) {
    const row_partition rows = uneven_rows(a.rows, group.size());
    std::vector<part_arrays<double, Offset>> arrays;
    std::vector<csr_part<double>> parts;
    for (int rank = 0; rank < group.size(); ++rank) {
        arrays.emplace_back(group.handle(rank), a, rows.owned(rank), first);
        parts.push_back(arrays.back().part());
    }
    return {group, parts, uneven_rows(a.columns, group.size(), 1)};
}

} // namespace

KRYLITH_GROUP_TEST("distributed csr: a matrix of the host comes back, in either precision") {
    for (const auto& c : testing::spgemm_cases()) {
        CAPTURE(c.surfaces);
        for (const csr_matrix<double>* a : {&c.a, &c.b}) {
            const auto matrix = split(group, *a);
            CHECK(matrix.rows() == a->rows);
            CHECK(matrix.columns() == a->columns);
            CHECK(matrix.nonzeros() == a->nnz());
            CHECK(matrix.download() == *a);
            check_local_columns(matrix);
        }
        const auto narrow = testing::as_type<float>(c.a);
        CHECK(split(group, narrow).download() == narrow);
    }
}

KRYLITH_GROUP_TEST("distributed csr: values on the devices may be borrowed") {
    const csr_matrix<double>& a = testing::spgemm_cases()[7].a;
    const row_partition rows = uneven_rows(a.rows, group.size());
    std::vector<part_arrays<double, std::int64_t>> arrays;
    std::vector<csr_part<double>> parts;
    for (int rank = 0; rank < group.size(); ++rank) {
        arrays.emplace_back(group.handle(rank), a, rows.owned(rank), 3);
        parts.push_back(arrays.back().part());
    }
    distributed_csr<double> matrix(group, parts, uneven_rows(a.columns, group.size(), 1),
                                   part_values::borrowed);
    CHECK(matrix.download() == a);
    for (int rank = 0; rank < group.size(); ++rank) {
        device_csr<double>& block = matrix.block(rank);
        CHECK(block.view().values == parts[static_cast<std::size_t>(rank)].values);
        CHECK(block.bytes() == 8 * (block.rows() + 1) + 4 * block.nonzeros());
        const auto other = block.with_values(
            buffer<float>(group.handle(rank), static_cast<std::size_t>(block.nonzeros()), "test"));
        CHECK(other.nonzeros() == arrays[static_cast<std::size_t>(rank)].values.size());
    }
}

KRYLITH_GROUP_TEST("distributed csr: rows on the devices are copied, with offsets of any begin") {
    for (const auto& c : testing::spgemm_cases()) {
        CAPTURE(c.surfaces);
        const auto wide = from_parts<std::int64_t>(group, c.a, 0);
        CHECK(wide.download() == c.a);
        check_local_columns(wide);
        CHECK(from_parts<std::int32_t>(group, c.a, 5).download() == c.a);
    }
}

KRYLITH_GROUP_TEST("distributed csr: whether rows ascend") {
    const csr_matrix<double> good{4, 5, {0, 2, 2, 5, 6}, {1, 3, 0, 2, 4, 0}, {1, 2, 3, 4, 5, 6}};
    CHECK(split(group, good).rows_ascend());
    csr_matrix<double> twice = good;
    twice.column_indices[3] = 0;
    CHECK_FALSE(split(group, twice).rows_ascend());
    csr_matrix<double> unsorted = good;
    std::swap(unsorted.column_indices[0], unsorted.column_indices[1]);
    CHECK_FALSE(split(group, unsorted).rows_ascend());
    const csr_matrix<double> none{3, 3, {0, 0, 0, 0}, {}, {}};
    CHECK(split(group, none).rows_ascend());
    CHECK(distributed_csr<double>().rows_ascend());
}

KRYLITH_GROUP_TEST("distributed csr: its operator multiplies as that of the matrix") {
    const auto a = poisson3d<double>(6, 5, 4);
    const row_partition rows = uneven_rows(a.rows, group.size());
    distributed_csr<double> matrix(group, csr_view<double>(a), rows, rows);
    const operator_layouts layouts = make_layouts(group, rows, rows, coherence::owned);
    const auto from_matrix = make_operator(layouts, matrix);
    const auto from_host = make_operator(layouts, csr_view<double>(a));
    std::vector<double> entries(static_cast<std::size_t>(a.rows));
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = static_cast<double>(i % 17) - 3;
    const auto product_by = [&](const matrix_operator<double>& by) {
        auto x = by.make_domain_vector();
        auto y = by.make_range_vector();
        x.upload(entries);
        execution run(group, {});
        put_ghosts(run, x);
        by.apply(run, 1, x, 0, y);
        run.flush();
        return testing::values_of(y);
    };
    CHECK(product_by(*from_matrix) == product_by(*from_host));
    CHECK(from_matrix->kept().longest_row == 7);
    CHECK(from_host->kept().longest_row == 7);

    const auto in_place = make_operator(layouts, matrix, {.format = formats::csr, .borrow = true});
    const std::vector<double> product = product_by(*in_place);
    CHECK(product == product_by(*from_host));
    std::vector<double> doubled = a.values;
    for (double& value : doubled) value *= 2;
    matrix.update(doubled);
    const std::vector<double> later = product_by(*in_place);
    for (std::size_t i = 0; i < later.size(); ++i) CHECK(later[i] == 2 * product[i]);

    const row_partition fewer = uneven_rows(a.rows - 1, group.size());
    const operator_layouts narrow = make_layouts(group, rows, fewer, coherence::owned);
    CHECK_THROWS_AS((void)make_operator(narrow, matrix), usage_error);
    CHECK_THROWS_AS((void)make_operator(operator_layouts{}, matrix), usage_error);
    CHECK_THROWS_AS((void)make_operator(layouts, distributed_csr<double>()), usage_error);
    CHECK_THROWS_WITH_AS((void)make_operator(layouts, matrix.without_values()),
                         doctest::Contains("have no values"), usage_error);
    const auto ordered = make_operator(group, a, {.kind = operators::halo, .order = orders::rcm});
    REQUIRE(ordered->layout()->order);
    const row_partition& its = ordered->layout()->rows;
    CHECK_THROWS_WITH_AS(
        (void)make_operator(ordered->layouts(),
                            distributed_csr<double>(group, csr_view<double>(a), its, its)),
        doctest::Contains("another order of rows"), usage_error);
}

KRYLITH_GROUP_TEST("distributed csr: new values go in once, for whatever was made of the matrix") {
    auto a = poisson3d<double>(6, 5, 4);
    const row_partition rows = uneven_rows(a.rows, group.size());
    distributed_csr<double> matrix(group, csr_view<double>(a), rows, rows);
    const auto op = make_operator(matrix);
    jacobi<double> m(*op, matrix);
    for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] *= 1.0 + 0.125 * double(k % 5);
    matrix.update(a.values);
    CHECK(matrix.download() == a);
    op->update_on_devices(matrix.values());
    m.update(matrix);
    std::vector<double> r(static_cast<std::size_t>(a.rows));
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = double(i % 7) - 3;
    std::vector<double> product(r.size());
    std::vector<double> quotient(r.size());
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[std::size_t(i)]; k < a.row_offsets[std::size_t(i) + 1];
             ++k) {
            const auto column = std::size_t(a.column_indices[std::size_t(k)]);
            product[std::size_t(i)] += a.values[std::size_t(k)] * r[column];
            if (column == std::size_t(i)) quotient[column] = r[column] / a.values[std::size_t(k)];
        }
    auto x = op->make_domain_vector();
    auto y = op->make_range_vector();
    x.upload(r);
    execution run(group, {});
    put_ghosts(run, x);
    op->apply(run, 1, x, 0, y);
    run.flush();
    const std::vector<double> computed = testing::values_of(y);
    m.apply(run, x, y);
    run.flush();
    const std::vector<double> divided = testing::values_of(y);
    for (std::size_t i = 0; i < r.size(); ++i) {
        CHECK(computed[i] == doctest::Approx(product[i]));
        CHECK(divided[i] == doctest::Approx(quotient[i]));
    }

    CHECK_THROWS_WITH_AS(matrix.update(std::vector<double>(3)),
                         doctest::Contains("there are 3 values; the matrix has"), usage_error);
    CHECK(matrix.download() == a);
    distributed_csr<double> borrowing = matrix.copy(part_values::borrowed);
    CHECK_THROWS_WITH_AS(borrowing.update(a.values), doctest::Contains("no values of its own"),
                         usage_error);
    distributed_csr<double>().update({});

    // The same of arrays of the ranks, in host memory.
    std::vector<const double*> own;
    for (int rank = 0; rank < group.size(); ++rank)
        own.push_back(a.values.data() + a.row_offsets[std::size_t(rows.owned(rank).begin)]);
    for (double& value : a.values) value *= 2;
    matrix.update_parts(own);
    CHECK(matrix.download() == a);
    CHECK_THROWS_WITH_AS(borrowing.update_parts(own), doctest::Contains("no values of its own"),
                         usage_error);
    // One that is wrong: nothing changes.
    for (double& value : a.values) value *= 2;
    const double* const last = std::exchange(own.back(), nullptr);
    CHECK_THROWS_WITH_AS(matrix.update_parts(own), doctest::Contains("values is null"),
                         usage_error);
    for (double& value : a.values) value /= 2;
    CHECK(matrix.download() == a);
    own.back() = last;
    own.push_back(nullptr);
    CHECK_THROWS_WITH_AS(matrix.update_parts(own), doctest::Contains("arrays for"), usage_error);
    distributed_csr<double>().update_parts({});
}

KRYLITH_GROUP_TEST("distributed csr: what is wrong with partitions, parts and blocks is named") {
    const auto a = poisson3d<double>(3, 3, 3);
    const row_partition rows = equal_rows(27, group.size());
    const csr_view<double> view(a);
    CHECK(test::message_of<error>([&] {
              distributed_csr<double>(group, view, equal_rows(27, group.size() + 1), rows);
          }).find("the partition of rows has") != std::string::npos);
    CHECK_THROWS_AS(distributed_csr<double>(group, view, rows, equal_rows(26, group.size())),
                    usage_error);
    CHECK_THROWS_AS(distributed_csr<double>(group, std::span<const csr_part<double>>(), rows),
                    usage_error);
    CHECK_THROWS_AS(distributed_csr<double>(group, rows, rows, {}, {}), usage_error);

    csr_matrix<double> wrong = a;
    wrong.column_indices[static_cast<std::size_t>(wrong.row_offsets[20])] = 27;
    CHECK(test::message_of<error>([&] {
              from_parts<std::int64_t>(group, wrong, 0);
          }).find("row 20 has column 27: allowed are 0 to 26") != std::string::npos);
    wrong = a;
    wrong.column_indices[0] = -1;
    CHECK_THROWS_AS(from_parts<std::int32_t>(group, wrong, 0), input_error);
    std::vector<csr_part<double>> parts(static_cast<std::size_t>(group.size()));
    parts.back().rows = 3;
    CHECK(test::message_of<error>([&] {
              distributed_csr<double>(group, parts, rows);
          }).find("row_offsets is null") != std::string::npos);
    parts.back().rows = -3;
    CHECK_THROWS_AS(distributed_csr<double>(group, parts, rows), usage_error);

    wrong = {2, 27, {0, 3, 1}, {0, 1, 2}, {1, 1, 1}};
    std::vector<part_arrays<double, std::int64_t>> arrays;
    parts.clear();
    for (int rank = 0; rank < group.size(); ++rank) {
        const bool last = rank + 1 == group.size();
        arrays.emplace_back(group.handle(rank), last ? wrong : a, row_range{0, last ? 2 : 1}, 0);
        parts.push_back(arrays.back().part());
    }
    CHECK(test::message_of<error>([&] {
              distributed_csr<double>(group, parts, rows);
          }).find("ends at 1: allowed are row_offsets that don't descend") != std::string::npos);
}

} // namespace krylith

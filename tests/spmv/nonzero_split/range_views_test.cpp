// The kernels for CSR on parts of pCSR, unchanged: each device multiplies the block of its part,
// then the rows that several hold are added up. All values are integers, so that results are equal.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/nonzero/shared_major.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>
#include <krylith/spmv/nonzero_split/range_views.hpp>
#include <krylith/vector/execution.hpp>

#include <krylith/tests/partition/nonzero/range_matrices.hpp>
#include <krylith/tests/support/groups.hpp>

using namespace krylith;
using krylith::partition_tests::random_matrix;
using krylith::partition_tests::test_arrays;
using krylith::partition_tests::test_matrix;
using krylith::testing::random_numbers;

namespace {

/// Every device's own y after y = alpha A x + beta y of its part; y of a flagged first row is 0.
std::vector<std::vector<double>> part_results(const device_group& group, const pcsr<double>& a,
                                              format_kind kind, double alpha,
                                              const std::vector<double>& x, double beta,
                                              const std::vector<double>& y) {
    execution run(group, {});
    run.open({});
    std::vector<std::unique_ptr<device_matrix<double>>> blocks;
    std::vector<buffer<double>> xs;
    std::vector<buffer<double>> ys;
    for (int k = 0; k < group.size(); ++k) {
        const pcsr_range<double> range = a.range(k);
        std::vector<double> mine(y.begin() + range.majors.start_major,
                                 y.begin() + range.majors.end_major);
        if (range.majors.start_flag && beta != 0) mine.front() = 0;
        mine.push_back(-1); // kernels leave what is behind the block alone
        blocks.push_back(make_device_matrix(group.handle(k), block_of(range), kind));
        xs.emplace_back(group.handle(k), std::span(x), "x");
        ys.emplace_back(group.handle(k), std::span<const double>(mine), "y");
        spmv_arguments<double> arguments{};
        arguments.common = run.at(k);
        arguments.x = xs.back().data();
        arguments.y = ys.back().data();
        arguments.alpha = alpha;
        arguments.beta = beta;
        blocks.back()->apply(arguments);
    }
    run.close();
    group.synchronize();
    std::vector<std::vector<double>> results;
    results.reserve(ys.size());
    for (const auto& result : ys) results.push_back(result.download());
    return results;
}

void check_products(const device_group& group, const test_matrix& m, format_kind kind) {
    random_numbers random(11);
    const test_arrays arrays(m.entries);
    const auto offsets = test_arrays::offsets(arrays.row_indices, m.rows);
    const auto a =
        make_pcsr<double>(m.rows, m.columns, offsets, arrays.column_indices, arrays.values,
                          equal_entries(static_cast<std::int64_t>(m.entries.size()), group.size()));
    std::vector<double> x(as_size(m.columns));
    for (double& v : x) v = random.below(41) - 20;
    for (const double beta : {0.0, -2.5}) {
        std::vector<double> y(as_size(m.rows), std::numeric_limits<double>::quiet_NaN());
        if (beta != 0)
            for (double& v : y) v = random.below(41) - 20;
        const auto results = part_results(group, a, kind, 1.5, x, beta, y);
        std::vector<double> found = y;
        for (std::size_t k = 0; k < results.size(); ++k) {
            const row_range own = a.major_ranges[k].owned();
            std::copy_n(results[k].begin() + (own.begin - a.major_ranges[k].start_major),
                        own.size(), found.begin() + own.begin);
            CHECK(results[k].back() == -1);
        }
        for (const shared_index& shared : shared_indices(a.major_ranges))
            for (int k = shared.first_part + 1; k <= shared.last_part; ++k)
                if (a.major_ranges[as_size(k)].entries() > 0)
                    found[as_size(shared.major)] += results[as_size(k)].front();
        CHECK(found == partition_tests::product(m, 1.5, x, beta, y));
    }
}

} // namespace

KRYLITH_GROUP_TEST("part blocks: kernels multiply parts of pCSR like any other block") {
    std::vector<test_matrix> matrices;
    for (int number = 0; number < 30; ++number) {
        matrices.push_back(random_matrix(number));
        if (matrices.back().columns == 0) matrices.pop_back(); // no device has an empty x
    }
    test_matrix& large = matrices.emplace_back();
    large = {"a row over all parts", 3000, 4000, {}};
    random_numbers random(5);
    for (std::int32_t i = 0; i < 3000; ++i)
        for (std::int32_t j = i == 1000 ? 0 : i; j < (i == 1000 ? 4000 : i + i % 3); ++j)
            large.entries.push_back({i, j, static_cast<double>(random.below(9) - 4)});
    std::vector<format_kind> kinds{format_kind::csr};
    if (group.kind() == backend::cuda)
        kinds.insert(kinds.end(), {format_kind::sell, format_kind::cusparse});
    for (const format_kind kind : kinds)
        for (const test_matrix& m : matrices) {
            INFO(m.shape << ", " << to_string(kind));
            check_products(group, m, kind);
        }
}

TEST_CASE("part blocks: views of pieces are valid matrices over the same arrays") {
    for (int number = 0; number < 50; ++number) {
        const test_matrix m = random_matrix(number);
        const test_arrays rows(m.entries);
        const test_arrays columns(partition_tests::by_columns(m.entries));
        const auto cut = equal_entries(static_cast<std::int64_t>(m.entries.size()), 3);
        const auto row_offsets = test_arrays::offsets(rows.row_indices, m.rows);
        const auto column_offsets = test_arrays::offsets(columns.column_indices, m.columns);
        const auto a = make_pcsr<double>(m.rows, m.columns, row_offsets, rows.column_indices,
                                         rows.values, cut);
        const auto b = make_pcsc<double>(m.rows, m.columns, column_offsets, columns.row_indices,
                                         columns.values, cut);
        for (int k = 0; k < 3; ++k) {
            const csr_view<double> by_rows = view_of(a.range(k));
            const csc_view<double> by_columns = view_of(b.range(k));
            CHECK_NOTHROW(validate(by_rows));
            CHECK_NOTHROW(validate(by_columns));
            CHECK(by_rows.columns == m.columns);
            CHECK(by_columns.rows == m.rows);
            CHECK(by_rows.values.data() == rows.values.data() + cut.begin[as_size(k)]);
            CHECK(by_columns.values.data() == columns.values.data() + cut.begin[as_size(k)]);
        }
    }
}

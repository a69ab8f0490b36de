// Coordinate entries assembled on the devices: the matrix of coo_assembly, and preconditioners and
// operators of one source.
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_assembly.hpp>
#include <krylith/matrix/coo_assembly.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_parts.hpp>

#include <krylith/tests/spmv/rectangular/rectangular_matrices.hpp>
#include <krylith/tests/support/element_arrays.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

namespace {

using testing::at;

std::vector<const double*> pointers(const std::vector<buffer<double>>& arrays) {
    std::vector<const double*> result;
    for (const auto& one : arrays) result.push_back(one.data());
    return result;
}

/// What the host assembles of all entries.
csr_matrix<double> expected(const testing::element_arrays& arrays, std::int64_t rows,
                            std::int64_t columns) {
    std::vector<std::int32_t> all_rows;
    std::vector<std::int32_t> all_columns;
    for (std::size_t rank = 0; rank < arrays.rows.size(); ++rank) {
        const auto r = arrays.rows[rank].download();
        const auto c = arrays.columns[rank].download();
        all_rows.insert(all_rows.end(), r.begin(), r.end());
        all_columns.insert(all_columns.end(), c.begin(), c.end());
    }
    const coo_assembly assembly(rows, columns, std::span<const std::int32_t>(all_rows),
                                std::span<const std::int32_t>(all_columns));
    return assembly.matrix<double>(arrays.all);
}

void check_same(const csr_matrix<double>& a, const csr_matrix<double>& b) {
    CHECK(a.columns == b.columns);
    CHECK(a.row_offsets == b.row_offsets);
    CHECK(a.column_indices == b.column_indices);
    CHECK(a.values == b.values);
}

} // namespace

KRYLITH_GROUP_TEST("distributed assembly: the bits of coo_assembly, new values by a gather") {
    struct shape {
        int rows;
        int columns;
        int per_row;
    };
    for (const shape& of : {shape{400, 400, 5}, {150, 40, 5}, {30, 170, 9}, {2, 50, 20}}) {
        const int rows = of.rows;
        const int columns = of.columns;
        CAPTURE(rows);
        const auto first = testing::random_rectangular(rows, columns, of.per_row, 69);
        auto second = first;
        for (auto& v : second.values) v = 1 - 3 * v;
        const testing::element_arrays arrays(group, first);
        const testing::element_arrays other(group, second);
        distributed_assembly<double> assembly(group, arrays.parts,
                                              equal_rows(columns, group.size()));
        CHECK(assembly.matrix().rows() == rows);
        CHECK(assembly.matrix().rows_ascend());
        check_same(assembly.matrix().download(), expected(arrays, rows, columns));
        assembly.gather(pointers(other.values));
        check_same(assembly.matrix().download(), expected(other, rows, columns));
        for (int rank = 0; rank < group.size(); ++rank) {
            CHECK(assembly.entries(rank) == arrays.parts[at(rank)].entries);
            CHECK(assembly.values()[at(rank)] == assembly.matrix().block(rank).view().values);
        }
        std::vector<std::size_t> sizes;
        for (int rank = 0; rank < group.size(); ++rank)
            sizes.push_back(at(assembly.matrix().block(rank).nonzeros()));
        assembly.drop_matrix();
        CHECK(assembly.matrix().rows() == 0);
        assembly.gather(pointers(arrays.values)); // as an operator goes on
        std::vector<double> values;
        for (int rank = 0; rank < group.size(); ++rank) {
            std::vector<double> own(sizes[at(rank)]);
            group[rank].download(own.data(), assembly.values()[at(rank)],
                                 own.size() * sizeof(double));
            values.insert(values.end(), own.begin(), own.end());
        }
        CHECK(values == expected(arrays, rows, columns).values);
    }
}

KRYLITH_GROUP_TEST("distributed assembly: operator, amg and solve() of one source, and updates") {
    const auto first = make_gallery<double>("poisson3d:12");
    auto second = first;
    for (auto& v : second.values) v *= 2;
    const testing::element_arrays arrays(group, first);
    const testing::element_arrays other(group, second);
    const auto b0 = testing::random_values<double>(first.rows, 3);
    distributed_assembly<double> assembly(group, arrays.parts,
                                          equal_rows(first.rows, group.size()));
    const auto a = make_operator(assembly.matrix());
    amg<double> m(*a, assembly.matrix());
    const auto b = testing::make_range_vector(a->layout(), b0);
    auto x = a->make_domain_vector();
    const solve_result one = cg(*a, b, x, {}, m);
    CHECK(one.converged());
    const auto x1 = testing::values_of(x);

    assembly.gather(pointers(other.values));
    a->update_on_devices(assembly.values());
    m.update(assembly.matrix());
    x.zero();
    const solve_result two = cg(*a, b, x, {}, m);
    CHECK(two.converged());
    CHECK(two.iterations == one.iterations);
    const auto x2 = testing::values_of(x);
    for (std::size_t i = 0; i < x1.size(); ++i)
        CHECK(2 * x2[i] == doctest::Approx(x1[i]).epsilon(1e-6));

    x.zero();
    CHECK(solve(*a, assembly.matrix(), b, x).converged());
}

KRYLITH_GROUP_TEST("distributed assembly: arrays in memory of the host") {
    const auto matrix = testing::random_matrix(90, 5, 2, 6);
    const testing::element_arrays there(group, matrix);
    std::vector<std::vector<std::int32_t>> rows;
    std::vector<std::vector<std::int32_t>> columns;
    std::vector<std::vector<double>> values;
    std::vector<coo_part<double>> parts = there.parts;
    std::vector<const double*> pointers;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        rows.push_back(there.rows[rank].download());
        columns.push_back(there.columns[rank].download());
        values.push_back(there.values[rank].download());
        parts[rank].row_indices = rows[rank].data();
        if (rank % 2 == 0) parts[rank].column_indices = columns[rank].data();
        parts[rank].values = values[rank].data();
        pointers.push_back(values[rank].data());
    }
    distributed_assembly<double> assembly(group, parts, equal_rows(90, group.size()));
    check_same(assembly.matrix().download(), expected(there, 90, 90));
    for (auto& of_rank : values)
        for (double& value : of_rank) value *= 2;
    assembly.gather(pointers);
    auto twice = expected(there, 90, 90);
    for (double& value : twice.values) value *= 2;
    check_same(assembly.matrix().download(), twice);
    if (!rows[0].empty()) {
        rows[0][0] = 1000;
        columns[0][0] = 0;
        CHECK_THROWS_WITH_AS(
            distributed_assembly<double>(group, parts, equal_rows(90, group.size())),
            doctest::Contains("part 0: row_indices[0] is 1000"), input_error);
    }
}

KRYLITH_GROUP_TEST("distributed assembly: what is refused, by name") {
    const auto matrix = testing::random_matrix(60, 4, 2, 5);
    const testing::element_arrays arrays(group, matrix);
    const row_partition columns = equal_rows(60, group.size());
    const auto refused = [&](auto change, const char* what, auto error) {
        auto parts = arrays.parts;
        change(parts);
        CHECK_THROWS_WITH_AS(distributed_assembly<double>(group, parts, columns),
                             doctest::Contains(what), decltype(error));
    };
    refused([](auto& parts) { parts.push_back({}); }, "parts for", usage_error(""));
    refused([](auto& parts) { parts[0].rows = -1; }, "part 0: -1 rows", usage_error(""));
    refused([](auto& parts) { parts[0].entries = -1; }, "-1 entries", usage_error(""));
    refused([](auto& parts) { parts[0].entries = std::int64_t{1} << 31; },
            "part 0: 2147483648 entries", input_error(""));
    refused([](auto& parts) { parts[0].values = nullptr; }, "values is null", usage_error(""));
    const auto count = at(arrays.parts[0].entries);
    const std::vector<std::int32_t> far(count, 60);
    const buffer<std::int32_t> outside(group.handle(0), std::span<const std::int32_t>(far), "test");
    refused([&](auto& parts) { parts[0].row_indices = outside.data(); }, "part 0: row_indices[",
            input_error(""));
    refused([&](auto& parts) { parts[0].column_indices = outside.data(); },
            "is 60, allowed are 0 to 59", input_error(""));
    CHECK_THROWS_WITH_AS(
        distributed_assembly<double>(group, arrays.parts, equal_rows(60, group.size() + 1)),
        doctest::Contains("ranks for"), usage_error);

    distributed_assembly<double> assembly(group, arrays.parts, columns);
    CHECK_THROWS_WITH_AS(assembly.gather({}), doctest::Contains("0 arrays"), usage_error);
    auto values = pointers(arrays.values);
    values[0] = nullptr;
    CHECK_THROWS_WITH_AS(assembly.gather(values), doctest::Contains("coo_values[0] is null"),
                         usage_error);
    check_same(assembly.matrix().download(), expected(arrays, 60, 60));
}

} // namespace krylith

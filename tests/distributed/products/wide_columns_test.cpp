// Matrices with more columns than 32 bits number: each rank has few of them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/gallery/poisson.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

/// Columns of which each rank owns so many.
row_partition equal_shares(int ranks, std::int64_t each) {
    row_partition columns;
    for (int k = 0; k < ranks; ++k) columns.begin.push_back(columns.begin.back() + each);
    return columns;
}

/// A row, in memory of the host or of a device.
struct one_row {
    std::vector<std::int64_t> offsets;
    std::vector<std::int64_t> columns;
    std::vector<double> values;
    buffer<std::int64_t> resident{};

    explicit one_row(std::vector<std::int64_t> of)
        : offsets{0, static_cast<std::int64_t>(of.size())},
          columns(std::move(of)),
          values(columns.size(), 1) {}
    [[nodiscard]] csr_part<double> on_host() const {
        return {1, offsets.data(), columns.data(), values.data()};
    }
    [[nodiscard]] csr_part<double> on(const std::shared_ptr<device>& device) {
        resident = {device, std::span<const std::int64_t>(columns), "test"};
        csr_part<double> part = on_host();
        part.column_indices = resident.data();
        return part;
    }
};

struct solved {
    std::vector<double> x;
    std::int64_t iterations = 0;

    friend bool operator==(const solved&, const solved&) = default;
};

/// The rows of a matrix of the host, with columns of 64 bits.
struct wide_rows {
    csr_matrix<double> a;
    std::vector<std::int64_t> columns;
    row_partition rows;

    wide_rows(csr_matrix<double> of, int ranks)
        : a(std::move(of)),
          columns(a.column_indices.begin(), a.column_indices.end()),
          rows(equal_rows(a.rows, ranks)) {}
    [[nodiscard]] std::vector<csr_part<double>> parts() const {
        std::vector<csr_part<double>> all;
        for (int k = 0; k < rows.ranks(); ++k) {
            const row_range mine = rows.owned(k);
            const std::int64_t* const begin = a.row_offsets.data() + mine.begin;
            all.push_back({mine.size(), begin, columns.data() + *begin, a.values.data() + *begin});
        }
        return all;
    }
};

solved solve(const device_group& group, const wide_rows& given, const std::string& by) {
    const distributed_csr<double> matrix(group, given.parts(), given.rows);
    const auto a = make_operator(matrix);
    const auto m = make_preconditioner<double>(by, *a, matrix);
    auto b = a->make_range_vector();
    auto x = a->make_domain_vector();
    b.upload(std::vector<double>(static_cast<std::size_t>(a->size()), 1));
    solved result;
    result.iterations = bicgstab(*a, b, x, {}, m).iterations;
    result.x.resize(static_cast<std::size_t>(a->size()));
    x.download(result.x);
    return result;
}

} // namespace

KRYLITH_GROUP_TEST("wide columns: each rank numbers those that its rows refer to") {
    constexpr std::int64_t each = (std::int64_t{1} << 31) - 100;
    const int ranks = group.size();
    const row_partition columns = equal_shares(ranks, each);
    const std::int64_t all = columns.rows();
    std::vector<one_row> rows;
    for (int k = 0; k < ranks; ++k) {
        const std::int64_t first = columns.owned(k).begin;
        std::vector<std::int64_t> of{first + 5, first, first + each - 1};
        if (k > 0) of.insert(of.end(), {first - 1, 3, first - 1}); // one of them twice
        if (k + 1 < ranks) of.insert(of.begin(), {all - 1, first + each});
        rows.emplace_back(of);
    }
    for (const bool on_devices : {false, true}) {
        CAPTURE(on_devices);
        std::vector<csr_part<double>> parts;
        for (int k = 0; k < ranks; ++k)
            parts.push_back(on_devices ? rows[static_cast<std::size_t>(k)].on(group.handle(k))
                                       : rows[static_cast<std::size_t>(k)].on_host());
        const distributed_csr<double> matrix(group, parts, columns);
        CHECK(matrix.columns() == all);
        for (int k = 0; k < ranks; ++k) {
            const std::vector<std::int64_t>& given = rows[static_cast<std::size_t>(k)].columns;
            const local_columns& mine = matrix.columns_of(k);
            const csr_matrix<double> block = matrix.block(k).download();
            REQUIRE(block.column_indices.size() == given.size());
            column_numbers numbers = mine.numbers();
            numbers.ghosts = mine.ghosts().data(); // the list on the host
            std::int64_t outer = 0;
            for (std::size_t j = 0; j < given.size(); ++j) {
                CHECK(block.column_indices[j] == mine.local(given[j]));
                CHECK(numbers.global(block.column_indices[j]) == given[j]);
                CHECK(numbers.local(given[j]) == block.column_indices[j]);
            }
            for (const std::int64_t ghost : mine.ghosts()) outer += ghost;
            std::int64_t expected = 0;
            if (k > 0) expected += columns.owned(k).begin - 1 + 3;
            if (k + 1 < ranks) expected += columns.owned(k).end + all - 1;
            CHECK(outer == expected);
            const bool listed = mine.resident_ghosts() != nullptr;
            CHECK(listed == (ranks > 1));
            if (listed) CHECK(mine.resident_ghosts()->download() == mine.ghosts());
        }
        if (all <= index_size_limit()) continue;
        CHECK_THROWS_WITH_AS((void)matrix.global_columns(0), doctest::Contains("allowed are 0 to"),
                             input_error);
    }
    for (const std::int64_t wrong : {std::int64_t{-1}, all}) {
        one_row bad({0, wrong});
        std::vector<csr_part<double>> parts;
        for (int k = 0; k + 1 < ranks; ++k)
            parts.push_back(rows[static_cast<std::size_t>(k)].on_host());
        parts.push_back({});
        const std::string message = "row " + std::to_string(ranks - 1) + " has column " +
                                    std::to_string(wrong) + ": allowed are 0 to " +
                                    std::to_string(all - 1);
        for (const csr_part<double>& last : {bad.on(group.handle(ranks - 1)), bad.on_host()}) {
            parts.back() = last;
            CHECK_THROWS_WITH_AS(distributed_csr<double>(group, parts, columns),
                                 doctest::Contains(message.c_str()), input_error);
        }
    }
}

KRYLITH_GROUP_TEST("wide columns: a rank's own are numbered by 32 bits") {
    const row_partition columns =
        equal_shares(group.size(), (std::int64_t{1} << 32) + 1); // more than a rank can have
    const std::vector<csr_part<double>> parts(static_cast<std::size_t>(group.size()));
    CHECK_THROWS_WITH_AS(distributed_csr<double>(group, parts, columns),
                         doctest::Contains("allowed are 0 to 2147483647"), input_error);
}

KRYLITH_GROUP_TEST("wide columns: solves have the bits of others, or name what can't") {
    if (group.size() == 1) return; // it would own more than is allowed
    const wide_rows given(poisson2d<double>(24, 24), group.size());
    std::vector<std::string> names;
    for (const preconditioner_method* row : all_preconditioners) names.emplace_back(row->name);
    for (const std::string& name : names) {
        CAPTURE(name);
        const solved expected = solve(group, given, name);
        const mocked_index_limit fewer_than_columns(500);
        if (name == "jacobi" || name == "block-jacobi" || name == "chebyshev")
            CHECK(solve(group, given, name) == expected);
        else
            CHECK_THROWS_WITH_AS((void)solve(group, given, name),
                                 doctest::Contains("is 576, allowed are 0 to 500"), input_error);
    }
    const mocked_index_limit fewer_than_columns(500);
    const distributed_csr<double> matrix(group, given.parts(), given.rows);
    CHECK_THROWS_WITH_AS((void)make_operator(matrix, {.kind = operators::lra_rc}),
                         doctest::Contains("the number of columns is 576"), input_error);
    CHECK_THROWS_WITH_AS((void)matrix.download(), doctest::Contains("is 576"), input_error);
}

} // namespace krylith

// Own rows of two blocks, and of one with ghosts, as rows of the whole matrix.
#include <krylith/adapters/split_csr.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/tests/comm/drivers.hpp>
#include <krylith/tests/support/matrices.hpp>

using namespace krylith;

namespace {

template <class Offset, class Column>
struct block {
    std::vector<Offset> offsets{0};
    std::vector<Column> columns;
    std::vector<double> values;

    [[nodiscard]] csr_block<double, Offset, Column> arrays() const {
        return {offsets.data(), columns.data(), values.data()};
    }
};

/// The rows of a rank as PETSc has them, or hypre: the diagonal entry first.
struct split_rows {
    block<std::int32_t, std::int32_t> diag;
    block<std::int64_t, std::int32_t> offd;
    block<std::int64_t, std::int32_t> local; ///< as DOLFINx has them
    std::vector<std::int64_t> map;
    row_range own;
};

split_rows split(const csr_matrix<double>& a, row_range own, bool diagonal_first) {
    split_rows s;
    s.own = own;
    std::map<std::int64_t, std::int32_t> numbers;
    for (auto k = a.row_offsets[std::size_t(own.begin)]; k < a.row_offsets[std::size_t(own.end)];
         ++k)
        if (!own.contains(a.column_indices[std::size_t(k)]))
            numbers[a.column_indices[std::size_t(k)]] = 0;
    for (auto& [column, number] : numbers) {
        number = static_cast<std::int32_t>(s.map.size());
        s.map.push_back(column);
    }
    for (std::int64_t row = own.begin; row < own.end; ++row) {
        for (auto k = std::size_t(a.row_offsets[std::size_t(row)]);
             k < std::size_t(a.row_offsets[std::size_t(row + 1)]); ++k) {
            const std::int32_t column = a.column_indices[k];
            const auto mine = static_cast<std::int32_t>(column - own.begin);
            if (own.contains(column)) {
                s.diag.columns.push_back(mine);
                s.diag.values.push_back(a.values[k]);
                const auto first = std::size_t(s.diag.offsets.back());
                if (diagonal_first && column == row) {
                    std::rotate(s.diag.columns.begin() + long(first), s.diag.columns.end() - 1,
                                s.diag.columns.end());
                    std::rotate(s.diag.values.begin() + long(first), s.diag.values.end() - 1,
                                s.diag.values.end());
                }
            } else {
                s.offd.columns.push_back(numbers[column]);
                s.offd.values.push_back(a.values[k]);
            }
            s.local.columns.push_back(own.contains(column) ? mine
                                                           : static_cast<std::int32_t>(own.size()) +
                                                                 numbers[column]);
            s.local.values.push_back(a.values[k]);
        }
        s.diag.offsets.push_back(static_cast<std::int32_t>(s.diag.values.size()));
        s.offd.offsets.push_back(static_cast<std::int64_t>(s.offd.values.size()));
        s.local.offsets.push_back(static_cast<std::int64_t>(s.local.values.size()));
    }
    return s;
}

std::vector<double> scaled(std::vector<double> values, double factor) {
    for (double& value : values) value *= factor;
    return values;
}

/// Makes the matrix of split rows, and gives it other values.
void check_rows(const communicator& comm, const csr_matrix<double>& a, bool one_block,
                bool diagonal_first) {
    const row_partition rows = partition_rows(csr_view<double>(a), comm.ranks());
    const auto given =
        by_rank(comm, [&](int rank) { return split(a, rows.owned(rank), diagonal_first); });
    std::vector<csr_part<double>> parts(given.size());
    std::vector<std::optional<split_csr<double>>> mine(given.size());
    for (const int rank : comm.local()) {
        const auto k = std::size_t(rank);
        const split_rows& s = given[k];
        const std::span<const std::int64_t> map(s.map);
        if (one_block)
            mine[k].emplace(s.own.size(), s.own, s.local.arrays(), map);
        else
            mine[k].emplace(s.own.size(), s.own, s.diag.arrays(), s.offd.arrays(), map);
        parts[k] = mine[k]->part();
    }
    distributed_csr<double> matrix(comm, parts, rows);
    if (!(matrix.download() == a)) throw std::runtime_error("another matrix");
    std::vector<double> values;
    for (const int rank : comm.local()) {
        const split_rows& s = given[std::size_t(rank)];
        split_csr<double>& own = *mine[std::size_t(rank)];
        if (one_block)
            own.update(scaled(s.local.values, 3));
        else
            own.update(scaled(s.diag.values, 3), scaled(s.offd.values, 3));
        values.insert(values.end(), own.values().begin(), own.values().end());
    }
    auto larger = a;
    larger.values = scaled(a.values, 3);
    if (!(distributed_csr<double>(comm, parts, rows).download() == larger))
        throw std::runtime_error("other values");
    matrix.update_local(values);
    if (!(matrix.download() == larger)) throw std::runtime_error("other values by update_local");
    values.push_back(0);
    matrix.update_local(values);
}

} // namespace

KRYLITH_DRIVERS_TEST("split csr: the rows of the whole matrix, and new values") {
    for (const char* name : {"poisson2d:9:random=1", "convection_diffusion:7:3", "poisson1d:2"})
        for (const bool one_block : {false, true})
            for (const bool diagonal_first : {false, true}) {
                const auto a = make_gallery<double>(name);
                const auto dealt = testing::dealt_group::of(kind, {2, 1});
                for (const auto& one :
                     testing::with_drivers(dealt.parts, [&](const communicator& comm) {
                         check_rows(comm, a, one_block, diagonal_first);
                     })) {
                    REQUIRE(one);
                    CHECK_THROWS_WITH_AS(std::rethrow_exception(one),
                                         doctest::Contains("nonzeros in the rows of this driver"),
                                         usage_error);
                }
            }
}

TEST_CASE("split csr: what is refused") {
    const std::vector<std::int32_t> offsets{0, 1, 2}, none{0, 0, 0}, columns{0, 2};
    const std::vector<double> values{1, 2};
    const std::vector<std::int64_t> map{7};
    const csr_block diag{offsets.data(), columns.data(), values.data()};
    const csr_block<double, std::int32_t, std::int32_t> empty{none.data()};
    const std::span<const std::int64_t> mapped(map);
    CHECK_THROWS_WITH_AS(split_csr<double>(2, {0, 2}, diag, empty, mapped),
                         "split_csr: diag: row 1 has column 2, allowed are 0 and more, below 2",
                         input_error);
    CHECK_THROWS_WITH_AS(split_csr<double>(2, {0, 3}, diag, diag, mapped),
                         "split_csr: offd: row 1 has column 2, allowed are 0 and more, below 1",
                         input_error);
    CHECK_NOTHROW(split_csr<double>(2, {0, 3}, diag, empty, mapped));
    CHECK_THROWS_WITH_AS(split_csr<double>(2, {0, 1}, diag, mapped),
                         "split_csr: local: row 1 has column 2, allowed are 0 and more, below 2",
                         input_error);
    const std::vector<std::int32_t> descending{0, 2, 1};
    CHECK_THROWS_WITH_AS(
        split_csr<double>(2, {0, 3}, csr_block{descending.data(), columns.data(), values.data()},
                          mapped),
        doctest::Contains("row 1 starts at 2 and ends at 1"), input_error);
    const csr_block<double, std::int32_t, std::int32_t> null{};
    CHECK_THROWS_WITH_AS(split_csr<double>(2, {0, 3}, null, mapped),
                         doctest::Contains("row_offsets is null"), usage_error);
    CHECK_NOTHROW(split_csr<double>(0, {0, 0}, null, null, mapped));
    const csr_block<double, std::int32_t, std::int32_t> half{offsets.data()};
    CHECK_THROWS_WITH_AS(split_csr<double>(2, {0, 3}, half, mapped),
                         doctest::Contains("values is null"), usage_error);
    split_csr<double> good(2, {0, 3}, diag, mapped);
    CHECK_THROWS_WITH_AS(good.update(std::span<const double>(values).first(1)),
                         "split_csr: 1 values for 2 entries", usage_error);
}

// The order in which host threads solve rows, and how a team divides it.
#include <cstdint>
#include <iterator>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/sparse/sptrsv/level_stages.hpp>
#include <krylith/sparse/sptrsv/row_chains.hpp>
#include <krylith/sparse/sptrsv/triangle_solve_host.hpp>

#include <krylith/tests/sparse/sptrsv/triangular_cases.hpp>
#include <krylith/tests/spmspv/one_device.hpp>

namespace krylith {

TEST_CASE("chains of rows: what a chain depends on is itself or of a lower level") {
    for (const testing::triangular_case& c : testing::triangular_cases())
        for (const bool upper : {false, true})
            for (const std::int64_t longest : {1, 3, 64}) {
                CAPTURE(c.name);
                const csr_matrix<double>& m = c.matrix;
                const triangle_source<double> a{m.rows, m.row_offsets.data(),
                                                m.column_indices.data(), m.values.data(), upper};
                const rows_by_chain sorted = sort_chains(a, longest);
                REQUIRE(static_cast<std::int64_t>(sorted.order.size()) == m.rows);
                REQUIRE(sorted.chains.back() == m.rows);
                struct place {
                    std::int64_t level = -1;
                    std::int64_t chain = -1;
                    std::int64_t number = -1;
                };
                std::vector<place> places(static_cast<std::size_t>(m.rows));
                for (std::int64_t l = 0; l + 1 < std::ssize(sorted.levels); ++l)
                    for (auto chain = sorted.levels[static_cast<std::size_t>(l)];
                         chain < sorted.levels[static_cast<std::size_t>(l) + 1]; ++chain)
                        for (auto p = sorted.chains[static_cast<std::size_t>(chain)];
                             p < sorted.chains[static_cast<std::size_t>(chain) + 1]; ++p) {
                            auto& own = places[static_cast<std::size_t>(
                                sorted.order[static_cast<std::size_t>(p)])];
                            CHECK(own.number == -1); // a row has one place
                            own = {l, chain, p};
                        }
                bool right = true;
                for (std::int64_t i = 0; i < m.rows; ++i)
                    for (auto k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
                        if (!a.depends(i, a.indices[k])) continue;
                        const place& own = places[static_cast<std::size_t>(i)];
                        const place& other = places[static_cast<std::size_t>(a.indices[k])];
                        right = right && (other.chain == own.chain ? other.number < own.number
                                                                   : other.level < own.level);
                    }
                CHECK(right);
            }
}

TEST_CASE("chains of rows: lines of a grid, and its levels") {
    const csr_matrix<double> m = make_gallery<double>("poisson3d:8:7:5");
    const triangle_source<double> a{m.rows, m.row_offsets.data(), m.column_indices.data(),
                                    m.values.data(), false};
    const rows_by_chain lines = sort_chains(a);
    CHECK(lines.depth == 8 + 7 + 5 - 2);
    CHECK(std::ssize(lines.chains) - 1 == 7 * 5);
    CHECK(std::ssize(lines.levels) - 1 == 7 + 5 - 1);
    const rows_by_chain pieces = sort_chains(a, 4);
    CHECK(std::ssize(pieces.chains) - 1 == 2 * 7 * 5);
    CHECK(std::ssize(pieces.levels) - 1 == 7 + 5);
}

TEST_CASE("stages of levels: wide levels are divided between chains, thin ones run together") {
    rows_by_chain rows;
    rows.chains = {0, 1, 3, 4, 7, 8, 9};
    rows.levels = {0, 1, 2, 4, 5, 6}; // of 1, 2, 4, 1 and 1 rows
    const level_stages stages = plan_stages(rows, 2, 3);
    CHECK(stages.shared == 4);
    CHECK(stages.borders == std::vector<std::int64_t>{0, 3, 3, 7, 7, 9, 9});
    CHECK(plan_stages(rows, 2, 100).borders == std::vector<std::int64_t>{0, 9, 9});
    rows.chains = {0, 6, 7, 8, 9};
    rows.levels = {0, 4};
    CHECK(plan_stages(rows, 3, 1).borders == std::vector<std::int64_t>{0, 6, 6, 9});
}

TEST_CASE("triangular solver: threads share levels of any width") {
    for (const int threads : {1, 2, 3, 5})
        for (const std::int64_t wide : {1, 3, 40})
            for (const testing::triangular_case& c : testing::triangular_cases()) {
                if (c.matrix.rows > 5000) continue;
                CAPTURE(threads);
                CAPTURE(wide);
                CAPTURE(c.name);
                const auto device = device_group::host(1, {.host_threads = threads}).handle(0);
                const device_csr<double> a(device, c.matrix);
                const auto b = testing::right_hand_side(c.matrix.rows, 4);
                const auto solver =
                    host::make_triangle_solve(a, {.method = triangular_method::levels}, wide);
                CHECK(solver->update() == -1);
                const buffer<double> x(device, std::span<const double>(b), "x");
                if (c.matrix.rows != 0) solver->solve({x.data(), x.data(), 0, 0}, 1);
                const auto plain =
                    host::make_triangle_solve(a, {.method = triangular_method::rows}, wide);
                CHECK(plain->update() == -1);
                const buffer<double> y(device, std::span<const double>(b), "y");
                if (c.matrix.rows != 0) plain->solve({y.data(), y.data(), 0, 0}, 1);
                CHECK(x.download() == y.download()); // the same bits
            }
}

} // namespace krylith

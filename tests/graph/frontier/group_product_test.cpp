// Products of rows partitioned over a group, and how x gets to all devices, against plain loops.
#include <krylith/graph/frontier/group_product.hpp>

#include <algorithm>
#include <map>
#include <vector>

#include <krylith/device/error.hpp>

#include <krylith/tests/support/graphs.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/kernel_choices.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::spmspv {

namespace {

using testing::converted;

/// A matrix with rows of any length, one of all columns, some empty. Values are multiples of 1/8,
/// so that sums are exact.
csr_matrix<double> uneven(std::int64_t n, std::uint64_t seed) {
    testing::random_numbers random(seed);
    std::vector<testing::weighted_edge> edges;
    for (std::int32_t i = 0; i < n; ++i) {
        const std::int64_t length = i == n / 2 ? n : random.below(8) * random.below(2);
        std::map<std::int32_t, double> row;
        while (static_cast<std::int64_t>(row.size()) < std::min(length, n))
            row[random.below(static_cast<int>(n))] = (1 + random.below(16)) / 8.0;
        for (const auto& [column, value] : row) edges.push_back({i, column, value});
    }
    return testing::from_edges(n, edges);
}

template <class T>
using pairs = std::map<std::int32_t, T>;

/// Returns A x over S, by a plain loop.
template <class S>
pairs<typename S::value_type> product(const csr_matrix<double>& a,
                                      const pairs<typename S::value_type>& x) {
    using T = typename S::value_type;
    pairs<T> y;
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (auto k = a.row_offsets[static_cast<std::size_t>(row)];
             k < a.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
            const auto column = a.column_indices[static_cast<std::size_t>(k)];
            const auto entry = x.find(column);
            if (entry == x.end()) continue;
            const T term = S::term(static_cast<T>(a.values[static_cast<std::size_t>(k)]),
                                   entry->second, column);
            const auto at = y.try_emplace(static_cast<std::int32_t>(row), S::absent()).first;
            at->second = S::add(at->second, term);
        }
    return y;
}

template <class T>
pairs<T> as_map(const typename sparse_vector<T>::host_pairs& list, std::int64_t shift = 0) {
    pairs<T> map;
    for (std::size_t k = 0; k < list.indices.size(); ++k)
        map[list.indices[k] + static_cast<std::int32_t>(shift)] = list.values[k];
    return map;
}

/// Returns the y of all devices.
template <class S, class M>
pairs<typename S::value_type> y_of(group_product<S, M>& a) {
    pairs<typename S::value_type> y;
    for (std::size_t m = 0; m < a.local().size(); ++m)
        y.merge(as_map<typename S::value_type>(a.y(m).download_pairs(), a.local()[m].rows.begin));
    return y;
}

/// Checks that every device's x has these entries, and that the host knows their number and their
/// columns' nonzeros.
template <class S, class M>
void check_x(group_product<S, M>& a, const csr_matrix<double>& matrix,
             const pairs<typename S::value_type>& expected) {
    CHECK(a.entries() == static_cast<std::int64_t>(expected.size()));
    std::int64_t frontier_nonzeros = 0;
    for (const auto column : matrix.column_indices)
        frontier_nonzeros += expected.count(column) != 0 ? 1 : 0;
    CHECK(a.frontier_nonzeros() == frontier_nonzeros);
    for (std::size_t m = 0; m < a.local().size(); ++m) {
        CHECK(a.x(m).known_count() == a.entries());
        CHECK(as_map<typename S::value_type>(a.x(m).download_pairs()) == expected);
    }
}

template <class S, class M>
void assign(group_product<S, M>& a, const pairs<typename S::value_type>& x) {
    std::vector<std::int32_t> indices;
    std::vector<typename S::value_type> values;
    for (const auto& [index, value] : x) {
        indices.push_back(index);
        values.push_back(value);
    }
    a.assign(indices, values);
}

const std::vector<std::int64_t>& matrix_sizes() {
    static const std::vector<std::int64_t> all = {1, 31, 32, 33, 65, 400};
    return all;
}

} // namespace

KRYLITH_GROUP_TEST("group_matrix: whole words of rows, all of them, and lengths of columns") {
    for (const std::int64_t n : matrix_sizes()) {
        CAPTURE(n);
        const auto matrix = uneven(n, 61);
        const group_matrix<double> a(group, csr_view<double>(matrix));
        CHECK(a.size() == n);
        CHECK(a.nonzeros() == matrix.nnz());
        CHECK(a.local().size() <= static_cast<std::size_t>(group.size()));
        std::int64_t next = 0;
        for (const auto& m : a.local()) {
            CHECK(m.rows.begin == next);
            CHECK(m.rows.begin % 32 == 0);
            CHECK(m.rows.size() > 0);
            CHECK(m.part->rows() == m.rows.size());
            CHECK(m.part->columns() == n);
            CHECK(m.lengths.parts == static_cast<std::int32_t>(a.local().size()));
            next = m.rows.end;
            for (std::size_t p = 0; p < a.local().size(); ++p) {
                std::vector<std::int32_t> offsets(static_cast<std::size_t>(m.rows.size()) + 1);
                group[m.rank].download(offsets.data(), m.lengths.offsets[p],
                                       offsets.size() * sizeof(std::int32_t));
                const row_range rows = a.local()[p].rows;
                for (std::int64_t column = m.rows.begin; column < m.rows.end; ++column) {
                    const auto from = matrix.row_offsets[static_cast<std::size_t>(rows.begin)];
                    const auto to = matrix.row_offsets[static_cast<std::size_t>(rows.end)];
                    const auto at = static_cast<std::size_t>(column - m.rows.begin);
                    CHECK(offsets[at + 1] - offsets[at] ==
                          std::count(matrix.column_indices.begin() + from,
                                     matrix.column_indices.begin() + to, column));
                }
            }
        }
        CHECK(next == n);
    }
}

KRYLITH_GROUP_TEST("group_product: three steps of shortest paths by every kernel") {
    for (const std::int64_t n : matrix_sizes()) {
        CAPTURE(n);
        const auto matrix = uneven(n, 62);
        const auto a =
            std::make_shared<const group_matrix<double>>(group, csr_view<double>(matrix));
        for (const auto& choice : testing::kernel_choices()) {
            CAPTURE(choice.name);
            group_product<min_plus<double>, double> p(a, choice.options);
            pairs<double> x;
            for (std::int32_t i = 0; i < n; i += 7) x[i] = i / 8.0;
            assign(p, x);
            std::vector<double> known(static_cast<std::size_t>(n), min_plus<double>::absent());
            std::vector<buffer<double>> state;
            for (const auto& m : p.local()) {
                state.emplace_back(group.handle(m.rank), static_cast<std::size_t>(m.rows.size()),
                                   "test");
                fill(group[m.rank], state.back().data(), m.rows.size(), min_plus<double>::absent());
            }
            for (int step = 0; step < 3; ++step) {
                CAPTURE(step);
                check_x(p, matrix, x);
                const auto record = p.multiply();
                CHECK(record.entries == static_cast<std::int64_t>(x.size()));
                CHECK(record.products.size() == p.local().size());
                const auto y = product<min_plus<double>>(matrix, x);
                x.clear();
                for (const auto& [row, value] : y) {
                    double& least = known[static_cast<std::size_t>(row)];
                    if (!(value < least)) continue;
                    least = value;
                    x[row] = value;
                }
                p.advance([&](std::size_t m) { return shorten<double>{state[m].data()}; });
                CHECK(y_of(p) == y);
            }
            check_x(p, matrix, x);
        }
    }
}

namespace {

/// Checks how x is sent that rows make of their residuals, whole or half.
template <class S>
void check_sending(const device_group& group) {
    const std::int64_t n = 400;
    const auto matrix = uneven(n, 63);
    const auto narrow = converted<float>(matrix);
    const auto a = std::make_shared<const group_matrix<float>>(group, csr_view<float>(narrow));
    group_product<S, float> p(a);
    const bool several = p.local().size() > 1;
    for (const int every : {1, 2, 50, 1000, 3}) {
        CAPTURE(every);
        std::vector<buffer<float>> ranks;
        std::vector<buffer<float>> residuals;
        std::vector<buffer<float>> passed;
        std::vector<buffer<float>> inverse_degrees;
        pairs<float> x;
        for (const auto& m : p.local()) {
            std::vector<float> here(static_cast<std::size_t>(m.rows.size()), 0);
            // The values of rows that pass nothing on are not read.
            std::vector<float> inverse_degree(here.size(), 0);
            for (std::int64_t row = m.rows.begin; row < m.rows.end; ++row) {
                if (row % every != 0) continue;
                const auto at = static_cast<std::size_t>(row - m.rows.begin);
                here[at] = static_cast<float>(1 + row % 9);
                inverse_degree[at] = static_cast<float>(1 + row % 2) / 2;
                x[static_cast<std::int32_t>(row)] = here[at] * inverse_degree[at];
            }
            const auto& device = group.handle(m.rank);
            residuals.emplace_back(device, std::span<const float>(here), "test");
            ranks.emplace_back(device, std::span<const float>(here), "test");
            passed.emplace_back(device, here.size(), "test");
            inverse_degrees.emplace_back(device, std::span<const float>(inverse_degree), "test");
        }
        p.advance_all([&](std::size_t m) {
            return pass_on<float>{ranks[m].data(),
                                  residuals[m].data(),
                                  passed[m].data(),
                                  inverse_degrees[m].data(),
                                  1.0F,
                                  0.0F};
        });
        check_x(p, matrix, x);
        const auto record = p.multiply();
        CHECK(record.sent == (!several     ? exchange_form::none
                              : every == 1 ? exchange_form::dense
                                           : exchange_form::pairs));
        const auto y = product<S>(matrix, x);
        pairs<float> found = y_of(p);
        std::erase_if(found, [](const auto& entry) { return entry.second == 0; });
        CHECK(found == y);
    }
}

} // namespace

KRYLITH_GROUP_TEST("group_product: few entries are sent as pairs, many as blocks") {
    check_sending<plus_times<float>>(group);
    check_sending<plus_second<float>>(group);
}

KRYLITH_GROUP_TEST("group_product: columns by which rows are reached, rows left out") {
    const std::int64_t n = 400;
    const auto matrix = uneven(n, 64);
    const auto a = std::make_shared<const group_matrix<double>>(group, csr_view<double>(matrix));
    for (const auto& choice : testing::kernel_choices()) {
        CAPTURE(choice.name);
        group_product<min_column, double> p(a, choice.options);
        for (const int every : {1, 3, 90}) {
            CAPTURE(every);
            std::vector<buffer<std::uint32_t>> visited;
            std::vector<const std::uint32_t*> skip;
            std::vector<buffer<std::int32_t>> levels;
            std::vector<buffer<std::int32_t>> parents;
            for (const auto& m : p.local()) {
                const auto& device = group.handle(m.rank);
                const auto rows = static_cast<std::size_t>(m.rows.size());
                const std::vector<std::uint32_t> bits((rows + 31) / 32, 0x11111111U);
                visited.emplace_back(device, std::span<const std::uint32_t>(bits), "test");
                skip.push_back(visited.back().data());
                levels.emplace_back(device, rows, "test");
                parents.emplace_back(device, rows, "test");
            }
            pairs<std::int32_t> x;
            for (std::int32_t i = 0; i < n; i += every) x[i] = 0;
            assign(p, x);
            for (int step = 0; step < 2; ++step) {
                auto y = product<min_column>(matrix, x);
                if (step == 0)
                    std::erase_if(y, [](const auto& entry) { return entry.first % 4 == 0; });
                (void)p.multiply(step == 0 ? skip : std::vector<const std::uint32_t*>());
                CHECK(y_of(p) == y);
                if (step != 0) break;
                p.advance([&](std::size_t m) {
                    return visit{levels[m].data(), parents[m].data(), visited[m].data(), 1};
                });
                x.clear();
                for (const auto& entry : y) x[entry.first] = 0;
                check_x(p, matrix, x);
            }
        }
    }
}

TEST_CASE("group_matrix: refuses matrices that are not square") {
    auto matrix = uneven(33, 65);
    matrix.columns = 34;
    CHECK_THROWS_WITH_AS(
        group_matrix<double>(device_group::host(2), csr_view<double>(matrix)),
        "a matrix partitioned over a group for sparse products must be square, not 33 x 34",
        input_error);
}

KRYLITH_GROUP_TEST("group_product: x that other work has left is taken on one member alone") {
    const auto matrix = uneven(400, 66);
    group_product<min_plus<double>, double> a(
        std::make_shared<const group_matrix<double>>(group, csr_view<double>(matrix)));
    const pairs<double> x = {{3, 1.0}, {200, 2.0}, {399, 0.5}};
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    for (const auto& [index, value] : x) {
        indices.push_back(index);
        values.push_back(value);
    }
    if (a.local().size() != 1) {
        CHECK_THROWS_AS(a.x_became(1), usage_error);
        return;
    }
    a.x(0).assign(indices, values);
    a.x_became(count_frontier_nonzeros(*a.local()[0].part, a.x(0)));
    check_x(a, matrix, x);
    (void)a.multiply();
    CHECK(y_of(a) == product<min_plus<double>>(matrix, x));
}

} // namespace krylith::spmspv

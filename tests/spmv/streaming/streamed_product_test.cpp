// Products straight from host memory: every form, number of parts and ranges.
#include <krylith/spmv/streamed_product.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/numa.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>
#include <krylith/spmv/streaming/streamed_plan.hpp>

#include <krylith/tests/partition/nonzero/range_matrices.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {
namespace {

using partition_tests::test_arrays;
using partition_tests::test_matrix;
using partition_tests::triplet;
using testing::random_numbers;

constexpr std::array orders{coo_order::by_rows, coo_order::by_columns, coo_order::unsorted};

/// Host memory that is pinned for CUDA devices; holds copies until clear().
class pinned_arrays {
public:
    explicit pinned_arrays(const device_group& group, std::size_t bytes = 1 << 20)
        : memory_(one_numa_node(group.size()), 0, bytes, group.handle(0)) {}

    template <class E>
    [[nodiscard]] std::span<E> copy(const std::vector<E>& from) {
        const std::size_t bytes = from.size() * sizeof(E);
        REQUIRE(used_ + bytes <= memory_.size());
        auto* const to = reinterpret_cast<E*>(memory_.data() + used_);
        if (bytes != 0) std::memcpy(to, from.data(), bytes);
        used_ += (bytes + 63) / 64 * 64;
        return {to, from.size()};
    }
    void clear() { used_ = 0; }

private:
    node_memory memory_;
    std::size_t used_ = 0;
};

template <class T>
struct call_of {
    T alpha;
    T beta;
    std::span<const T> x;
    std::span<const T> y; ///< before
};

/// y of each form of the matrix: csr, csc, and coo in three orders.
template <class T>
std::vector<std::vector<T>> all_forms(streamed_product<T>& product, const test_matrix& a,
                                      const call_of<T>& call, pinned_arrays& memory,
                                      random_numbers& random) {
    std::vector<std::vector<T>> results;
    const auto run = [&](const auto& multiply) {
        const auto y = memory.copy(std::vector<T>(call.y.begin(), call.y.end()));
        const streamed_times times = multiply(y);
        CHECK(times.total >= 0);
        CHECK(times.total ==
              doctest::Approx(times.partition + times.distribution + times.kernel + times.merge));
        results.emplace_back(y.begin(), y.end());
    };
    const auto values_of = [&](const test_arrays& arrays) {
        return memory.copy(std::vector<T>(arrays.values.begin(), arrays.values.end()));
    };
    const auto columns_first = partition_tests::by_columns(a.entries);
    const test_arrays rowwise(a.entries);
    const test_arrays columnwise(columns_first);
    const csr_view<T> csr{a.rows, a.columns,
                          memory.copy(test_arrays::offsets(rowwise.row_indices, a.rows)),
                          memory.copy(rowwise.column_indices), values_of(rowwise)};
    const csc_view<T> csc{a.rows, a.columns,
                          memory.copy(test_arrays::offsets(columnwise.column_indices, a.columns)),
                          memory.copy(columnwise.row_indices), values_of(columnwise)};
    run([&](std::span<T> y) { return product(csr, call.x, y, call.alpha, call.beta); });
    run([&](std::span<T> y) { return product(csc, call.x, y, call.alpha, call.beta); });
    for (const coo_order order : orders) {
        const test_arrays arrays(order == coo_order::by_rows ? a.entries
                                 : order == coo_order::by_columns
                                     ? columns_first
                                     : partition_tests::shuffled(a.entries, random));
        const coo_view<T> coo{a.rows, a.columns, memory.copy(arrays.row_indices),
                              memory.copy(arrays.column_indices), values_of(arrays)};
        run([&](std::span<T> y) { return product(coo, order, call.x, y, call.alpha, call.beta); });
    }
    return results;
}

/// The devices of each node do not stand together.
numa_topology two_nodes(int devices) {
    numa_topology topology{{{0, {0}}, {1, {1}}}, {}};
    for (int rank = 0; rank < devices; ++rank) topology.node_of_device.push_back(rank % 2);
    return topology;
}

/// Sums of small integers are exact in any order, so results must be equal.
template <class T>
void check_random(const device_group& group, int first, int count) {
    constexpr std::array factors{0.0, 1.0, -2.5};
    pinned_arrays memory(group);
    std::vector<streamed_product<T>> products;
    for (const int ranges : {0, 2, 4})
        products.emplace_back(
            group,
            streamed_options{.topology = ranges == 2 ? two_nodes(group.size()) : numa_topology{},
                             .ranges = ranges,
                             .staged = ranges == 4});
    for (int number = first; number < first + count; ++number) {
        const test_matrix a = partition_tests::random_matrix(number);
        CAPTURE(number);
        CAPTURE(a.shape);
        random_numbers random(static_cast<std::uint64_t>(number) + 77);
        const double alpha = factors[as_size(number % 3)];
        const double beta = factors[as_size(number / 3 % 3)];
        const auto integers = [&](std::int64_t n) {
            std::vector<double> v;
            for (std::int64_t i = 0; i < n; ++i)
                v.push_back(static_cast<double>(random.below(9) - 4));
            return v;
        };
        const std::vector<double> x = integers(a.columns);
        std::vector<double> y = integers(a.rows);
        const std::vector<double> expected = partition_tests::product(a, alpha, x, beta, y);
        if (beta == 0) y.assign(y.size(), std::numeric_limits<double>::quiet_NaN());
        const std::vector<T> x_as(x.begin(), x.end());
        const std::vector<T> y_as(y.begin(), y.end());
        const std::vector<T> wanted(expected.begin(), expected.end());
        for (std::size_t i = 0; i < products.size(); ++i) {
            if (i % 3 != as_size(number / 9 % 3)) continue;
            CAPTURE(i);
            memory.clear();
            const call_of<T> call{static_cast<T>(alpha), static_cast<T>(beta), memory.copy(x_as),
                                  y_as};
            const auto results = all_forms(products[i], a, call, memory, random);
            for (std::size_t form = 0; form < results.size(); ++form) {
                CAPTURE(form);
                CHECK(results[form] == wanted);
            }
        }
    }
}

KRYLITH_GROUP_TEST("one-shot products of random matrices, fp64") {
    check_random<double>(group, 340 * group.size(), 270);
}

KRYLITH_GROUP_TEST("one-shot products of random matrices, fp32") {
    check_random<float>(group, 5000 + 90 * group.size(), 90);
}

TEST_CASE("one-shot products of random matrices on 5, 6 and 8 parts") {
    for (const int parts : {5, 6, 8}) check_random<double>(device_group::host(parts), 9000, 90);
}

/// Entries of all rows but one are in the order of rows, and it has a third of all of them.
template <class T>
csr_matrix<T> skewed_matrix(std::int64_t rows, std::int64_t columns) {
    random_numbers random(5);
    csr_matrix<T> a{rows, columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t length = i == rows / 2 ? 2 * rows : i % 7 == 0 ? 0 : random.below(8);
        for (std::int64_t k = 0; k < length; ++k) {
            a.column_indices.push_back(random.below(static_cast<int>(columns)));
            a.values.push_back(static_cast<T>(random.real()));
        }
        a.row_offsets.push_back(a.nnz());
    }
    return a;
}

template <class T>
coo_matrix<T> entries_of(const csr_matrix<T>& a, coo_order order) {
    test_matrix all{"", a.rows, a.columns, {}};
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (auto k = a.row_offsets[as_size(i)]; k < a.row_offsets[as_size(i) + 1]; ++k)
            all.entries.push_back({static_cast<std::int32_t>(i), a.column_indices[as_size(k)],
                                   static_cast<double>(a.values[as_size(k)])});
    random_numbers random(9);
    if (order == coo_order::by_columns) all.entries = partition_tests::by_columns(all.entries);
    if (order == coo_order::unsorted) all.entries = partition_tests::shuffled(all.entries, random);
    const test_arrays arrays(all.entries);
    return {a.rows, a.columns, arrays.row_indices, arrays.column_indices,
            std::vector<T>(arrays.values.begin(), arrays.values.end())};
}

template <class T>
void check_larger(const device_group& group) {
    const csr_matrix<T> a = skewed_matrix<T>(20000, 15000);
    const csc_matrix<T> csc = to_csc<T>(a);
    const auto x = testing::random_values<T>(a.columns, 1);
    const auto before = testing::random_values<T>(a.rows, 2);
    const auto expected = testing::product<T>(a, T(-2.5), x, T(0.5), before);
    streamed_product<T> product(group, {.ranges = 3});
    const auto check_form = [&](const auto& multiply) {
        std::vector<T> y = before;
        (void)multiply(std::span<T>(y));
        bool good = true;
        for (std::size_t i = 0; i < y.size(); ++i)
            good = good && expected[i].template allows<T>(y[i]);
        CHECK(good);
        std::vector<T> again = before;
        (void)multiply(std::span<T>(again));
        CHECK(std::memcmp(y.data(), again.data(), y.size() * sizeof(T)) == 0);
        CHECK(product.kernel_seconds(2) > 0);
    };
    const std::span<const T> operand(x);
    check_form(
        [&](std::span<T> y) { return product(csr_view<T>(a), operand, y, T(-2.5), T(0.5)); });
    check_form(
        [&](std::span<T> y) { return product(csc_view<T>(csc), operand, y, T(-2.5), T(0.5)); });
    for (const coo_order order : orders) {
        const coo_matrix<T> coo = entries_of(a, order);
        check_form([&](std::span<T> y) {
            return product(coo_view<T>(coo), order, operand, y, T(-2.5), T(0.5));
        });
    }
}

KRYLITH_GROUP_TEST("one-shot products of a matrix with a long row: right, and the same bits") {
    check_larger<double>(group);
    check_larger<float>(group);
}

KRYLITH_GROUP_TEST("one-shot products keep their buffers, and allocate no more") {
    const csr_matrix<double> a = skewed_matrix<double>(3000, 2000);
    const auto x = testing::random_values<double>(a.columns, 1);
    std::vector<double> y(as_size(a.rows));
    streamed_product<double> product(group);
    (void)product(csr_view<double>(a), x, y);
    for (int rank = 0; rank < group.size(); ++rank)
        group[rank].ledger().set_guard([](const std::string& item, std::size_t, std::size_t) {
            throw device_error("no more memory for " + item);
        });
    (void)product(csr_view<double>(a), x, y);
    const csr_matrix<double> larger = skewed_matrix<double>(9000, 2000);
    std::vector<double> longer(as_size(larger.rows));
    CHECK_THROWS_AS((void)product(csr_view<double>(larger), x, longer), device_error);
    CHECK_THROWS_AS((void)product.kernel_seconds(), usage_error); // the last call has failed
    for (int rank = 0; rank < group.size(); ++rank) group[rank].ledger().set_guard({});
    (void)product(csr_view<double>(a), x, y); // as before
    const auto expected = testing::product<double>(a, 1, x, 0, y);
    REQUIRE(y.size() == 3000);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(expected[i].allows<double>(y[i]));
}

KRYLITH_GROUP_TEST("one-shot products say what doesn't fit") {
    const csr_matrix<double> a = skewed_matrix<double>(30, 20);
    std::vector<double> x(20);
    std::vector<double> y(30);
    streamed_product<double> product(group);
    const csr_view<double> view(a);
    CHECK_THROWS_WITH_AS(
        (void)product(view, std::span(x).first(19), y),
        "streamed_product: x has 19 entries, must have as many as A has columns, 20", input_error);
    CHECK_THROWS_WITH_AS((void)product(view, x, std::span(y).first(29)),
                         "streamed_product: y has 29 entries, must have as many as A has rows, 30",
                         input_error);
    csr_view<double> broken = view;
    broken.column_indices = broken.column_indices.first(3);
    CHECK_THROWS_WITH_AS((void)product(broken, x, y),
                         doctest::Contains("the array of column indices has 3 numbers, must have"),
                         input_error);
    broken = view;
    broken.row_offsets = broken.row_offsets.first(30);
    CHECK_THROWS_WITH_AS((void)product(broken, x, y),
                         doctest::Contains("the pointer array has 30 numbers, must have one more"),
                         input_error);
    CHECK_THROWS_WITH_AS((void)product.kernel_seconds(0),
                         "streamed_product: repetitions is 0, must be 1 or more", usage_error);
    CHECK_THROWS_WITH_AS((void)streamed_product<double>(group, {.ranges = 5}),
                         "streamed_product: ranges is 5, must be 0 (by size) to 4", usage_error);
    CHECK_THROWS_AS(
        (void)streamed_product<double>(group, {.topology = one_numa_node(group.size() + 1)}),
        usage_error);
    const mocked_index_limit limit(19);
    CHECK_THROWS_AS((void)product(view, x, y), input_error);
}

TEST_CASE("one-shot plans of random matrices pass their check") {
    for (int number = 0; number < 300; ++number) {
        const test_matrix m = partition_tests::random_matrix(number);
        CAPTURE(number);
        random_numbers random(static_cast<std::uint64_t>(number));
        for (int parts = 1; parts <= 8; ++parts) {
            CAPTURE(parts);
            const auto nodes = two_nodes(parts).node_of_device;
            const auto check_plans = [&](const streamed_matrix<double>& a) {
                for (const int ranges : {1, 2, 4}) check(plan_streamed(a, nodes, ranges), a);
            };
            const test_arrays rows(m.entries);
            const auto row_offsets = test_arrays::offsets(rows.row_indices, m.rows);
            check_plans(streamed_matrix_of(csr_view<double>(m.rows, m.columns, row_offsets,
                                                            rows.column_indices, rows.values)));
            const test_arrays columns(partition_tests::by_columns(m.entries));
            const auto column_offsets = test_arrays::offsets(columns.column_indices, m.columns);
            check_plans(streamed_matrix_of(csc_view<double>(m.rows, m.columns, column_offsets,
                                                            columns.row_indices, columns.values)));
            const auto check_coo = [&](const test_arrays& e, coo_order order) {
                check_plans(streamed_matrix_of(
                    coo_view<double>(m.rows, m.columns, e.row_indices, e.column_indices, e.values),
                    order));
            };
            check_coo(rows, coo_order::by_rows);
            check_coo(columns, coo_order::by_columns);
            check_coo(test_arrays(partition_tests::shuffled(m.entries, random)),
                      coo_order::unsorted);
        }
    }
}

TEST_CASE("one-shot plans: what their check finds") {
    const csr_matrix<double> m = skewed_matrix<double>(30, 20);
    const auto a = streamed_matrix_of(csr_view<double>(m));
    const streamed_plan good = plan_streamed(a, std::vector<int>{0, 1, 0}, 2);
    CHECK(good.device == std::vector<int>{0, 2, 1});
    check(good, a);
    streamed_plan bad = good;
    bad.device = {0, 2, 2};
    CHECK_THROWS_AS(check(bad, a), usage_error);
    bad = good;
    ++bad.results.begin[1];
    CHECK_THROWS_AS(check(bad, a), usage_error);
    bad = good;
    bad.streamed.shared.pop_back();
    CHECK_THROWS_AS(check(bad, a), usage_error);
    bad = good;
    bad.nonzeros = bad.streamed;
    CHECK_THROWS_AS(check(bad, a), usage_error);
    bad = good;
    bad.ranges = 1;
    CHECK_THROWS_AS(check(bad, a), usage_error);
    CHECK_THROWS_AS((void)plan_streamed(a, std::vector<int>{0}, 5), usage_error);
}

} // namespace
} // namespace krylith

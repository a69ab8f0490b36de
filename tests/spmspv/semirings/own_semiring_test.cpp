// Semirings of users: all kernels and the choice among them, against plain loops.
#include <krylith/spmspv/semirings/own_semiring.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/spmspv/one_device.hpp>

namespace krylith::spmspv {

namespace {

/// The most reliable way.
struct max_product {
    using value_type = double;
    static constexpr const char* name = "max-product";
    static constexpr bool exact = true;
    static constexpr bool reads_matrix = true;
    static constexpr bool reads_vector = true;
    static constexpr bool reads_columns = false;
    static constexpr bool first_suffices = false;
    static constexpr bool host_only = true;
    static double absent() { return 0; }
    static double add(double a, double b) { return a < b ? b : a; }
    static double term(double a, double x, std::int32_t) { return a * x; }
};

/// The number of ways, whatever the values of A.
struct count_ways : max_product {
    using value_type = std::int32_t;
    static constexpr const char* name = "count-ways";
    static constexpr bool reads_matrix = false;
    static std::int32_t absent() { return 0; }
    static std::int32_t add(std::int32_t a, std::int32_t b) { return a + b; }
    static std::int32_t term(std::int32_t, std::int32_t x, std::int32_t) { return x; }
};

/// The greatest column with an entry of x: not the first that is met.
struct max_column : count_ways {
    static constexpr const char* name = "max-column";
    static constexpr bool reads_vector = false;
    static constexpr bool reads_columns = true;
    static std::int32_t absent() { return -1; }
    static std::int32_t add(std::int32_t a, std::int32_t b) { return a < b ? b : a; }
    static std::int32_t term(std::int32_t, std::int32_t, std::int32_t column) { return column; }
};

struct without_term : max_product {
    static double term(double a);
};
struct wide_values : max_product {
    using value_type = std::int64_t;
};
static_assert(semiring<max_product> && semiring<count_ways> && semiring<max_column>);
static_assert(semiring<plus_times<float>> && semiring<min_column>);
static_assert(!semiring<without_term> && !semiring<wide_values> && !semiring<int>);
static_assert(host_only<max_product> && !host_only<or_and<double>>);

template <class S>
std::vector<typename S::value_type>
by_plain_loops(const csr_matrix<double>& a, const std::vector<std::int32_t>& places,
               const std::vector<typename S::value_type>& values,
               const std::vector<std::uint32_t>& skipped) {
    using T = typename S::value_type;
    std::vector<T> dense(static_cast<std::size_t>(a.columns), 0);
    std::vector<bool> there(dense.size(), false);
    for (std::size_t k = 0; k < places.size(); ++k) {
        dense[static_cast<std::size_t>(places[k])] = values[k];
        there[static_cast<std::size_t>(places[k])] = true;
    }
    std::vector<T> y(static_cast<std::size_t>(a.rows), S::absent());
    for (std::size_t i = 0; i < y.size(); ++i) {
        if ((skipped[i / 32] >> (i % 32) & 1) != 0) continue;
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            const auto j = static_cast<std::size_t>(a.column_indices[k]);
            if (!there[j]) continue;
            const auto column = static_cast<std::int32_t>(j);
            y[i] = S::add(y[i], S::term(static_cast<T>(a.values[k]), dense[j], column));
        }
    }
    return y;
}

/// Every kernel, every form of y, with and without rows that are skipped; then the choice.
template <class S>
void check_semiring(const std::shared_ptr<device>& device, const csr_matrix<double>& a) {
    using T = typename S::value_type;
    const auto matrix = std::make_shared<const csr_csc_pair<double>>(device, csr_view<double>(a));
    sparse_vector<T> x(device, a.columns, S::absent());
    sparse_vector<T> y(device, a.rows, S::absent());
    product_scratch scratch(device);
    adaptive_product<S, double> chosen(matrix, {.clocked = true, .rehearsals = 1});
    for (const std::int32_t every : {1, 2, 90, 100000}) {
        std::vector<std::int32_t> places;
        std::vector<T> values;
        for (std::int32_t j = 0; j < a.columns; j += every) {
            places.push_back(j);
            values.push_back(static_cast<T>(1 + j % 3));
        }
        for (const std::uint32_t word : {0U, 0x0f00f000U}) {
            const std::vector<std::uint32_t> skipped(static_cast<std::size_t>(a.rows / 32 + 1),
                                                     word);
            const auto expected = by_plain_loops<S>(a, places, values, skipped);
            for (const auto wanted : {vector_form::pairs, vector_form::dense}) {
                const product_options<T> options = {
                    .wanted = wanted, .skip_rows = word == 0 ? nullptr : skipped.data()};
                for (int number = 0; number < kernel_count; ++number) {
                    CAPTURE(number);
                    x.assign(places, values);
                    multiply<S>(static_cast<kernel>(number), *matrix, x, y, scratch, options);
                    CHECK(y.forms().has(wanted));
                    CHECK(y.download_dense() == expected);
                }
                x.assign(places, values);
                (void)chosen(x, y, options);
                CHECK(y.download_dense() == expected);
            }
        }
    }
    CHECK_THROWS_AS(multiply<S>(kernel::spmv, *matrix, x, y, scratch, {.alpha = T(2)}),
                    usage_error);
}

} // namespace

TEST_CASE("own semirings: every kernel on host devices, of one and of several threads") {
    auto a = web<double>(300, 9);
    for (std::size_t k = 0; k < a.values.size(); ++k)
        a.values[k] = static_cast<double>(1 + k % 7) / 8;
    const host::mocked_thread_worth worth(64);
    testing::on_host_devices([&](const std::shared_ptr<device>& device) {
        check_semiring<max_product>(device, a);
        check_semiring<count_ways>(device, a);
        check_semiring<max_column>(device, a);
    });
}

TEST_CASE("own semirings: one without kernels for CUDA is refused there [cuda]") {
    testing::on_cuda_device([](const std::shared_ptr<device>& device) {
        const auto a = web<double>(30, 3);
        const csr_csc_pair<double> matrix(device, csr_view<double>(a));
        sparse_vector<double> x(device, a.columns, 0);
        sparse_vector<double> y(device, a.rows, 0);
        product_scratch scratch(device);
        CHECK_THROWS_WITH_AS(
            multiply<max_product>(kernel::spmv, matrix, x, y, scratch),
            doctest::Contains("must be on the host with semiring max-product, which has no"),
            usage_error);
    });
}

} // namespace krylith::spmspv

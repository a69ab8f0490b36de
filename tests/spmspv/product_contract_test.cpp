// What products promise besides their results: the same bits, costs, waits, errors, names of
// kernels, and that each device of a group can multiply its own rows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/spmspv/product.hpp>

#include <krylith/tests/spmspv/one_device.hpp>
#include <krylith/tests/spmspv/product_cases.hpp>
#include <krylith/tests/spmspv/product_reference.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith::spmspv {

using testing::entry_list;
using testing::same_bits;

namespace {

constexpr kernel sorting[] = {kernel::column_sort, kernel::column_balanced_sort};
constexpr kernel atomic[] = {kernel::column_atomic, kernel::column_balanced_atomic};

template <class T>
entry_list<T> half_of(const testing::row_pattern& p) {
    entry_list<T> x;
    x.indices = testing::indices_of_kind(5, p, 51);
    x.values = testing::random_values<T>(static_cast<std::int64_t>(x.indices.size()), 52);
    testing::random_numbers random(53);
    testing::shuffle(x.indices, random);
    return x;
}

/// Both results of a kernel: as pairs and dense.
template <class S, class T>
std::vector<std::vector<T>> results(const std::shared_ptr<device>& device,
                                    const csr_matrix<T>& host, const entry_list<T>& entries,
                                    kernel k) {
    const csr_csc_pair<T> a(device, host);
    sparse_vector<T> x(device, host.columns, 0);
    sparse_vector<T> y(device, host.rows, 0);
    product_scratch scratch(device);
    x.assign(entries.indices, entries.values);
    std::vector<std::vector<T>> found;
    for (int round = 0; round < 3; ++round)
        for (const vector_form wanted : {vector_form::pairs, vector_form::dense}) {
            multiply<S>(k, a, x, y, scratch,
                        {.wanted = wanted, .alpha = scales<S> ? T(1.5) : T(1)});
            found.push_back(y.download_dense());
        }
    return found;
}

template <class S>
void check_same_bits(const std::vector<std::shared_ptr<device>>& devices) {
    using T = typename S::value_type;
    const auto p = testing::with_giants(6000, 5500, 20, 54); // the giant row: two tiles of terms
    const auto a = testing::with_values<T>(p, false, 55);
    const auto x = half_of<T>(p);
    std::vector<T> first;
    for (const auto& device : devices)
        for (const kernel k : sorting)
            for (const auto& y : results<S>(device, a, x, k)) {
                if (first.empty()) first = y;
                CHECK(same_bits(y, first));
            }
}

} // namespace

TEST_CASE("sparse products: sort gives the same bits on any number of threads") {
    std::vector<std::shared_ptr<device>> devices;
    for (const int threads : {1, 2, 3, 7})
        devices.push_back(device_group::host(1, {.host_threads = threads}).handle(0));
    check_same_bits<plus_times<double>>(devices);
    check_same_bits<plus_times<float>>(devices);
    check_same_bits<plus_second<double>>(devices);
    check_same_bits<plus_second<float>>(devices);
}

TEST_CASE("sparse products: sort gives the same bits every time [cuda]") {
    const std::vector<std::shared_ptr<device>> devices(2, testing::cuda_groups().front().handle(0));
    check_same_bits<plus_times<double>>(devices);
    check_same_bits<plus_times<float>>(devices);
    check_same_bits<plus_second<double>>(devices);
    check_same_bits<plus_second<float>>(devices);
}

// Rows that the product doesn't touch keep their marks.
KRYLITH_DEVICE_TEST("sparse products: column kernels touch only the rows of their columns") {
    const std::int64_t n = 5000;
    testing::row_pattern p = {"bidiagonal", n, {}};
    for (std::int32_t row = 0; row < n; ++row)
        p.rows.push_back(row == 0 ? std::vector<std::int32_t>{0}
                                  : std::vector<std::int32_t>{row - 1, row});
    const csr_csc_pair<double> a(device, testing::with_values<double>(p, false, 56));
    sparse_vector<double> x(device, n, 0);
    sparse_vector<double> y(device, n, 0);
    product_scratch scratch(device);
    const product_options<double> pairs = {.wanted = vector_form::pairs};
    x.assign(std::vector<std::int32_t>{100, 200}, std::vector<double>{1, 1});
    multiply<plus_times<double>>(kernel::column_atomic, a, x, y, scratch, pairs);
    y.require(vector_form::pairs);
    const double mark = 77;
    device->upload(y.arrays().dense + 4000, &mark, sizeof(mark));
    for (const kernel k :
         {kernel::column_atomic, kernel::column_sort, kernel::column_sort,
          kernel::column_balanced_atomic, kernel::column_balanced_sort, kernel::column_atomic}) {
        x.assign(std::vector<std::int32_t>{100, 300}, std::vector<double>{2, 3});
        multiply<plus_times<double>>(k, a, x, y, scratch, pairs);
        double found = 0;
        device->download(&found, y.arrays().dense + 4000, sizeof(found));
        CHECK(found == mark);
        CHECK(y.download_pairs().indices == std::vector<std::int32_t>{100, 101, 300, 301});
    }
}

KRYLITH_DEVICE_TEST("sparse products: an entry of x is one whatever its value") {
    const csr_matrix<double> host = {3, 3, {0, 2, 3, 4}, {0, 1, 1, 2}, {1, 0, 5, 6}};
    const csr_csc_pair<double> a(device, host);
    sparse_vector<double> x(device, 3, 0);
    sparse_vector<double> y(device, 3, 0);
    product_scratch scratch(device);
    for (int k = static_cast<int>(kernel::row); k < kernel_count; ++k) {
        CAPTURE(k);
        x.assign(std::vector<std::int32_t>{1}, std::vector<double>{0});
        const auto check = [&]<class S>(S) {
            multiply<S>(static_cast<kernel>(k), a, x, y, scratch, {.wanted = vector_form::pairs});
            CHECK(y.download_pairs().indices == std::vector<std::int32_t>{0, 1});
            CHECK(y.download_pairs().values == std::vector<double>{0, 0});
        };
        check(plus_times<double>());
        check(plus_second<double>());
    }
}

KRYLITH_DEVICE_TEST("sparse products: beta 0 reads no y, entries left out read no x") {
    const csr_matrix<double> host = {2, 3, {0, 2, 4}, {0, 1, 1, 2}, {1, 2, 5, 6}};
    const csr_csc_pair<double> a(device, host);
    sparse_vector<double> x(device, 3, 0);
    sparse_vector<double> y(device, 2, 0);
    product_scratch scratch(device);
    for (int k = 0; k < kernel_count; ++k)
        for (const vector_form wanted : {vector_form::dense, vector_form::pairs}) {
            CAPTURE(k);
            x.assign(std::vector<std::int32_t>{1}, std::vector<double>{3});
            y.assign(std::vector<double>{NAN, NAN});
            multiply<plus_times<double>>(static_cast<kernel>(k), a, x, y, scratch,
                                         {.wanted = wanted});
            CHECK(y.download_dense() == std::vector<double>{6, 15});
            y.assign(std::vector<double>{NAN, NAN});
            multiply<plus_second<double>>(static_cast<kernel>(k), a, x, y, scratch,
                                          {.wanted = wanted});
            CHECK(y.download_dense() == std::vector<double>{3, 3});
        }
}

TEST_CASE("sparse products: waits of the host") {
    const auto layout = device_group::host(1).handle(0);
    auto& host = static_cast<host_device&>(*layout);
    const auto p = testing::random_places(100, 100, 10, 57);
    const csr_csc_pair<double> a(layout, testing::with_values<double>(p, false, 58));
    sparse_vector<double> x(layout, 100, 0);
    sparse_vector<double> y(layout, 100, 0);
    product_scratch scratch(layout);
    x.assign(testing::random_values<double>(100, 59));
    const auto waits_of = [&](kernel k, std::int64_t frontier_nonzeros) {
        const auto before = host.waits();
        multiply<plus_times<double>>(k, a, x, y, scratch, {.wanted = vector_form::pairs},
                                     frontier_nonzeros);
        return host.waits() - before;
    };
    for (int k = 0; k < kernel_count; ++k)
        CHECK(waits_of(static_cast<kernel>(k), a.nonzeros()) == 0);
    for (const kernel k : atomic) CHECK(waits_of(k, -1) == 0);
    for (const kernel k : sorting) CHECK(waits_of(k, -1) == 1);
    CHECK(count_frontier_nonzeros(a, x) == a.nonzeros());
}

TEST_CASE("sparse products: frontier nonzeros that are given too small are found on host devices") {
    const auto layout = device_group::host(1).handle(0);
    const auto p = testing::random_places(50, 50, 30, 60);
    const csr_csc_pair<double> a(layout, testing::with_values<double>(p, false, 61));
    sparse_vector<double> x(layout, 50, 0);
    sparse_vector<double> y(layout, 50, 0);
    product_scratch scratch(layout);
    x.assign(testing::random_values<double>(50, 62));
    multiply<plus_times<double>>(kernel::column_sort, a, x, y, scratch, {}, a.nonzeros() - 1);
    CHECK_THROWS_WITH_AS(layout->synchronize(), doctest::Contains("frontier_nonzeros was given as"),
                         device_error);
}

KRYLITH_DEVICE_TEST("sparse products: what is refused") {
    const auto p = testing::random_places(4, 6, 50, 63);
    const csr_csc_pair<double> a(device, testing::with_values<double>(p, false, 64));
    sparse_vector<double> x(device, 6, 0);
    sparse_vector<double> y(device, 4, 0);
    sparse_vector<double> infinite(device, 6, INFINITY);
    sparse_vector<std::int32_t> parents(device, 4, min_column::absent());
    sparse_vector<std::int32_t> sources(device, 6, min_column::absent());
    product_scratch scratch(device);
    const buffer<std::uint32_t> skip(device, 1, "test");
    skip.zero();
    y.assign(std::vector<double>{1, 2, 3, 4});
    using plus = plus_times<double>;
    const auto refused = [&](const char* message, auto& from, auto& to,
                             const product_options<double>& options) {
        CHECK_THROWS_WITH_AS(multiply<plus>(kernel::row, a, from, to, scratch, options), message,
                             usage_error);
    };
    refused("sparse product: x has 4 entries, must have 6, as many as the matrix has columns", y, x,
            {});
    refused("sparse product: y has 6 entries, must have 4, as many as the matrix has rows", x,
            infinite, {});
    refused("sparse product: x and y are the same vector", x, x, {});
    refused("sparse product: x was made with inf for entries that are not there, the semiring has "
            "0",
            infinite, y, {});
    refused("sparse product: beta is 1e-09, must be 0 where y is wanted as pairs", x, y,
            {.wanted = vector_form::pairs, .beta = 1e-9});
    refused("sparse product: beta is 2, must be 0 where rows are skipped", x, y,
            {.beta = 2, .skip_rows = skip.data()});
    CHECK_THROWS_WITH_AS(
        multiply<min_column>(kernel::row, a, sources, parents, scratch, {.alpha = 3}),
        "sparse product: alpha is 3 and beta 0, must be 1 and 0 with semiring min-column",
        usage_error);
    CHECK_THROWS_WITH_AS(multiply<plus_second<double>>(kernel::spmv, a, x, y, scratch, {.beta = 1}),
                         "sparse product: alpha is 1 and beta 1, must be 1 and 0 with semiring "
                         "plus-second",
                         usage_error);
    CHECK_THROWS_AS(multiply<plus>(static_cast<kernel>(8), a, x, y, scratch), usage_error);
    CHECK_THROWS_WITH_AS(
        (void)count_frontier_nonzeros(a, y),
        "sparse product: x has 4 entries, must have 6, as many as the matrix has columns",
        usage_error);
    CHECK(y.download_dense() == std::vector<double>{1, 2, 3, 4}); // as it was

    const auto other = device_group::host(1).handle(0);
    sparse_vector<double> elsewhere(other, 6, 0);
    refused("sparse product: x lies on another device than the matrix", elsewhere, y, {});
    product_scratch other_scratch(other);
    CHECK_THROWS_WITH_AS(
        multiply<plus>(kernel::row, a, x, y, other_scratch),
        "sparse product: the scratch memory lies on another device than the matrix", usage_error);
}

KRYLITH_GROUP_TEST("sparse products: where memory is short, y stays as it was") {
    const auto p = testing::random_places(40, 40, 50, 65);
    const auto host = testing::with_values<double>(p, false, 66);
    for (int k = 0; k < kernel_count; ++k) {
        const csr_csc_pair<double> a(group.handle(0), host);
        sparse_vector<double> x(group.handle(0), 40, 0);
        sparse_vector<double> y(group.handle(0), 40, 0);
        product_scratch scratch(group.handle(0));
        x.assign(testing::random_values<double>(40, 67));
        y.assign(std::vector<double>(40, 8));
        const auto product = [&] {
            multiply<plus_times<double>>(static_cast<kernel>(k), a, x, y, scratch);
        };
        bool refused = false;
        {
            const testing::short_memory refuse(group, 0);
            try {
                product();
            } catch (const device_error&) {
                refused = true;
            }
            CHECK(refused == (refuse.count() > 0));
        }
        if (refused) CHECK(y.download_dense() == std::vector<double>(40, 8));
        product(); // now there is room
        CHECK(y.download_dense() != std::vector<double>(40, 8));
    }
}

KRYLITH_GROUP_TEST("sparse products: each device multiplies its rows") {
    const auto p =
        testing::random_places(5, 80, 40, 68); // fewer rows than some groups have devices
    const auto host = testing::with_values<double>(p, false, 69);
    entry_list<double> entries;
    entries.indices = testing::indices_of_kind(5, p, 70);
    entries.values =
        testing::random_values<double>(static_cast<std::int64_t>(entries.indices.size()), 71);
    const auto expected = testing::number_reference<double>(host).product(entries, 1, 0, {});
    for (int k = 0; k < kernel_count; ++k) {
        std::vector<double> y;
        for (int rank = 0; rank < group.size(); ++rank) {
            const auto& device = group.handle(rank);
            const std::int64_t first = host.rows * rank / group.size();
            const std::int64_t end = host.rows * (rank + 1) / group.size();
            const csr_csc_pair<double> a(device, host, first, end);
            sparse_vector<double> x(device, host.columns, 0);
            sparse_vector<double> part(device, end - first, 0);
            product_scratch scratch(device);
            x.assign(entries.indices, entries.values);
            multiply<plus_times<double>>(static_cast<kernel>(k), a, x, part, scratch);
            const auto rows = part.download_dense();
            y.insert(y.end(), rows.begin(), rows.end());
        }
        REQUIRE(y.size() == as_size(host.rows));
        for (std::size_t row = 0; row < y.size(); ++row)
            CHECK(expected[row].allows<double>(y[row]));
    }
}

TEST_CASE("sparse products: names of kernels") {
    for (int k = 0; k < kernel_count; ++k) {
        const auto number = static_cast<kernel>(k);
        CHECK(parse_kernel(to_string(number)) == number);
        CHECK(kernel_of(direction_of(number), distribution_of(number), write_back_of(number)) ==
              number);
    }
    CHECK_THROWS_WITH_AS((void)parse_kernel("colum-sort"),
                         "unknown kernel 'colum-sort': did you mean 'column-sort'? Valid are spmv "
                         "spmv-balanced row row-balanced column-atomic column-sort "
                         "column-balanced-atomic column-balanced-sort",
                         usage_error);
}

} // namespace krylith::spmspv

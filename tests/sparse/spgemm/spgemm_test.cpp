// Products of matrices on one device against the plain product, bit by bit.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/poisson.hpp>
#include <krylith/matrix/gallery/systems.hpp>
#include <krylith/sparse/spgemm.hpp>
#include <krylith/sparse/spgemm/row_limits.hpp>
#include <krylith/sparse/spgemm/row_shares.hpp>

#include <krylith/tests/sparse/spgemm/spgemm_cases.hpp>
#include <krylith/tests/spmspv/one_device.hpp>
#include <krylith/tests/support/matrices.hpp>

namespace krylith {

using testing::plain_product;
using testing::rows_of_lengths;
using testing::spgemm_cases;
using testing::with_values;

namespace {

/// Calls body(c) with each case, under each of the limits. On a host, which has no use for limits,
/// once.
void on_cases(const device& device, std::initializer_list<row_limits> all_limits,
              const std::function<void(const testing::spgemm_case&)>& body) {
    for (const row_limits& limits : all_limits) {
        const mocked_row_limits mocked(limits);
        CAPTURE(limits.places);
        CAPTURE(limits.pooled_rows);
        CAPTURE(limits.sampled_rows);
        CAPTURE(limits.products);
        CAPTURE(limits.searches);
        CAPTURE(limits.chunk_searches);
        for (const auto& c : spgemm_cases()) {
            CAPTURE(c.surfaces);
            body(c);
        }
        if (device.kind() == backend::host) return;
    }
}

/// With places of products, without, with the columns of even a few long rows, and with kernels
/// that few matrices suit, tried on all.
const auto usual_limits = {row_limits{}, row_limits{.places = false}, row_limits{.pooled_rows = 8},
                           row_limits{.sampled_rows = 8}};

/// The first row, the first column and the diagonal.
csr_matrix<double> arrow(std::int64_t n) {
    csr_matrix<double> a{n, n, {0}, {}, {}};
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < (i == 0 ? n : 2); ++j)
            a.column_indices.push_back(static_cast<std::int32_t>(j == 0 || i == 0 ? j : i));
        a.row_offsets.push_back(a.nnz());
    }
    a.values.resize(a.column_indices.size());
    return with_values(std::move(a), 12);
}

csr_matrix<double> some_matrix(std::int64_t rows, std::int64_t columns) {
    return rows_of_lengths(
        rows, columns, [](std::int64_t i) { return i % 5; }, 3);
}

} // namespace

KRYLITH_DEVICE_TEST("spgemm: products have the bits of the plain product") {
    const host::mocked_products_worth all_threads(1);
    on_cases(*device, usual_limits, [&](const auto& c) {
        const device_csr<double> a(device, c.a);
        const device_csr<double> b(device, c.b);
        const spgemm<double> plan(a, b);
        CHECK(plan.rows() == c.a.rows);
        CHECK(plan.columns() == c.b.columns);
        CHECK(plan.nonzeros() == c.product.nnz());
        CHECK(plan.multiply(a, b).download() == c.product);
        CHECK(plan.multiply(a, b).download() == c.product);
    });
}

// A bit for each column is just what a launch may have without asking, but the kernel has some by
// itself.
KRYLITH_DEVICE_TEST("spgemm: 48 KB of bits") {
    const auto lengths = [](std::int64_t length) { return [=](std::int64_t) { return length; }; };
    for (const std::int64_t columns : {393'000, 393'216, 393'217}) {
        CAPTURE(columns);
        const csr_matrix<double> left = rows_of_lengths(3, 600, lengths(600), 5);
        const csr_matrix<double> right = rows_of_lengths(600, columns, lengths(100), 6);
        const device_csr<double> a(device, left);
        const device_csr<double> b(device, right);
        CHECK(spgemm<double>(a, b).multiply(a, b).download() == plain_product(left, right));
    }
}

KRYLITH_DEVICE_TEST("spgemm: fp32") {
    const host::mocked_products_worth all_threads(1);
    on_cases(*device, usual_limits, [&](const auto& c) {
        const device_csr<float> a(device, c.single_a);
        const device_csr<float> b(device, c.single_b);
        const spgemm<float> plan(a, b);
        CHECK(plan.multiply(a, b).download() == c.single_product);
    });
}

KRYLITH_DEVICE_TEST("spgemm: both phases at once give the same bits") {
    const host::mocked_products_worth all_threads(1);
    for (const auto& c : spgemm_cases()) {
        CAPTURE(c.surfaces);
        device_csr<double> a(device, c.a);
        device_csr<double> b(device, c.b);
        device_csr<double> result;
        const std::size_t before = device->ledger().live();
        const spgemm<double> plan(a, b, result);
        const std::size_t kept = device->ledger().live() - before;
        CHECK(static_cast<std::int64_t>(kept) <= plan.bytes() + result.bytes());
        CHECK(result.download() == c.product);
        CHECK(result.ascends());
        CHECK(plan.nonzeros() == result.nonzeros());
        CHECK(plan.products() == spgemm<double>(a, b).products());
        CHECK_THROWS_AS((void)plan.multiply(a, b), usage_error);

        a.update(c.new_a.values);
        b.update(c.new_b.values);
        plan.refresh(a, b, result);
        CHECK(result.download() == c.new_product);
        CHECK(multiply(device_csr<float>(device, c.single_a), device_csr<float>(device, c.single_b))
                  .download() == c.single_product);
    }
}

TEST_CASE("spgemm: rows that are cut have the same bits on 1 to 8 threads") {
    const auto giant = [](std::int64_t row, std::int64_t length) {
        return [=](std::int64_t i) { return i == row ? length : std::int64_t{2}; };
    };
    const std::int64_t n = 60000;
    const std::vector<std::pair<csr_matrix<double>, csr_matrix<double>>> products = {
        {rows_of_lengths(n, n, giant(n - 1, n), 1), rows_of_lengths(n, n, giant(-1, 0), 2)},
        {rows_of_lengths(3, n, giant(0, n), 3), rows_of_lengths(n, n, giant(n - 1, n), 4)},
        {rows_of_lengths(1, n, giant(0, n), 5), rows_of_lengths(n, 70, giant(-1, 0), 6)},
        {rows_of_lengths(1, n, giant(0, n), 7), rows_of_lengths(n, 1, giant(-1, 0), 8)},
        {arrow(700), arrow(700)}};
    for (const auto& [left, right] : products) {
        const csr_matrix<double> expected = plain_product(left, right);
        for (int threads = 1; threads <= 8; ++threads) {
            CAPTURE(threads);
            const auto device = device_group::host(1, {.host_threads = threads}).handle(0);
            const device_csr<double> a(device, left);
            const device_csr<double> b(device, right);
            spgemm<double> plan(a, b);
            CHECK(spgemm<double>::estimate(a, b).extra_bytes >= plan.peak_bytes());
            CHECK(multiply(a, b).download() == expected);
            device_csr<double> c = plan.take(a, b);
            CHECK(c.download() == expected);
            c.update(std::vector<double>(static_cast<std::size_t>(plan.nonzeros()), 1e300));
            plan.refresh(a, b, c);
            CHECK(c.download() == expected);
        }
    }
}

KRYLITH_DEVICE_TEST("spgemm: a few rows that are not like the others, at once") {
    const host::mocked_products_worth all_threads(1);
    // The rows in the middle of each share, by which lists are sized, have one entry; most others
    // have many, so that lists must grow.
    const auto a = rows_of_lengths(
        6000, 6000, [](std::int64_t i) { return i % 1500 > 600 && i % 1500 < 900 ? 1 : 12; }, 5);
    const device_csr<double> on_device(device, a);
    CHECK(multiply(on_device, on_device).download() == plain_product(a, a));
}

KRYLITH_DEVICE_TEST("spgemm: a refresh takes new values, and nothing of the old ones") {
    const host::mocked_products_worth all_threads(1);
    on_cases(*device, usual_limits, [&](const auto& c) {
        device_csr<double> a(device, c.a);
        device_csr<double> b(device, c.b);
        const spgemm<double> plan(a, b);
        device_csr<double> result = plan.multiply(a, b);
        a.update(c.new_a.values);
        b.update(c.new_b.values);
        result.update(std::vector<double>(static_cast<std::size_t>(plan.nonzeros()), 1e300));
        plan.refresh(a, b, result);
        CHECK(result.download() == c.new_product);
    });
}

KRYLITH_DEVICE_TEST("spgemm: estimates are not exceeded, and nothing stays allocated") {
    on_cases(*device, usual_limits, [&](const auto& c) {
        const device_csr<double> a(device, c.a);
        const device_csr<double> b(device, c.b);
        const auto e = spgemm<double>::estimate(a, b);
        const std::size_t before = device->ledger().live();
        {
            const spgemm<double> plan(a, b);
            const std::size_t kept = device->ledger().live() - before;
            CHECK(static_cast<std::int64_t>(kept) <= plan.bytes());
            CHECK(e.products == plan.products());
            CHECK(e.most_nonzeros >= plan.nonzeros());
            CHECK(e.extra_bytes >= plan.peak_bytes());
            CHECK(plan.peak_bytes() >= plan.bytes());
            CHECK(e.result_bytes >= plan.multiply(a, b).bytes());
        }
        CHECK(device->ledger().live() == before);
    });
}

KRYLITH_DEVICE_TEST("spgemm: rows that take all of a GPU, with the limits of giants near") {
    const auto giants_near = {
        row_limits{.products = 1}, row_limits{.searches = 1},
        row_limits{.chunk_searches = 1, .sorted_products = 100},
        row_limits{.products = 1, .chunk_searches = 1, .sorted_products = 100000}};
    on_cases(*device, giants_near, [&](const auto& c) {
        device_csr<double> a(device, c.a);
        device_csr<double> b(device, c.b);
        const spgemm<double> plan(a, b);
        CHECK(spgemm<double>::estimate(a, b).extra_bytes >= plan.peak_bytes());
        device_csr<double> result = plan.multiply(a, b);
        CHECK(result.download() == c.product);
        a.update(c.new_a.values);
        b.update(c.new_b.values);
        plan.refresh(a, b, result);
        CHECK(result.download() == c.new_product);
    });
}

KRYLITH_DEVICE_TEST("spgemm: a plan in three lines") {
    const auto host_a = some_matrix(50, 40);
    const auto host_b = some_matrix(40, 30);
    const device_csr<double> a(device, host_a);
    const device_csr<double> b(device, host_b);
    spgemm<double> plan(a, b);
    device_csr<double> c = plan.multiply(a, b);
    plan.refresh(a, b, c); // the values, of new ones of a and b
    CHECK(c.download() == plain_product(host_a, host_b));
}

KRYLITH_DEVICE_TEST("spgemm: small matrices of nodes, and of short rows") {
    const auto nodes = elasticity3d<double>(4, 3, 2, 0.3);
    const auto stencil = poisson3d<double>(6, 5, 4);
    const auto transfer = rows_of_lengths(
        stencil.rows, 30, [](std::int64_t i) { return 1 + i % 2; }, 6);
    for (const auto& [host_a, host_b] : {std::pair(nodes, nodes), std::pair(stencil, transfer)}) {
        device_csr<double> a(device, host_a);
        const device_csr<double> b(device, host_b);
        const spgemm<double> plan(a, b);
        auto c = plan.multiply(a, b);
        CHECK(c.download() == plain_product(host_a, host_b));
        CHECK(c.ascends());
        const auto new_a = with_values(host_a, 104);
        a.update(new_a.values);
        plan.refresh(a, b, c);
        CHECK(c.download() == plain_product(new_a, host_b));
    }
}

KRYLITH_DEVICE_TEST("spgemm: neighbouring rows, and many products of a row") {
    const mocked_row_limits on_all({.sampled_rows = 8});
    for (const auto& c : spgemm_cases()) {
        if (!c.surfaces.starts_with("neighbouring") && !c.surfaces.starts_with("many products"))
            continue;
        CAPTURE(c.surfaces);
        device_csr<double> a(device, c.a);
        const device_csr<double> b(device, c.b);
        const spgemm<double> plan(a, b);
        auto result = plan.multiply(a, b);
        CHECK(result.download() == c.product);
        a.update(c.new_a.values);
        plan.refresh(a, b, result);
        CHECK(result.download() == plain_product(c.new_a, c.b));
        const device_csr<float> single_a(device, c.single_a);
        const device_csr<float> single_b(device, c.single_b);
        CHECK(multiply(single_a, single_b).download() == c.single_product);
    }
}

KRYLITH_DEVICE_TEST("spgemm: a result that is multiplied again") {
    const auto host_a = some_matrix(60, 60);
    const device_csr<double> a(device, host_a);
    const auto square = multiply(a, a);
    CHECK(multiply(square, a).download() == plain_product(plain_product(host_a, host_a), host_a));
}

KRYLITH_DEVICE_TEST("spgemm: a plan that is moved") {
    const auto host_a = some_matrix(60, 60);
    const device_csr<double> a(device, host_a);
    spgemm<double> first(a, a);
    spgemm<double> second(std::move(first));
    CHECK(second.multiply(a, a).download() == plain_product(host_a, host_a));
}

KRYLITH_DEVICE_TEST("spgemm: rows of B that don't ascend are refused") {
    auto host_b = rows_of_lengths(
        40, 50, [](std::int64_t) { return 9; }, 4);
    const auto at = static_cast<std::size_t>(host_b.row_offsets[23]);
    const std::int32_t first = host_b.column_indices[at];
    SUBCASE("twice the same") {
        host_b.column_indices[at + 1] = first;
    }
    SUBCASE("swapped") {
        std::swap(host_b.column_indices[at], host_b.column_indices[at + 1]);
    }
    const device_csr<double> a(device, some_matrix(30, 40));
    const device_csr<double> b(device, host_b);
    const std::string message =
        "spgemm: row 23 of B has column " + std::to_string(first) + " after column " +
        std::to_string(host_b.column_indices[at]) +
        "; columns of B must ascend strictly in each row (transposing twice sorts them)";
    CHECK_THROWS_WITH_AS(spgemm<double>(a, b), message.c_str(), input_error);
    CHECK_NOTHROW(spgemm<double>(b, device_csr<double>(device, some_matrix(50, 3))));
}

KRYLITH_DEVICE_TEST("spgemm: sizes that disagree are refused") {
    const device_csr<double> a(device, some_matrix(30, 40));
    const device_csr<double> b(device, some_matrix(41, 20));
    CHECK_THROWS_WITH_AS(spgemm<double>(a, b),
                         "spgemm: A is 30 x 40 and B is 41 x 20; A must have as many columns as B "
                         "has rows",
                         usage_error);
    CHECK_THROWS_AS((void)spgemm<double>::estimate(a, b), usage_error);
    CHECK_THROWS_AS(spgemm<double>(a, device_csr<double>()), usage_error);

    const device_csr<double> fits(device, some_matrix(40, 20));
    const spgemm<double> plan(a, fits);
    auto c = plan.multiply(a, fits);
    const device_csr<double> fewer(device, rows_of_lengths(
                                               40, 20, [](std::int64_t) { return 1; }, 5));
    CHECK_THROWS_WITH_AS((void)plan.multiply(a, fewer),
                         ("spgemm: the number of nonzeros of B is 40; the plan was made for " +
                          std::to_string(fits.nonzeros()))
                             .c_str(),
                         usage_error);
    auto other = multiply(fits, device_csr<double>(device, some_matrix(20, 20)));
    CHECK_THROWS_AS(plan.refresh(a, fits, other), usage_error);
    const auto elsewhere = device_group::host(1).handle(0);
    CHECK_THROWS_AS(spgemm<double>(a, device_csr<double>(elsewhere, some_matrix(40, 20))),
                    usage_error);
}

KRYLITH_DEVICE_TEST("spgemm: memory that is refused leaves nothing behind") {
    const auto& c = spgemm_cases()[9];
    const device_csr<double> a(device, c.a);
    const device_csr<double> b(device, c.b);
    const std::size_t before = device->ledger().live();
    int made = 0;
    for (int k = 0; made == 0; ++k) {
        int count = 0;
        device->ledger().set_guard([&](const std::string&, std::size_t, std::size_t) {
            if (count++ == k) throw device_error("refused");
        });
        try {
            (void)multiply(a, b);
            made = k;
        } catch (const device_error&) {
        }
        device->ledger().set_guard({});
        CHECK(device->ledger().live() == before);
    }
    CHECK(made >= 3);
}

} // namespace krylith

// Operators between given vectors: chains without copies, orders of rows, other precisions, and
// what is refused.
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/spmv/rectangular/rectangular_matrices.hpp>
#include <krylith/tests/support/cache_folder.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::copies_agree;
using testing::interpolation_1d;
using testing::laplace_1d;
using testing::name_of;
using testing::plain_product;
using testing::plainly_transposed;
using testing::random_values;
using testing::values_of;

namespace {

/// Whole numbers, with which the products here are exact in any order of summation.
std::vector<double> whole_numbers(std::int64_t n) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(i * 37 % 101 - 50));
    return values;
}

/// A permuted Laplacian, of which rcm and metis find another order.
csr_matrix<double> scattered_laplace(std::int64_t n) {
    testing::triplets entries;
    const auto place = [&](std::int64_t i) { return i * 7 % n; }; // n is no multiple of 7
    for (std::int64_t i = 0; i < n; ++i) {
        entries.emplace_back(place(i), place(i), 2.0);
        if (i > 0) entries.emplace_back(place(i), place(i - 1), -1.0);
        if (i + 1 < n) entries.emplace_back(place(i), place(i + 1), -1.0);
    }
    return testing::from_triplets(n, entries);
}

} // namespace

KRYLITH_GROUP_TEST("given layouts: R A P is a chain without copies, recorded and eager") {
    const auto prolongation = interpolation_1d(257);
    const auto restriction = plainly_transposed(prolongation);
    const auto fine = laplace_1d(513);
    const auto coarse = laplace_1d(257);
    const auto v0 = whole_numbers(257);
    const auto expected =
        plain_product(restriction, plain_product(fine, plain_product(prolongation, v0)));
    for (const operator_kind kind : operators::all)
        for (const bool one_of_two : {false, true}) {
            CAPTURE(name_of(kind));
            CAPTURE(one_of_two);
            const auto a = make_operator(group, fine, {.kind = kind});
            const auto c = make_operator(group, coarse, {.kind = kind});
            // Both transfers are operators of their own, or one with transposed products.
            const auto p = make_operator({c->layout(), a->layout()}, prolongation,
                                         {.kind = kind, .transposed_products = one_of_two});
            const auto own = make_operator({a->layout(), c->layout()}, restriction, {.kind = kind});
            const matrix_operator<double>& r = one_of_two ? p->transposed() : *own;
            CHECK(p->domain_layout() == c->layout());
            CHECK(p->range_layout() == a->layout());
            CHECK(r.range_layout() == c->layout());
            for (const auto mode : testing::modes_of(*a)) {
                execution run(group, {.mode = mode, .unroll = 2});
                auto v = p->make_domain_vector(); // c's, with the ghosts of p
                auto x = a->make_domain_vector();
                auto y = r.make_domain_vector();
                auto z = c->make_range_vector();
                v.upload(v0);
                put_ghosts(run, v);
                (void)testing::iterate(run, 3, [&] {
                    p->apply(run, 1.0, v, 0.0, x);
                    put_ghosts(run, x);
                    a->apply(run, 1.0, x, 0.0, y);
                    put_ghosts(run, y);
                    r.apply(run, 1.0, y, 0.0, z);
                });
                run.flush();
                CHECK(values_of(z) == expected);
                CHECK(copies_agree(z));
            }
        }
}

KRYLITH_GROUP_TEST("transposed products: <A x, y> = <x, A' y>, and A' y against a plain loop") {
    const auto matrix = interpolation_1d(301);
    const auto x0 = whole_numbers(301);
    const auto y0 = whole_numbers(601);
    const auto expected = plain_product(plainly_transposed(matrix), y0);
    for (const operator_kind kind : testing::all_kinds()) {
        CAPTURE(name_of(kind));
        const auto a = make_operator(group, matrix, {.kind = kind, .transposed_products = true});
        execution run(group, {});
        auto x = a->make_domain_vector();
        auto y = a->transposed().make_domain_vector();
        auto ax = a->make_range_vector();
        auto aty = a->transposed().make_range_vector();
        x.upload(x0);
        y.upload(y0);
        put_ghosts(run, x);
        put_ghosts(run, y);
        scalar left(run), right(run);
        const reduction_into<double> of_ax[] = {left = dot(ax, y)};
        const reduction_into<double> of_aty[] = {right = dot(x, aty)};
        a->apply(run, 1.0, x, 0.0, ax, of_ax);
        a->apply_transposed(run, 1.0, y, 0.0, aty, of_aty);
        run.flush();
        CHECK(values_of(aty) == expected);
        CHECK(run.get(left.number()) == run.get(right.number()));
    }
}

KRYLITH_GROUP_TEST("transposed products of square matrices are between the same vectors") {
    const auto matrix = testing::random_matrix(400, 5, 3, 8);
    const auto across = plainly_transposed(matrix);
    const auto x0 = random_values<double>(400, 9);
    const auto expected = testing::product(across, 1.0, x0, 0.0, x0);
    for (const operator_kind kind : testing::all_kinds())
        for (const reordering order : {orders::none, orders::rcm}) {
            CAPTURE(name_of(kind));
            CAPTURE(name_of(order));
            const auto a = make_operator(
                group, matrix, {.kind = kind, .order = order, .transposed_products = true});
            CHECK(a->transposed().layout() == a->layout());
            execution run(group, {});
            auto x = a->transposed().make_domain_vector();
            auto y = a->make_range_vector();
            for (const double factor : {1.0, 2.0}) {
                auto values = matrix.values;
                for (double& value : values) value *= factor;
                a->update(values);
                x.upload(x0);
                put_ghosts(run, x);
                a->apply_transposed(run, 1.0 / factor, x, 0.0, y);
                run.flush();
                const auto result = values_of(y);
                for (std::size_t i = 0; i < result.size(); ++i)
                    CHECK(expected[i].allows<double>(result[i]));
            }
        }
}

KRYLITH_GROUP_TEST("given layouts: rows and columns are brought into their orders") {
    const auto prolongation = interpolation_1d(257);
    const auto v0 = whole_numbers(257);
    const auto w0 = whole_numbers(513);
    const auto expected = plain_product(prolongation, v0);
    const auto across = plain_product(plainly_transposed(prolongation), w0);
    for (const operator_kind kind : {operators::halo, operators::nz, operators::pcsc})
        for (const bool both : {false, true}) {
            CAPTURE(name_of(kind));
            CAPTURE(both);
            const auto a =
                make_operator(group, scattered_laplace(513), {.kind = kind, .order = orders::rcm});
            const auto c =
                make_operator(group, scattered_laplace(257),
                              {.kind = kind, .order = both ? orders::rcm : orders::none});
            REQUIRE(a->layout()->order != nullptr);
            const auto p = make_operator({c->layout(), a->layout()}, prolongation,
                                         {.kind = kind, .transposed_products = true});
            execution run(group, {});
            auto v = p->make_domain_vector();
            auto x = p->make_range_vector();
            auto w = p->transposed().make_domain_vector();
            auto z = p->transposed().make_range_vector();
            v.upload(v0);
            w.upload(w0);
            put_ghosts(run, v);
            put_ghosts(run, w);
            for (const double factor : {1.0, 4.0}) { // a power of two, so that products stay exact
                auto values = prolongation.values;
                for (double& value : values) value *= factor;
                p->update(values);
                p->apply(run, 1 / factor, v, 0.0, x);
                p->apply_transposed(run, 1 / factor, w, 0.0, z);
                run.flush();
                CHECK(values_of(x) == expected);
                CHECK(values_of(z) == across);
            }
        }
}

KRYLITH_GROUP_TEST("given layouts: another precision on the vectors of an operator") {
    const auto matrix = laplace_1d(60);
    const auto a = make_operator(group, matrix);
    const auto b = make_operator(a->layouts(), testing::converted<float>(matrix));
    CHECK(b->layout() == a->layout());
    const std::vector<float> ones(60, 1.0F);
    auto rhs = testing::make_range_vector(b->layout(), ones);
    auto x = b->make_range_vector();
    CHECK(cg(*b, rhs, x, {}, jacobi<float>(*b)).converged());
}

KRYLITH_GROUP_TEST("given layouts: automatic is what the vectors allow, also measured") {
    const testing::cache_folder cache;
    const auto matrix = testing::random_rectangular(90, 50, 4, 3);
    for (const coherence kind : {coherence::owned, coherence::replicated})
        for (const bool measure : {false, true}) {
            CAPTURE(measure);
            const auto layouts = make_layouts(group, equal_rows(90, group.size()),
                                              equal_rows(50, group.size()), kind);
            const auto a = make_operator(layouts, matrix, {.measure = measure});
            CHECK(a->kind()->vectors == kind);
            if (!measure)
                CHECK(a->kind() == (kind == coherence::owned ? operators::halo : operators::nz));
            CHECK((group.size() == 1) == (a->choice() == nullptr));
        }
}

KRYLITH_GROUP_TEST("rectangular operators: choices and fractions by trial") {
    const testing::cache_folder cache;
    const auto matrix = testing::random_rectangular(600, 150, 9, 3);
    const auto x0 = random_values<double>(150, 4);
    const auto expected = testing::product(matrix, 1.0, x0, 0.0, random_values<double>(600, 5));
    for (const operator_kind kind : {operators::automatic, operators::lra, operators::lra_rc}) {
        CAPTURE(name_of(kind));
        const auto a = make_operator(group, matrix, {.kind = kind, .measure = true});
        REQUIRE((group.size() == 1) == (a->choice() == nullptr));
        if (a->choice() != nullptr) CHECK(a->choice()->because != "");
        execution run(group, {});
        auto x = a->make_domain_vector();
        auto y = a->make_range_vector();
        x.upload(x0);
        put_ghosts(run, x);
        a->apply(run, 1.0, x, 0.0, y);
        run.flush();
        const auto result = values_of(y);
        for (std::size_t i = 0; i < result.size(); ++i)
            CHECK(expected[i].allows<double>(result[i]));
    }
}

TEST_CASE("given layouts that don't fit are refused") {
    const auto group = device_group::host(2);
    const auto matrix = testing::random_rectangular(9, 5, 3, 1);
    const auto owned = make_layouts(group, equal_rows(9, 2), equal_rows(5, 2), coherence::owned);
    const auto replicated =
        make_layouts(group, equal_rows(9, 2), equal_rows(5, 2), coherence::replicated);
    const auto refused = [&](const operator_layouts& layouts, const operator_options& options,
                             const char* words) {
        CHECK_THROWS_WITH_AS((void)make_operator(layouts, matrix, options), words, usage_error);
    };
    CHECK_NOTHROW((void)make_operator(owned, matrix));
    refused({owned.range, owned.domain}, {},
            "make_operator: the range layout has 5 entries, the matrix 9 rows: they must agree");
    refused(
        {owned.range, owned.range}, {},
        "make_operator: the domain layout has 9 entries, the matrix 5 columns: they must agree");
    refused({nullptr, owned.range}, {}, "make_operator: the domain layout is null");
    refused({owned.domain, nullptr}, {}, "make_operator: the range layout is null");
    refused(
        {replicated.domain, owned.range}, {},
        "make_operator: the domain layout is replicated, the range layout owned: no operator has "
        "such vectors, they must be alike");
    refused(owned, {.kind = operators::nz},
            "make_operator: operator nz has replicated vectors, those of the layouts are owned");
    refused(replicated, {.kind = operators::pcsc},
            "make_operator: operator pcsc has owned vectors, those of the layouts are replicated");
    refused(owned, {.order = orders::rcm},
            "make_operator: order rcm, but the layouts say the order of rows and columns: allowed "
            "is none");
    const auto elsewhere =
        make_layouts(device_group::host(2), equal_rows(9, 2), equal_rows(5, 2), coherence::owned);
    refused({elsewhere.domain, owned.range}, {},
            "make_operator: the domain and the range layout are of different device groups");
    const auto three = make_layouts(group, equal_rows(9, 3), equal_rows(5, 3), coherence::owned);
    refused(three, {}, "make_operator: the range layout has 3 parts for 2 devices");
}

TEST_CASE("rectangular operators refuse what needs one layout, by name and sizes") {
    const auto group = device_group::host(2);
    const auto matrix = testing::random_rectangular(9, 5, 3, 1);
    const auto a = make_operator(group, matrix);
    CHECK_THROWS_WITH_AS((void)a->layout(), "layout() needs a square matrix; A is 9 x 5",
                         usage_error);
    CHECK_THROWS_WITH_AS((void)a->size(), "layout() needs a square matrix; A is 9 x 5",
                         usage_error);
    auto y = a->make_range_vector();
    auto x = a->make_domain_vector();
    CHECK_THROWS_WITH_AS(a->diagonal(y), "diagonal() needs a square matrix; A is 9 x 5",
                         usage_error);
    CHECK_THROWS_WITH_AS((void)jacobi<double>(*a), "jacobi needs a square matrix; A is 9 x 5",
                         usage_error);
    CHECK_THROWS_WITH_AS((void)make_operator(group, matrix, {.order = orders::rcm}),
                         "order rcm needs a square matrix; A is 9 x 5", usage_error);
    CHECK_THROWS_WITH_AS((void)a->transposed(),
                         "a transposed product needs an operator that was made with "
                         "operator_options::transposed_products",
                         usage_error);
    execution run(group, {});
    auto other = a->make_domain_vector();
    CHECK_THROWS_WITH_AS(a->apply(run, 1.0, x, 0.0, other),
                         "the vectors of a product must be made by its operator: x of its domain "
                         "layout, y of its range layout",
                         usage_error);
    scalar s(run);
    const reduction_into<double> dots[] = {s = dot(y, x)};
    CHECK_THROWS_WITH_AS(a->apply(run, 1.0, x, 0.0, y, dots),
                         "the factors of a dot product of a product must be of its range layout",
                         usage_error);
    const auto b = make_operator(group, matrix, {.transposed_products = true});
    const double* const none[] = {nullptr, nullptr};
    CHECK_THROWS_WITH_AS(b->update_on_devices(none),
                         doctest::Contains("the transposed matrix has values of its own"),
                         usage_error);
    // A square matrix between two layouts is no operator of a solve either.
    const auto square = laplace_1d(9);
    const auto layouts = make_operator(group, square)->layouts();
    const auto others = make_operator(group, square)->layouts();
    const auto c = make_operator({layouts.domain, others.range}, square);
    CHECK_THROWS_WITH_AS((void)c->layout(),
                         "layout() needs one layout for x and y = A x; A, which is 9 x 9, was made "
                         "between two",
                         usage_error);
}

} // namespace krylith

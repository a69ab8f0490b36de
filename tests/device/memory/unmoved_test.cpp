// What is left of an object that was moved from: whatever uses it throws, and it may be assigned to
// and destroyed.
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/unmoved.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/graph/bfs.hpp>
#include <krylith/graph/pagerank.hpp>
#include <krylith/graph/shortest_paths.hpp>
#include <krylith/matrix/coo_assembly.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/sparse/spgemm.hpp>
#include <krylith/sparse/transpose.hpp>
#include <krylith/sparse/triangular_solver.hpp>
#include <krylith/spmspv/adaptive_product.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/streamed_product.hpp>
#include <krylith/vector/basis.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

namespace {

/// Moves the object away, checks that uses of what is left are refused, and moves it back.
template <class Object, class... Uses>
void check_moved_from(Object& object, const Uses&... uses) {
    Object other = std::move(object);
    const auto refused = [&](const auto& use) { CHECK_THROWS_AS(use(object), usage_error); };
    (refused(uses), ...); // NOLINT(bugprone-use-after-move)
    object = std::move(other);
}

const csr_matrix<double>& grid() {
    static const auto matrix = poisson2d<double>(6);
    return matrix;
}

} // namespace

TEST_CASE("moved from: a pointer that asks") {
    unmoved<std::shared_ptr<int>> here = std::make_shared<int>(4);
    CHECK(*here == 4);
    unmoved<std::shared_ptr<int>> there = std::move(here);
    CHECK(*there == 4);
    CHECK(here == nullptr); // NOLINT(bugprone-use-after-move)
    CHECK_THROWS_AS((void)*here, usage_error);
    CHECK_THROWS_AS((void)here.get(), usage_error);
}

TEST_CASE("moved from: groups stay what they were; vectors, bases and what is solved with them") {
    for (const int devices : {1, 2}) {
        auto group = device_group::host(devices);
        const auto moved = std::move(group);
        CHECK(group.size() == devices); // NOLINT(bugprone-use-after-move): it is as cheap to copy
        CHECK(group == moved);

        const auto a = make_operator(group, grid());
        auto b = a->make_range_vector();
        auto x = a->make_domain_vector();
        b.upload(std::vector<double>(36, 1));
        std::vector<double> values(36);
        using vector_of_double = vector<double>;
        const auto use_all = [&](vector_of_double& v) {
            CHECK_THROWS_AS((void)cg(*a, v, x), usage_error);
            CHECK_THROWS_AS((void)cg(*a, b, v), usage_error);
            execution run(group, {});
            CHECK_THROWS_AS(fused(run, x = v), usage_error);
            CHECK_THROWS_AS(fused(run, v = b), usage_error);
            CHECK_THROWS_AS(a->apply(run, 1, v, 0, x), usage_error);
            CHECK_THROWS_AS(a->apply(run, 1, x, 0, v), usage_error);
            v.zero();
        };
        check_moved_from(
            x, [](const vector_of_double& v) { (void)v.size(); },
            [](const vector_of_double& v) { (void)v.layout(); },
            [](const vector_of_double& v) { (void)v.data(0); },
            [&](vector_of_double& v) { v.upload(values); },
            [&](const vector_of_double& v) { v.download(values); },
            [&](const vector_of_double& v) { (void)v.overlaps(b); });
        vector_of_double other = a->make_domain_vector();
        check_moved_from(other, use_all);
        basis<double> v(2, [&] { return a->make_range_vector(); });
        check_moved_from(v, [](const basis<double>& one) { (void)one.layout(); });
        CHECK(cg(*a, b, x).converged());
    }
}

TEST_CASE("moved from: products, transpositions and triangular solves of one device") {
    const auto on = device_group::host(1).handle(0);
    device_csr<double> a(on, csr_view<double>(grid()));
    device_csr<double> c;
    spgemm<double> plan(a, a);
    check_moved_from(
        plan, [&](const spgemm<double>& p) { (void)p.multiply(a, a); },
        [&](spgemm<double>& p) { (void)p.take(a, a); },
        [](const spgemm<double>& p) { (void)p.nonzeros(); },
        [](const spgemm<double>& p) { (void)p.products(); },
        [](const spgemm<double>& p) { (void)p.bytes(); },
        [](const spgemm<double>& p) { (void)p.peak_bytes(); });
    galerkin_product<double> galerkin(a, a, a);
    check_moved_from(
        galerkin, [&](galerkin_product<double>& g) { g.refresh(a, a, a); },
        [](const galerkin_product<double>& g) { (void)g.bytes(); });
    transposition order(a);
    check_moved_from(
        order, [&](const transposition& t) { (void)t.apply(a); },
        [&](transposition& t) { (void)t.take(a); }, [](const transposition& t) { (void)t.on(); },
        [&](const transposition& t) { t.apply(a.view().values, a.values()); });
    triangular_solver<double> lower(a);
    check_moved_from(
        lower, [](triangular_solver<double>& t) { t.update(); },
        [](const triangular_solver<double>& t) { (void)t.rows(); },
        [](const triangular_solver<double>& t) { (void)t.bytes(); },
        [](triangular_solver<double>& t) { t.solve(nullptr, nullptr); });
    check_moved_from(
        a, [](const device_csr<double>& m) { (void)spgemm<double>(m, m); },
        [](const device_csr<double>& m) { (void)transposition(m); },
        [](const device_csr<double>& m) { (void)triangular_solver<double>(m); });
}

TEST_CASE("moved from: matrices over a group, their products, and streamed ones") {
    for (const int devices : {1, 2}) {
        const auto group = device_group::host(devices);
        const auto rows = equal_rows(36, devices);
        distributed_csr<double> a(group, csr_view<double>(grid()), rows, rows);
        distributed_spgemm<double> plan(a, a);
        check_moved_from(
            plan, [&](const distributed_spgemm<double>& p) { (void)p.multiply(a, a); },
            [](const distributed_spgemm<double>& p) { (void)p.bytes(); });
        distributed_transposition<double> order(a);
        check_moved_from(
            order, [&](const distributed_transposition<double>& t) { (void)t.apply(a); },
            [](const distributed_transposition<double>& t) { (void)t.bytes(); });
        distributed_galerkin<double> galerkin(a, a, a);
        check_moved_from(galerkin, [&](distributed_galerkin<double>& g) { g.refresh(a, a, a); });
        sorted_rows<double> sorted(a);
        check_moved_from(
            sorted, [&](const sorted_rows<double>& s) { (void)s.apply(a); },
            [](const sorted_rows<double>& s) { (void)s.bytes(); });
        check_moved_from(
            a, [](const distributed_csr<double>& m) { (void)m.comm(); },
            [](const distributed_csr<double>& m) { (void)distributed_spgemm<double>(m, m); },
            [](const distributed_csr<double>& m) { (void)transpose(m); });

        streamed_product<double> product(group);
        std::vector<double> x(36, 1), y(36);
        check_moved_from(
            product,
            [&](streamed_product<double>& p) {
                p(csr_view<double>(grid()), std::span<const double>(x), std::span<double>(y));
            },
            [](streamed_product<double>& p) { (void)p.kernel_seconds(); },
            [](const streamed_product<double>& p) { (void)p.group(); });
    }
}

TEST_CASE("moved from: sparse vectors, their products, and graphs") {
    using namespace spmspv;
    const auto group = device_group::host(1);
    const auto on = group.handle(0);
    const auto pair = std::make_shared<const csr_csc_pair<double>>(on, csr_view<double>(grid()));
    adaptive_product<plus_times<double>, double> product(pair);
    sparse_vector<double> x(on, 36, 0), y(on, 36, 0);
    const std::vector<std::int32_t> one{3};
    const std::vector<double> value{1};
    x.assign(std::span(one), std::span(value));
    check_moved_from(
        product, [&](adaptive_product<plus_times<double>, double>& p) { p(x, y); },
        [](const adaptive_product<plus_times<double>, double>& p) { (void)p.matrix(); },
        [](const adaptive_product<plus_times<double>, double>& p) { (void)p.model(); });
    check_moved_from(
        x, [&](sparse_vector<double>& v) { product(v, y); },
        [](sparse_vector<double>& v) { v.assign(std::vector<double>(36)); },
        [](const sparse_vector<double>& v) { (void)v.device(); },
        [](sparse_vector<double>& v) { (void)v.download_dense(); });
    csr_csc_pair<double> other(on, csr_view<double>(grid()));
    check_moved_from(
        other, [](const csr_csc_pair<double>& p) { (void)p.device(); },
        [](const csr_csc_pair<double>& p) { (void)p.handle(); },
        [&](csr_csc_pair<double>& p) { p.update(std::span(grid().values)); });

    graph<double> g(group, csr_view<double>(grid()));
    breadth_first_search<double> search(g);
    pagerank_iteration<double> ranks(g);
    check_moved_from(search, [](breadth_first_search<double>& s) { (void)s(0); });
    check_moved_from(ranks, [](pagerank_iteration<double>& p) { (void)p(); });
    auto lengths = grid();
    for (double& value : lengths.values) value = 1;
    const graph<double> positive(group, csr_view<double>(lengths));
    shortest_paths_search<double> paths(positive);
    check_moved_from(paths, [](shortest_paths_search<double>& p) { (void)p(0); });
    check_moved_from(
        g, [](const graph<double>& moved) { (void)moved.vertices(); },
        [](const graph<double>& moved) { (void)moved.group(); },
        [](const graph<double>& moved) { (void)bfs(moved, 0); });
    CHECK(search(0).reached == 36);

    const std::vector<std::int32_t> rows{0, 1, 1}, columns{0, 0, 1};
    coo_assembly assembly(2, 2, std::span(rows), std::span(columns));
    std::vector<double> values(3);
    check_moved_from(assembly, [&](const coo_assembly& moved) {
        moved.gather(std::span<const double>(values), std::span<double>(values));
    });
}

} // namespace krylith

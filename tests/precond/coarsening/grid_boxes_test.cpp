// Aggregates that are boxes of a grid's points, and the products that they make cheap.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/distributed/distributed_products.hpp>
#include <krylith/precond/coarsening/grid_product.hpp>
#include <krylith/precond/coarsening/grid_restriction.hpp>

#include <krylith/tests/precond/coarsening/coarse_spaces.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

using testing::at;
using testing::make_space;
using testing::named_matrix;
using testing::triplets;
using testing::uneven_vector;

namespace {

struct grid_case {
    const char* spec;
    std::array<std::int64_t, 3> points;
    std::array<int, 3> edges;
};

const std::vector<grid_case> grids = {
    {"poisson3d:8:6:10", {8, 6, 10}, {2, 2, 2}},
    {"poisson3d:7:5:9:random=3", {7, 5, 9}, {2, 2, 2}},
    {"poisson3d:3:3:3", {3, 3, 3}, {2, 2, 2}},
    {"poisson3d_27point:7:9:8", {7, 9, 8}, {3, 3, 3}},
    {"anisotropic3d:9:0.1", {9, 9, 9}, {3, 3, 1}},
    {"anisotropic3d:8:0.001", {8, 8, 8}, {3, 3, 1}},
    {"poisson2d:19:13", {19, 13, 1}, {3, 3, 1}},
    {"poisson2d_9point:12", {12, 12, 1}, {3, 3, 1}},
};

/// The coarse space of a matrix on a group, and what makes it.
template <class T>
struct boxes_on {
    boxes_on(const device_group& group, const csr_matrix<T>& a)
        : rows(equal_rows(a.rows, group.size())),
          matrix(group, a, rows, rows),
          v(group, rows, std::vector<T>(at(a.rows), T(1))),
          aggregates(matrix, {.boxes = true}, v.pointers()),
          p(aggregates.prolongation(matrix, v.pointers())) {}

    row_partition rows;
    distributed_csr<T> matrix;
    testing::spread_vector<T> v;
    smoothed_aggregation<T> aggregates;
    distributed_csr<T> p;
};

std::int64_t box_of(std::int64_t row, const grid_case& g) {
    std::int64_t number = 0;
    std::int64_t before = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t edge = g.edges[axis];
        number += row % g.points[axis] / edge * before;
        row /= g.points[axis];
        before *= (g.points[axis] + edge - 1) / edge;
    }
    return number;
}

/// Sets the entry of a row for another, and its mirror image, which are there.
void set_coupling(csr_matrix<double>& a, std::int64_t row, std::int64_t column, double value) {
    for (const auto& [i, j] : {std::pair(row, column), std::pair(column, row)})
        for (auto k = a.row_offsets[at(i)]; k < a.row_offsets[at(i) + 1]; ++k)
            if (a.column_indices[at(k)] == j) a.values[at(k)] = value;
}

/// The matrix with other entries besides.
csr_matrix<double> with_entries(const csr_matrix<double>& a, const triplets& others) {
    triplets all = others;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (auto k = a.row_offsets[at(i)]; k < a.row_offsets[at(i) + 1]; ++k)
            all.emplace_back(i, a.column_indices[at(k)], a.values[at(k)]);
    return testing::from_triplets(a.rows, all);
}

std::vector<named_matrix> no_grids_of_boxes() {
    std::vector<named_matrix> all;
    for (const char* spec : {"anisotropic3d:8:10", "jump_diffusion:8:1e6:seed=1", "poisson1d:40"})
        all.push_back({spec, make_gallery<double>(spec)});
    const auto grid = make_gallery<double>("poisson3d:8:6:10");
    all.push_back(
        {"a line that goes on in the next", with_entries(grid, {{7, 8, -1}, {8, 7, -1}})});
    all.push_back({"a long connection", with_entries(grid, {{5, 400, -1}, {400, 5, -1}})});
    csr_matrix<double> broken = grid;
    set_coupling(broken, 200, 201, -1e-3);
    set_coupling(broken, 200, 208, -1e-3);
    all.push_back({"two axes are weak at a point", broken});
    broken = grid;
    set_coupling(broken, 200, 248, -0.3);
    all.push_back({"one axis is weak at a point", broken});
    broken = grid;
    for (double& value : broken.values)
        if (value > 0) value += 1000;
    all.push_back({"all couplings are weak", broken});
    for (double& value : broken.values)
        if (value < 0) value = 0;
    all.push_back({"zeros", broken});
    all.push_back({"one row", testing::diagonal_matrix({3})});
    all.push_back({"no rows", csr_matrix<double>{0, 0, {0}, {}, {}}});
    return all;
}

template <class T>
void check_product(const device_group& group, const csr_matrix<T>& a) {
    boxes_on<T> on(group, a);
    const aggregation::grid_boxes* const boxes = on.aggregates.boxes();
    REQUIRE(boxes != nullptr);
    auto r = aggregation::make_grid_restriction(*boxes, on.p);
    CHECK(r.download() == transpose(on.p).download());
    distributed_galerkin<T> expected(r, on.matrix, on.p);
    auto product = aggregation::make_grid_product(*boxes, r, on.matrix, on.p);
    CHECK(product.download() == expected.result().download());
    csr_matrix<T> other = a;
    for (std::size_t k = 0; k < other.values.size(); ++k)
        other.values[k] *= T(1) + static_cast<T>(k % 7) / T(64);
    const distributed_csr<T> b(group, other, on.rows, on.rows);
    on.aggregates.refresh(b, on.v.pointers(), on.p);
    aggregation::refresh_grid_restriction(*boxes, on.p, r);
    csr_matrix<T> scaled = transpose(on.p).download();
    CHECK(r.download() == scaled);
    for (std::size_t k = 0; k < scaled.values.size(); ++k) // R may be another matrix than P'
        scaled.values[k] *= T(0.3) + static_cast<T>(k % 5);
    r = distributed_csr<T>(group, scaled, on.aggregates.coarse(), on.rows);
    expected.refresh(r, b, on.p);
    aggregation::refresh_grid_product(*boxes, r, b, on.p, product);
    CHECK(product.download() == expected.result().download());
}

} // namespace

KRYLITH_GROUP_TEST("boxes: aggregates of a grid, as coupled axes say") {
    for (const grid_case& g : grids) {
        CAPTURE(g.spec);
        const auto a = make_gallery<double>(g.spec);
        const row_partition rows = equal_rows(a.rows, group.size());
        const distributed_csr<double> matrix(group, a, rows, rows);
        smoothed_aggregation<double> aggregates(matrix, {.boxes = true});
        CHECK(aggregates.in_words() == "boxes of " + std::to_string(g.edges[0]) + " x " +
                                           std::to_string(g.edges[1]) + " x " +
                                           std::to_string(g.edges[2]));
        const testing::spread_vector<double> v(group, rows, uneven_vector<double>(a.rows));
        const csr_matrix<double> t = aggregates.tentative(matrix, v.pointers()).download();
        REQUIRE(t.row_offsets.back() == a.rows);
        std::vector<std::int64_t> lowest(at(t.columns), -1); // points of boxes
        for (std::int64_t i = 0; i < a.rows; ++i) {
            const std::int64_t box = box_of(i, g);
            CHECK(t.column_indices[at(i)] == box);
            if (lowest.at(at(box)) < 0) lowest[at(box)] = i;
        }
        CHECK(t.columns == box_of(a.rows - 1, g) + 1);
        for (std::int64_t box = 0; box < t.columns; ++box) // it belongs to the rank that owns this
            CHECK(aggregates.coarse().owner(box) == rows.owner(lowest[at(box)]));
    }
}

KRYLITH_GROUP_TEST("boxes: other matrices have the usual aggregates") {
    for (const named_matrix& c : no_grids_of_boxes()) {
        CAPTURE(c.name);
        const auto v = uneven_vector<double>(c.a.rows);
        const row_partition rows = equal_rows(c.a.rows, group.size());
        const distributed_csr<double> matrix(group, c.a, rows, rows);
        CHECK(smoothed_aggregation<double>(matrix, {.boxes = true}).in_words() == "aggregates");
        CHECK(make_space(group, c.a, {.boxes = true}, v) == make_space(group, c.a, {}, v));
    }
}

KRYLITH_GROUP_TEST("boxes: R and R (B P) have the bits of those of any matrices") {
    for (const char* spec :
         {"poisson3d:8:6:10", "poisson3d:7:5:9:random=3", "poisson3d:3:3:3", "poisson3d:3:4:3",
          "anisotropic3d:5:0.6:random=1", "poisson3d_27point:9:6:12",
          "poisson3d_27point:7:8:10:random=2", "poisson3d_27point:3:4:5", "poisson3d_27point:3:3:2",
          "poisson3d_27point:11:3:4:random=5"}) {
        CAPTURE(spec);
        check_product<double>(group, make_gallery<double>(spec));
        check_product<float>(group, make_gallery<float>(spec));
    }
}

TEST_CASE("boxes: there is no such product of other grids") {
    const device_group one = device_group::host(1);
    for (const char* spec : {"poisson2d:9", "poisson2d_9point:9", "anisotropic3d:6:0.1"}) {
        CAPTURE(spec);
        boxes_on<double> on(one, make_gallery<double>(spec));
        CHECK(on.aggregates.boxes() == nullptr);
    }
    auto a = make_gallery<double>("poisson3d_27point:6"); // an edge is weak at a point
    set_coupling(a, 50, 57, -1e-3);
    boxes_on<double> on(one, a);
    CHECK(on.aggregates.in_words() == "boxes of 3 x 3 x 3");
    CHECK(on.aggregates.boxes() == nullptr);
}

} // namespace krylith

// Aggregates of the points of a grid, which the pattern of a matrix shows.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/grid_steps.hpp>
#include <krylith/precond/coarsening/rank_numbers.hpp>

namespace krylith::aggregation {

namespace {

/// The grid of whose first point these are the columns, by stencils of 5 and 9 points in the plane,
/// 7 and 27 in space; without points where it is no such.
grid_shape shape_of(const std::vector<std::int64_t>& columns, std::int64_t points) {
    const auto are = [&](const std::vector<std::int64_t>& wanted) { return columns == wanted; };
    if (columns.size() < 3) return {};
    const std::int64_t x = columns[2];
    std::int64_t plane = points;
    if (!are({0, 1, x}) && !are({0, 1, x, x + 1})) {
        plane = columns[columns.size() / 2 + (columns.size() == 4 ? 1 : 0)];
        if (!are({0, 1, x, plane}) &&
            !are({0, 1, x, x + 1, plane, plane + 1, plane + x, plane + x + 1}))
            return {};
    }
    if (x < 3 || plane < 3 * x || plane % x != 0 || points % plane != 0) return {};
    const auto narrow = [](std::int64_t size) { return static_cast<std::uint32_t>(size); };
    return {narrow(x), narrow(plane / x), narrow(points / plane)};
}

/// The global columns of the first row, at most 9 of them. Collective; waits for its device.
template <class T>
std::vector<std::int64_t> first_columns(const distributed_csr<T>& a) {
    if (a.rows() == 0) return {};
    const int owner = a.row_owners().owner(0);
    std::vector<std::vector<std::int64_t>> columns(as_size(a.comm().ranks()));
    if (a.comm().is_local(owner)) {
        const device_csr_view<T> rows = a.block(owner).view();
        std::int64_t end = 0;
        a.comm()[owner].download(&end, rows.offsets + 1, sizeof end);
        std::vector<std::int32_t> local(as_size(std::min<std::int64_t>(end, 9)));
        a.comm()[owner].download(local.data(), rows.indices, local.size() * sizeof(std::int32_t));
        for (const std::int32_t column : local)
            columns[as_size(owner)].push_back(a.columns_of(owner).global(column));
    }
    a.comm().all_gather_lists(columns);
    return columns[as_size(owner)];
}

/// What the rows of all ranks say about the grid, as bits.
template <class T>
std::uint32_t facts_of(const distributed_csr<T>& a, const grid_shape& grid,
                       const rank_parts<T>& parts) {
    const rank_numbers<std::uint32_t> of_ranks(a.comm(), grid_facts::count, memory_item);
    for (const int rank : a.comm().local())
        visit_rows(a.comm()[rank], a.block(rank).rows(), 1,
                   grid_step{rows_of(a, parts[as_size(rank)], rank), grid, of_ranks.of(rank)});
    std::uint32_t facts = 0;
    for (const std::vector<std::uint32_t>& found : of_ranks.of_all())
        for (std::size_t bit = 0; bit < found.size(); ++bit) facts |= found[bit] << bit;
    return facts;
}

} // namespace

std::string in_words(const grid_boxes& boxes) {
    std::string words = "boxes of " + std::to_string(boxes.edges[0]);
    for (const int edge : {boxes.edges[1], boxes.edges[2]}) words += " x " + std::to_string(edge);
    return words;
}

/// Boxes have up to 3 points along axes that are coupled everywhere, of which there are two or
/// three, and 1 along those that are nowhere. They have up to 2 where rows are not coupled with all
/// corners around them: the smoothed prolongation then reaches no corner of a larger box, and a few
/// of these cost a third more iterations.
template <class T>
std::optional<grid_boxes> find_boxes(const distributed_csr<T>& a, const rank_parts<T>& parts) {
    const grid_shape grid = shape_of(first_columns(a), a.rows());
    if (grid.points() == 0) return std::nullopt;
    const std::uint32_t facts = facts_of(a, grid, parts);
    if ((facts & grid_facts::other) != 0) return std::nullopt;
    bool coupled[3];
    int axes = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const bool somewhere = (facts & (grid_facts::coupled << axis)) != 0;
        const bool everywhere = somewhere && (facts & (grid_facts::uncoupled << axis)) == 0;
        if (somewhere != everywhere) return std::nullopt;
        coupled[axis] = everywhere;
        axes += everywhere ? 1 : 0;
    }
    if (axes < 2) return std::nullopt;
    const int edge = axes == 3 && (facts & grid_facts::no_corner) != 0 ? 2 : 3;
    const grid_stencil stencil = (facts & grid_facts::oblique) == 0 ? grid_stencil::star
                                 : (facts & grid_facts::gap) == 0   ? grid_stencil::full
                                                                    : grid_stencil::other;
    return grid_boxes{
        grid, {coupled[0] ? edge : 1, coupled[1] ? edge : 1, coupled[2] ? edge : 1}, stencil};
}

template <class T>
row_partition take_boxes(const distributed_csr<T>& a, const grid_boxes& boxes,
                         rank_parts<T>& parts) {
    row_partition owners = a.row_owners();
    for (std::int64_t& begin : owners.begin) begin = boxes.first_box_from(begin);
    for (const int rank : a.comm().local()) {
        rank_part<T>& part = parts[as_size(rank)];
        const std::int64_t columns = a.columns_of(rank).count();
        part.aggregate = {a.comm().handle(rank), as_size(columns), memory_item};
        visit_rows(a.comm()[rank], columns, 1,
                   box_step{{}, a.columns_of(rank).numbers(), boxes, part.aggregate.data()});
    }
    find_used(a, owners, parts);
    return owners;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::optional<grid_boxes> find_boxes(const distributed_csr<T>&,                       \
                                                  const rank_parts<T>&);                           \
    template row_partition take_boxes(const distributed_csr<T>&, const grid_boxes&, rank_parts<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation

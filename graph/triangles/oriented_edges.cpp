#include <krylith/graph/triangles/oriented_edges.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// Calls visit(from, to) for each edge, oriented, by several threads.
template <class Visit>
void for_oriented(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                  std::span<const std::int64_t> degrees, bool both_ways, const Visit& visit) {
    const auto vertices = std::ssize(degrees);
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::int64_t i = 0; i < vertices; ++i)
        for (auto k = offsets[as_size(i)]; k < offsets[as_size(i) + 1]; ++k) {
            const std::int64_t j = columns[as_size(k)];
            const std::int64_t difference = degrees[as_size(i)] - degrees[as_size(j)];
            const bool along = difference != 0 ? difference < 0 : i < j;
            // One that is stored the other way, too, is taken from there.
            if (i == j || (both_ways && !along)) continue;
            visit(along ? i : j, along ? j : i);
        }
}

std::vector<std::int64_t> degrees_of(std::span<const std::int64_t> offsets,
                                     std::span<const std::int32_t> columns) {
    std::vector<std::int64_t> degrees(offsets.size() - 1, 0);
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < std::ssize(columns); ++k)
        add_shared(&degrees[as_size(columns[as_size(k)])], std::int64_t{1});
    for (std::size_t v = 0; v < degrees.size(); ++v) degrees[v] += offsets[v + 1] - offsets[v];
    return degrees;
}

/// Sorts the targets of each vertex, and moves those that differ together.
void sort_lists(oriented_edges& edges) {
    const auto vertices = std::ssize(edges.offsets) - 1;
    std::vector<std::int64_t> lengths(as_size(vertices));
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::int64_t v = 0; v < vertices; ++v) {
        const auto begin = edges.targets.begin() + edges.offsets[as_size(v)];
        const auto end = edges.targets.begin() + edges.offsets[as_size(v) + 1];
        if (!std::is_sorted(begin, end)) std::sort(begin, end);
        lengths[as_size(v)] = std::unique(begin, end) - begin;
    }
    std::int64_t kept = 0;
    for (std::size_t v = 0; v < lengths.size(); ++v) {
        const auto from = edges.targets.begin() + std::exchange(edges.offsets[v], kept);
        if (from != edges.targets.begin() + kept)
            std::copy_n(from, lengths[v], edges.targets.begin() + kept);
        kept += lengths[v];
    }
    edges.offsets.back() = kept;
    edges.targets.resize(as_size(kept));
}

} // namespace

oriented_edges orient(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                      bool both_ways) {
    const std::vector<std::int64_t> degrees = degrees_of(offsets, columns);
    oriented_edges edges;
    edges.offsets.assign(offsets.size(), 0);
    for_oriented(offsets, columns, degrees, both_ways, [&](std::int64_t from, std::int64_t) {
        add_shared(&edges.offsets[as_size(from) + 1], std::int64_t{1});
    });
    std::partial_sum(edges.offsets.begin(), edges.offsets.end(), edges.offsets.begin());
    edges.targets.resize(as_size(edges.offsets.back()));
    std::vector<std::int64_t> next(edges.offsets.begin(), edges.offsets.end() - 1);
    for_oriented(offsets, columns, degrees, both_ways, [&](std::int64_t from, std::int64_t to) {
        edges.targets[as_size(add_shared(&next[as_size(from)], std::int64_t{1}))] =
            static_cast<std::int32_t>(to);
    });
    sort_lists(edges);
    edges.sources.resize(edges.targets.size());
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::int64_t v = 0; v < std::ssize(next); ++v)
        std::fill(edges.sources.begin() + edges.offsets[as_size(v)],
                  edges.sources.begin() + edges.offsets[as_size(v) + 1],
                  static_cast<std::int32_t>(v));
    return edges;
}

} // namespace krylith

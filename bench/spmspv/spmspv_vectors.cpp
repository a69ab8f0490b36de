#include <krylith/bench/spmspv/spmspv_vectors.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith::bench {

std::vector<std::int32_t> draw_ascending(std::int64_t n, std::int64_t count, std::uint64_t seed) {
    std::vector<std::int32_t> result;
    result.reserve(static_cast<std::size_t>(count));
    // This is algorithm S of Knuth, The Art of Computer Programming 2, 3.4.2.
    for (std::int64_t i = 0; i < n && count > 0; ++i) {
        const double chance = unit_interval(counter_hash(seed, static_cast<std::uint64_t>(i)));
        if (static_cast<double>(n - i) * chance < static_cast<double>(count)) {
            result.push_back(static_cast<std::int32_t>(i));
            --count;
        }
    }
    return result;
}

std::vector<std::int32_t> breadth_first(const csr_view<float>& a, std::int64_t count,
                                        std::uint64_t seed) {
    const csc_matrix<float> columns = to_csc(a);
    const auto n = static_cast<std::size_t>(a.columns);
    std::vector<bool> seen(n, false);
    std::vector<std::int32_t> order;
    order.reserve(static_cast<std::size_t>(count));
    const auto visit = [&](std::size_t vertex) {
        if (!seen[vertex] && order.size() < static_cast<std::size_t>(count)) {
            seen[vertex] = true;
            order.push_back(static_cast<std::int32_t>(vertex));
        }
    };
    const auto first = static_cast<std::size_t>(counter_hash(seed, 0) % n);
    std::size_t next = 0; // the next of `order` to be expanded
    for (std::size_t step = 0; order.size() < static_cast<std::size_t>(count); ++step) {
        visit((first + step) % n);
        for (; next < order.size(); ++next) {
            const auto column = static_cast<std::size_t>(order[next]);
            const auto end = static_cast<std::size_t>(columns.column_offsets[column + 1]);
            for (auto k = static_cast<std::size_t>(columns.column_offsets[column]); k < end; ++k) {
                visit(static_cast<std::size_t>(columns.row_indices[k]));
            }
        }
    }
    return order;
}

std::vector<test_vector> make_vectors(const csr_view<float>& a, std::span<const vector_kind> kinds,
                                      std::span<const double> densities, std::uint64_t seed) {
    std::vector<test_vector> result;
    std::set<std::int64_t> counts;
    for (const double density : densities) {
        const auto entries = std::llround(density * static_cast<double>(a.columns));
        if (a.columns > 0) {
            counts.insert(std::clamp<std::int64_t>(entries, 1, a.columns));
        }
    }
    for (const vector_kind kind : kinds) {
        if (kind == vector_kind::random) {
            for (const std::int64_t count : counts) {
                const auto own = counter_hash(seed, static_cast<std::uint64_t>(count));
                result.push_back({kind, draw_ascending(a.columns, count, own), true});
            }
            continue;
        }
        if (a.rows != a.columns || counts.empty()) {
            continue;
        }
        if (kinds.size() > 1) {
            counts.erase(a.columns);
        }
        if (counts.empty()) {
            continue;
        }
        const std::vector<std::int32_t> order = breadth_first(a, *counts.rbegin(), seed);
        for (const std::int64_t count : counts) {
            std::vector<std::int32_t> nearest(order.begin(), order.begin() + count);
            const bool ascending = std::ranges::is_sorted(nearest);
            result.push_back({kind, std::move(nearest), ascending});
        }
    }
    return result;
}

} // namespace krylith::bench

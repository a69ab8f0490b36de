#include <krylith/bench/graph/graph_check.hpp>

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace krylith::bench {

namespace {

template <class Visit>
void for_edges(const csr_matrix<float>& a, const Visit& visit) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            visit(i, static_cast<std::size_t>(a.column_indices[k]), a.values[k]);
        }
    }
}

/// Checks distances. With `Levels` every edge has the length 1.
template <bool Levels>
std::string check_lengths(const csr_matrix<float>& a, std::int64_t source,
                          std::span<const float> distances) {
    if (std::ssize(distances) != a.rows) {
        return fmt::format("{} results for {} vertices", distances.size(), a.rows);
    }
    const auto start = static_cast<std::size_t>(source);
    if (distances[start] != 0) {
        return fmt::format("the source is at {}", distances[start]);
    }
    std::vector<char> explained(distances.size(), 0);
    explained[start] = 1;
    std::string wrong;
    for_edges(a, [&](std::size_t from, std::size_t to, float weight) {
        if (std::isinf(distances[from])) {
            return;
        }
        const float by_edge = distances[from] + (Levels ? 1.0F : weight);
        if (by_edge < distances[to] && wrong.empty()) {
            wrong = fmt::format("vertex {} is at {}, by the edge from {} at {}", to, distances[to],
                                from, by_edge);
        }
        explained[to] |= by_edge == distances[to] ? 1 : 0;
    });
    for (std::size_t i = 0; i < distances.size() && wrong.empty(); ++i) {
        if (!std::isinf(distances[i]) && explained[i] == 0) {
            wrong = fmt::format("no edge explains that vertex {} is at {}", i, distances[i]);
        }
    }
    return wrong;
}

} // namespace

std::string check_levels(const csr_matrix<float>& a, std::int64_t source,
                         std::span<const std::int32_t> levels) {
    std::vector<float> distances; // exact: levels are below 2^24
    for (const std::int32_t level : levels) {
        distances.push_back(level < 0 ? std::numeric_limits<float>::infinity()
                                      : static_cast<float>(level));
    }
    return check_lengths<true>(a, source, distances);
}

std::string check_distances(const csr_matrix<float>& a, std::int64_t source,
                            std::span<const float> distances) {
    return check_lengths<false>(a, source, distances);
}

std::string check_ranks(const csr_matrix<float>& a, double damping, std::span<const float> ranks,
                        double bound) {
    const auto n = static_cast<double>(ranks.size());
    std::vector<double> next(ranks.size(), 0.0);
    double jumping = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const bool dangling = a.row_offsets[i] == a.row_offsets[i + 1];
        jumping += dangling ? ranks[i] : (1 - damping) * ranks[i];
    }
    for_edges(a, [&](std::size_t from, std::size_t to, float) {
        next[to] += damping * ranks[from] /
                    static_cast<double>(a.row_offsets[from + 1] - a.row_offsets[from]);
    });
    double change = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        change += std::fabs(next[i] + jumping / n - ranks[i]);
    }
    return change <= 2 * bound + 2e-5
               ? std::string()
               : fmt::format("a step more changes ranks by {:.1e}, their bound is {:.1e}", change,
                             bound);
}

} // namespace krylith::bench

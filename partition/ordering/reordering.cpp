#include <krylith/partition/ordering/reordering.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/partition/ordering/symmetric_graph.hpp>

namespace krylith {

namespace {

/// Breadth-first searches of one graph, over vertices that have no number yet.
class level_search {
public:
    explicit level_search(const symmetric_graph& graph)
        : graph_(graph), seen_(static_cast<std::size_t>(graph.vertices()), 0) {}

    struct levels {
        std::int64_t depth;  ///< the last level's
        std::int32_t narrow; ///< a vertex of least degree there, the first of several
    };

    levels from(std::int32_t root) {
        ++round_;
        reached_.assign(1, root);
        seen_[static_cast<std::size_t>(root)] = round_;
        std::size_t begin = 0;
        for (std::int64_t depth = 0;; ++depth) {
            const std::size_t end = reached_.size();
            for (std::size_t i = begin; i < end; ++i)
                for (const std::int32_t other : graph_.of(reached_[i])) {
                    auto& mark = seen_[static_cast<std::size_t>(other)];
                    if (mark == round_) continue;
                    mark = round_;
                    reached_.push_back(other);
                }
            if (reached_.size() == end) return {depth, narrowest(begin)};
            begin = end;
        }
    }

private:
    [[nodiscard]] std::int32_t narrowest(std::size_t begin) const {
        return *std::min_element(reached_.begin() + static_cast<std::ptrdiff_t>(begin),
                                 reached_.end(), [&](std::int32_t a, std::int32_t b) {
                                     return std::pair(graph_.degree(a), a) <
                                            std::pair(graph_.degree(b), b);
                                 });
    }

    const symmetric_graph& graph_;
    std::vector<std::int64_t> seen_; ///< the round in which a vertex was reached last
    std::vector<std::int32_t> reached_;
    std::int64_t round_ = 0;
};

/// Finds a vertex about as far from another as any two of its component are. Each search goes
/// deeper than the one before; four have been enough wherever it was tried, eight bound the cost.
std::int32_t far_vertex(level_search& search, std::int32_t start) {
    constexpr int most_searches = 8;
    auto now = search.from(start);
    for (int k = 1; k < most_searches; ++k) {
        const auto next = search.from(now.narrow);
        if (next.depth <= now.depth) break;
        now = next;
    }
    return now.narrow;
}

void number_component(const symmetric_graph& graph, std::int32_t root,
                      std::vector<std::uint8_t>& numbered, std::vector<std::int32_t>& order) {
    std::size_t next = order.size();
    order.push_back(root);
    numbered[static_cast<std::size_t>(root)] = 1;
    for (; next < order.size(); ++next) {
        const auto begin = static_cast<std::ptrdiff_t>(order.size());
        for (const std::int32_t other : graph.of(order[next])) {
            auto& mark = numbered[static_cast<std::size_t>(other)];
            if (mark != 0) continue;
            mark = 1;
            order.push_back(other);
        }
        std::stable_sort(order.begin() + begin, order.end(), [&](std::int32_t a, std::int32_t b) {
            return graph.degree(a) < graph.degree(b);
        });
    }
}

template <class Place>
std::int64_t widest(std::span<const std::int64_t> row_offsets,
                    std::span<const std::int32_t> column_indices, const Place& place) {
    std::int64_t most = 0;
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row)
        for (auto k = static_cast<std::size_t>(row_offsets[row]);
             k < static_cast<std::size_t>(row_offsets[row + 1]); ++k)
            most = std::max(
                most, std::abs(place(row) - place(static_cast<std::size_t>(column_indices[k]))));
    return most;
}

} // namespace

void check(const permutation& order) {
    if (order.source.size() != order.place.size())
        throw usage_error("a permutation has " + std::to_string(order.source.size()) +
                          " sources, but " + std::to_string(order.place.size()) + " places");
    for (std::size_t i = 0; i < order.source.size(); ++i) {
        const auto from = static_cast<std::size_t>(order.source[i]);
        if (order.source[i] < 0 || from >= order.place.size() ||
            order.place[from] != static_cast<std::int32_t>(i))
            throw usage_error("not a permutation: new place " + std::to_string(i) +
                              " comes from old place " + std::to_string(order.source[i]) +
                              ", which goes elsewhere or doesn't exist");
    }
}

permutation reverse_cuthill_mckee(std::span<const std::int64_t> row_offsets,
                                  std::span<const std::int32_t> column_indices) {
    return reverse_cuthill_mckee(make_symmetric_graph(row_offsets, column_indices));
}

permutation reverse_cuthill_mckee(const symmetric_graph& graph) {
    const auto n = static_cast<std::size_t>(graph.vertices());
    permutation result;
    result.source.reserve(n);
    std::vector<std::uint8_t> numbered(n, 0);
    level_search search(graph);
    for (std::size_t v = 0; v < n; ++v) {
        if (numbered[v] != 0) continue;
        const auto start = static_cast<std::int32_t>(v);
        const std::int32_t root = graph.degree(start) == 0 ? start : far_vertex(search, start);
        number_component(graph, root, numbered, result.source);
    }
    std::reverse(result.source.begin(), result.source.end());
    result.place.resize(n);
    for (std::size_t i = 0; i < n; ++i)
        result.place[static_cast<std::size_t>(result.source[i])] = static_cast<std::int32_t>(i);
    return result;
}

std::int64_t bandwidth(std::span<const std::int64_t> row_offsets,
                       std::span<const std::int32_t> column_indices, const permutation& order) {
    return widest(row_offsets, column_indices,
                  [&](std::size_t i) { return std::int64_t{order.place[i]}; });
}

std::int64_t bandwidth(std::span<const std::int64_t> row_offsets,
                       std::span<const std::int32_t> column_indices) {
    return widest(row_offsets, column_indices,
                  [](std::size_t i) { return static_cast<std::int64_t>(i); });
}

} // namespace krylith

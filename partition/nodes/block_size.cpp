#include <krylith/partition/nodes/block_size.hpp>

#include <algorithm>
#include <cstddef>

namespace krylith {

namespace detail {

namespace {

constexpr std::int64_t window_count = 8;
constexpr std::int64_t window_rows = 60; ///< the least common multiple of all sizes
constexpr std::int64_t most_columns = 1 << 16;

/// The nodes of columns, ascending; `shift` more columns stand before the first.
void take_nodes(std::span<const std::int32_t> columns, std::size_t size, std::size_t shift,
                std::vector<std::int32_t>& nodes) {
    nodes.clear();
    for (const std::int32_t column : columns) {
        const auto node = static_cast<std::int32_t>((column + static_cast<std::int64_t>(shift)) /
                                                    static_cast<std::int64_t>(size));
        if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
    }
    if (std::ranges::is_sorted(nodes)) return;
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

} // namespace

block_size_search::block_size_search(std::int64_t rows) : rows_(rows) {
    if (rows <= window_count * window_rows) {
        windows_.push_back({0, rows});
        return;
    }
    for (std::int64_t k = 0; k < window_count; ++k) {
        const std::int64_t begin = rows / window_count * k / window_rows * window_rows;
        windows_.push_back({begin, begin + window_rows});
    }
}

std::int64_t block_size_search::enough(std::span<const std::int64_t> offsets) {
    std::size_t rows = 0;
    while (rows + 1 < offsets.size() && offsets[rows + 1] >= offsets[rows] &&
           offsets[rows + 1] - offsets[0] <= most_columns)
        ++rows;
    return static_cast<std::int64_t>(rows);
}

void block_size_search::look_at(std::int64_t first, std::span<const std::int64_t> offsets,
                                std::span<const std::int32_t> columns) {
    std::vector<std::span<const std::int32_t>> rows;
    for (std::size_t k = 0; k + 1 < offsets.size(); ++k)
        rows.push_back(columns.subspan(static_cast<std::size_t>(offsets[k] - offsets[0]),
                                       static_cast<std::size_t>(offsets[k + 1] - offsets[k])));
    for (std::size_t size = 2; size <= most; ++size)
        for (std::size_t begin : {0, 1}) {
            const std::size_t place = static_cast<std::size_t>(first) % size;
            for (std::size_t node = (size + begin - place) % size; node + size <= rows.size();
                 node += size)
                look_at_node(std::span(rows).subspan(node, size), begin == 0 ? 0 : size - 1,
                             tallies_[size][begin]);
        }
}

/// Compares each row of several entries with the first of these.
void block_size_search::look_at_node(std::span<const std::span<const std::int32_t>> rows,
                                     std::size_t shift, tally& found) {
    expected_.clear();
    for (const auto& row : rows) {
        if (row.size() < 2) continue;
        take_nodes(row, rows.size(), shift, nodes_);
        found.entries += static_cast<std::int64_t>(row.size());
        found.places += static_cast<std::int64_t>(rows.size() * nodes_.size());
        if (expected_.empty()) {
            expected_.swap(nodes_);
            continue;
        }
        ++found.rows;
        if (nodes_ != expected_) ++found.other;
    }
}

int block_size_search::block_size() const {
    for (int size = most; size > 1; --size) {
        const auto& [aligned, shifted] = tallies_[static_cast<std::size_t>(size)];
        if (rows_ % size == 0 && aligned.of_nodes() && !shifted.of_nodes()) return size;
    }
    return 1;
}

bool block_size_search::excludes_nodes() const {
    const auto excluded = [&](std::size_t size) {
        return rows_ % static_cast<std::int64_t>(size) != 0 ||
               10 * tallies_[size][0].other > window_count * window_rows;
    };
    for (std::size_t size = 2; size <= most; ++size)
        if (!excluded(size)) return false;
    return true;
}

} // namespace detail

int find_block_size(std::int64_t rows, const read_window& read) {
    detail::block_size_search search(rows);
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
    for (const row_range& window : search.windows()) {
        read(window, offsets, columns);
        search.look_at(window.begin, offsets, columns);
        if (search.excludes_nodes()) break;
    }
    return search.block_size();
}

template <class T>
int find_block_size(const csr_view<T>& matrix) {
    if (static_cast<std::int64_t>(matrix.row_offsets.size()) != matrix.rows + 1) return 1;
    const auto entries = static_cast<std::int64_t>(matrix.column_indices.size());
    detail::block_size_search search(matrix.rows);
    for (const row_range& window : search.windows()) {
        auto offsets = matrix.row_offsets.subspan(static_cast<std::size_t>(window.begin),
                                                  static_cast<std::size_t>(window.size() + 1));
        const std::int64_t rows = search.enough(offsets);
        offsets = offsets.first(static_cast<std::size_t>(rows + 1));
        if (offsets.front() < 0 || offsets.back() > entries) return 1; // no matrix
        search.look_at(window.begin, offsets,
                       matrix.column_indices.subspan(
                           static_cast<std::size_t>(offsets.front()),
                           static_cast<std::size_t>(offsets.back() - offsets.front())));
        if (search.excludes_nodes()) break;
    }
    return search.block_size();
}

#define KRYLITH_INSTANTIATE(T) template int find_block_size(const csr_view<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

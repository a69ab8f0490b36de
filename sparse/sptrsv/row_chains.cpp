#include <krylith/sparse/sptrsv/row_chains.hpp>

#include <algorithm>

namespace krylith {

namespace {

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Chains in natural order of solving: the place where each begins there, and its level.
struct found_chains {
    std::int64_t depth = 0;
    std::vector<std::int64_t> first;
    std::vector<std::int32_t> levels;
};

template <class T>
found_chains find_chains(const triangle_source<T>& a, std::int64_t longest) {
    found_chains found;
    std::vector<std::int32_t> row_levels(index(a.rows));
    std::vector<std::int32_t> chain_of(index(a.rows));
    for (std::int64_t place = 0; place < a.rows; ++place) {
        const std::int64_t row = a.row_at(place);
        const std::int64_t before = place > 0 ? a.row_at(place - 1) : -1;
        bool continues = false;
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k)
            continues = continues || a.indices[k] == before;
        if (!continues || place - found.first.back() >= longest) {
            found.first.push_back(place);
            found.levels.push_back(0);
        }
        const auto chain = static_cast<std::int32_t>(found.first.size()) - 1;
        chain_of[index(row)] = chain;
        std::int32_t& level = found.levels.back();
        std::int32_t own = 0;
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
            const std::int64_t column = a.indices[k];
            if (!a.depends(row, column)) continue;
            own = std::max(own, row_levels[index(column)] + 1);
            const std::int32_t other = chain_of[index(column)];
            if (other != chain) level = std::max(level, found.levels[index(other)] + 1);
        }
        row_levels[index(row)] = own;
        found.depth = std::max<std::int64_t>(found.depth, own + 1);
    }
    found.first.push_back(a.rows);
    return found;
}

} // namespace

template <class T>
rows_by_chain sort_chains(const triangle_source<T>& a, std::int64_t longest) {
    rows_by_chain result;
    if (a.rows == 0) return result;
    const found_chains found = find_chains(a, longest);
    result.depth = found.depth;
    const std::int32_t highest = *std::max_element(found.levels.begin(), found.levels.end());
    result.levels.assign(index(highest) + 2, 0);
    for (const std::int32_t level : found.levels) ++result.levels[index(level) + 1];
    for (std::size_t l = 1; l < result.levels.size(); ++l) result.levels[l] += result.levels[l - 1];
    std::vector<std::int64_t> next(result.levels.begin(), result.levels.end() - 1);
    std::vector<std::int64_t> sorted(found.levels.size());
    for (std::size_t c = 0; c < sorted.size(); ++c)
        sorted[index(next[index(found.levels[c])]++)] = static_cast<std::int64_t>(c);
    result.order.reserve(index(a.rows));
    result.chains.reserve(sorted.size() + 1);
    for (const std::int64_t c : sorted) {
        for (std::int64_t p = found.first[index(c)]; p < found.first[index(c) + 1]; ++p)
            result.order.push_back(static_cast<std::int32_t>(a.row_at(p)));
        result.chains.push_back(static_cast<std::int64_t>(result.order.size()));
    }
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template rows_by_chain sort_chains(const triangle_source<T>&, std::int64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

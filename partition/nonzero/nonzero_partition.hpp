// Which nonzeros each part holds, where a part is a range of the entries as they lie in memory and
// may begin and end within a row: parts are equal whatever the rows are.
// (Chen et al., MSREP: A Fast yet Light Sparse Matrix Framework for Multi-GPU Systems,
// arXiv:2209.07552.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

/// Part k holds the entries [begin[k], begin[k + 1]); none where both are equal. Any values can be
/// stored; check() says whether they are a partition.
struct nonzero_partition {
    std::vector<std::int64_t> begin{0}; ///< parts + 1 numbers, from 0 to the number of entries

    [[nodiscard]] int parts() const noexcept {
        return begin.empty() ? 0 : static_cast<int>(begin.size() - 1);
    }
    [[nodiscard]] std::int64_t entries() const noexcept { return begin.empty() ? 0 : begin.back(); }

    friend bool operator==(const nonzero_partition&, const nonzero_partition&) = default;
};

/// begin[k] = floor(k entries / parts): sizes differ by at most one. O(parts). Throws usage_error
/// unless entries >= 0 and parts >= 1.
[[nodiscard]] nonzero_partition equal_entries(std::int64_t entries, int parts);

/// Throws usage_error naming the first violation: at least one part, begins at 0, never descends,
/// ends at `entries`. O(parts).
void check(const nonzero_partition& partition, std::int64_t entries);

} // namespace krylith

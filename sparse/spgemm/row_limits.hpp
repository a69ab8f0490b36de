// Which rows of a product know the places of their products, and which are giant: so long that all
// blocks of a GPU work on one at a time.
#pragma once

#include <cstdint>

namespace krylith {

/// Plain data for kernels.
struct row_limits {
    /// A row of more products than these is marked by the whole GPU.
    std::int64_t products = std::int64_t{1} << 22;
    /// So is one whose entries, times the ranges of columns, are more than these.
    std::int64_t searches = std::int64_t{1} << 20;
    /// Where entries of a row of A times chunks of its row of C are more than these, and than 8
    /// times its products, the products of a giant row are sorted.
    std::int64_t chunk_searches = std::int64_t{1} << 28;
    /// So many products are sorted at a time.
    std::int64_t sorted_products = std::int64_t{1} << 22;
    /// Whether rows keep places at all.
    bool places = true;
    /// So many wide rows at least keep the columns that the symbolic phase finds; it looks at a
    /// fourth as many first.
    std::int64_t pooled_rows = 4096;
    /// Entries of C that a warp adds up where it searches for their places.
    int chunk = 512;
    /// Where so many rows at least may gain by a kernel that only some matrices suit, it is tried
    /// with a sample of them first; of rows of thousands of products, an eighth as many.
    std::int64_t sampled_rows = std::int64_t{1} << 16;
};

/// The limits in force: those above, or less while a test mocks them.
[[nodiscard]] row_limits limits_of_rows() noexcept;

/// Lets a test reach giant rows with small data: while it lives, these limits hold in the whole
/// process.
class mocked_row_limits {
public:
    explicit mocked_row_limits(const row_limits& limits) noexcept;
    ~mocked_row_limits();
    mocked_row_limits(const mocked_row_limits&) = delete;
    mocked_row_limits& operator=(const mocked_row_limits&) = delete;
};

} // namespace krylith

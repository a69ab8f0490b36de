// The columns of one short row of a product on the host, sorted as they are taken out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/spgemm/column_ranks.hpp>

namespace krylith::host {

/// A mark for each column: the last row that had it. What is stored does not depend on what was
/// there, so that no load waits for the store before it, as with a bit in a word; marks take 32
/// times the memory of bits.
class marked_columns {
public:
    /// A row may have so many products.
    static constexpr std::int64_t most_products = 64;

    explicit marked_columns(std::int64_t columns) : columns_(as_size(columns)) {}

    /// Begins the next row.
    void begin() {
        count_ = 0;
        if (++row_ > 1) return;
        marks_.assign(columns_, 0); // before the first row, and where all numbers of rows were used
        row_ = 1;
    }

    void insert(const std::int32_t* begin, const std::int32_t* end) {
        std::uint32_t* const marks = marks_.data();
        const std::uint32_t row = row_;
        std::size_t count = count_;
        for (const std::int32_t* at = begin; at != end; ++at) {
            list_[count] = *at;
            count += marks[*at] != row ? 1 : 0;
            marks[*at] = row;
        }
        count_ = count;
    }

    /// Writes the columns, ascending, and returns where they end.
    std::int32_t* take(std::int32_t* to) {
        for_each_rank(list_, count_,
                      [&](std::size_t k, std::int32_t place) { to[place] = list_[k]; });
        return to + count_;
    }

private:
    std::size_t columns_;
    std::vector<std::uint32_t> marks_;
    std::int32_t list_[most_products + column_lanes] = {};
    std::size_t count_ = 0;
    std::uint32_t row_ = 0;
};

} // namespace krylith::host

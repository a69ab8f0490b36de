#include <krylith/partition/row_partition.hpp>

#include <krylith/device/error.hpp>
#include <krylith/partition/balance/fraction.hpp>

#include <algorithm>
#include <string>

namespace krylith {
namespace {

using std::to_string;

// Blocks of `alignment` rows, at whose starts boundaries are chosen; the last block may be shorter.
class row_blocks {
public:
    row_blocks(std::int64_t rows, std::int64_t alignment)
        : rows_(rows),
          alignment_(alignment),
          count_(rows / alignment + (rows % alignment != 0 ? 1 : 0)) {}

    std::int64_t count() const { return count_; }

    // The product is formed only below count, where it can't overflow.
    std::int64_t row(std::int64_t block) const {
        return block < count_ ? block * alignment_ : rows_;
    }

    // Returns the first of 0..count for which `reached` holds, count + 1 if there is none.
    template <class Predicate>
    std::int64_t first(Predicate reached) const {
        std::int64_t low = 0;
        std::int64_t high = count_ + 1;
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            if (reached(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

private:
    std::int64_t rows_;
    std::int64_t alignment_;
    std::int64_t count_;
};

void require_sizes(const char* who, std::int64_t rows, int ranks, std::int64_t alignment) {
    const auto refuse = [who](const char* name, std::int64_t value, const char* allowed) {
        throw usage_error(std::string(who) + ": " + name + " is " + to_string(value) +
                          ", must be " + allowed);
    };
    if (rows < 0) {
        refuse("rows", rows, "0 or more");
    }
    if (ranks < 1) {
        refuse("ranks", ranks, "1 or more");
    }
    if (alignment < 1) {
        refuse("alignment", alignment, "1 or more");
    }
}

} // namespace

row_range row_partition::owned(int rank) const {
    if (rank < 0 || rank >= ranks()) {
        throw usage_error("row_partition::owned: rank is " + to_string(rank) +
                          ", must be 0 or more and below " + to_string(ranks()));
    }
    const auto k = static_cast<std::size_t>(rank);
    return {begin[k], begin[k + 1]};
}

int row_partition::owner(std::int64_t row) const {
    if (row < 0 || row >= rows()) {
        throw usage_error("row_partition::owner: row is " + to_string(row) +
                          ", must be 0 or more and below " + to_string(rows()));
    }
    // Equal entries stand for empty ranks; the last of them starts the rank with the row.
    return static_cast<int>(std::ranges::upper_bound(begin, row) - begin.begin()) - 1;
}

row_partition equal_rows(std::int64_t rows, int ranks, std::int64_t alignment) {
    require_sizes("equal_rows", rows, ranks, alignment);
    const row_blocks blocks(rows, alignment);
    row_partition result;
    for (int k = 1; k <= ranks; ++k) {
        result.begin.push_back(blocks.row(fraction_of(blocks.count(), k, ranks)));
    }
    return result;
}

row_partition equal_nonzeros(std::span<const std::int64_t> row_offsets, int ranks,
                             std::int64_t alignment) {
    if (row_offsets.empty()) {
        throw usage_error("equal_nonzeros: row_offsets has 0 entries, must have rows + 1");
    }
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    require_sizes("equal_nonzeros", rows, ranks, alignment);
    const std::int64_t start = row_offsets.front();
    if (start < 0 || row_offsets.back() < start) {
        throw input_error("equal_nonzeros: row_offsets runs from " + to_string(start) + " to " +
                          to_string(row_offsets.back()) + ", must ascend from 0 or more");
    }
    return equal_nonzeros(
        rows, [&](std::int64_t row) { return row_offsets[static_cast<std::size_t>(row)] - start; },
        ranks, alignment);
}

row_partition
equal_nonzeros(std::int64_t rows,
               const std::function<std::int64_t(std::int64_t row)>& nonzeros_before_row, int ranks,
               std::int64_t alignment) {
    require_sizes("equal_nonzeros", rows, ranks, alignment);
    const std::int64_t nnz = nonzeros_before_row(rows);
    const row_blocks blocks(rows, alignment);
    const auto nonzeros_before = [&](std::int64_t block) {
        return nonzeros_before_row(blocks.row(block));
    };

    row_partition result;
    for (int k = 1; k < ranks; ++k) {
        const std::int64_t target = fraction_of(nnz, k, ranks);
        const std::int64_t above =
            blocks.first([&](std::int64_t block) { return nonzeros_before(block) >= target; });
        std::int64_t nearest = nonzeros_before(above);
        // A tie goes down for every k: were it up for one and down for the next, a rank could
        // exceed its fraction by more than the largest row.
        if (above > 0 && target - nonzeros_before(above - 1) <= nearest - target) {
            nearest = nonzeros_before(above - 1);
        }
        // All boundaries of this run of empty rows balance equally well.
        const std::int64_t first =
            blocks.first([&](std::int64_t block) { return nonzeros_before(block) >= nearest; });
        const std::int64_t last =
            blocks.first([&](std::int64_t block) { return nonzeros_before(block) > nearest; }) - 1;
        const std::int64_t even = fraction_of(blocks.count(), k, ranks);
        const std::int64_t boundary = blocks.row(std::max(first, std::min(even, last)));
        // This is needed only if the offsets descend somewhere.
        result.begin.push_back(std::max(result.begin.back(), boundary));
    }
    result.begin.push_back(rows);
    return result;
}

void check(const row_partition& partition, std::int64_t rows) {
    const auto& begin = partition.begin;
    if (begin.size() < 2) {
        throw usage_error("row_partition: begin has " + to_string(begin.size()) +
                          " entries, must have ranks + 1 with at least 1 rank");
    }
    if (begin.front() != 0) {
        throw usage_error("row_partition: begin[0] is " + to_string(begin.front()) + ", must be 0");
    }
    for (std::size_t k = 1; k < begin.size(); ++k) {
        if (begin[k] < begin[k - 1]) {
            throw usage_error("row_partition: begin[" + to_string(k) + "] is " +
                              to_string(begin[k]) + ", must not be below begin[" +
                              to_string(k - 1) + "], which is " + to_string(begin[k - 1]));
        }
    }
    if (begin.back() != rows) {
        throw usage_error("row_partition: begin[" + to_string(begin.size() - 1) + "] is " +
                          to_string(begin.back()) + ", must be the number of rows, " +
                          to_string(rows));
    }
}

} // namespace krylith

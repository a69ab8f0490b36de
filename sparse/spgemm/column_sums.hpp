// The columns and sums of one row of a product on the host, sorted as they are taken out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/spgemm/column_ranks.hpp>
#include <krylith/sparse/spgemm/column_set.hpp>

namespace krylith::host {

/// A sum and a mark for each column: the last row that had it. Addresses depend on columns alone,
/// so that no load waits for a product before it, and nothing branches on whether a column is new,
/// since no processor could predict it.
template <class T>
class column_sums {
public:
    explicit column_sums(std::int64_t columns) : set_(columns), all_columns_(as_size(columns)) {}

    /// Begins a row of at most so many different columns.
    void begin(std::size_t most) {
        if (columns_.size() < most + padding) columns_.resize(2 * most + padding);
        count_ = 0;
        if (++row_ > 1) return;
        sums_.assign(all_columns_, {}); // before the first row, and where all numbers were used
        row_ = 1;
    }

    /// Adds to the sum of a column, which is 0 at first.
    void add(std::int32_t column, T term) {
        marked_sum& to = sums_[as_size(column)];
        columns_[count_] = column;
        count_ += to.row != row_ ? 1 : 0;
        to.row = row_;
        to.sum += term;
    }

    /// Adds factor b for the entries [begin, end) of a row of B, whose columns differ.
    void add(const std::int32_t* begin, const std::int32_t* end, const T* b, T factor) {
        marked_sum* const sums = sums_.data();
        std::int32_t* const columns = columns_.data();
        const std::uint32_t row = row_;
        std::size_t count = count_;
        for (const std::int32_t* entry = begin; entry != end; ++entry, ++b) {
            const std::int32_t column = *entry;
            marked_sum& to = sums[column];
            columns[count] = column;
            count += to.row != row ? 1 : 0;
            to.row = row;
            const T product = factor * *b;
            to.sum += product;
        }
        count_ = count;
    }

    /// Writes the columns, ascending, and their sums, and returns how many there are.
    std::size_t take(std::int32_t* to, T* values) {
        if (count_ <= most_ranked)
            take_ranked(to, values);
        else
            take_many(to, values);
        return count_;
    }

    /// Calls body(column, sum) for the columns, in the order in which they came.
    template <class Body>
    void drain(const Body& body) {
        for (std::size_t k = 0; k < count_; ++k) body(columns_[k], take_sum(columns_[k]));
    }

private:
    static constexpr std::size_t padding = column_lanes;
    static constexpr std::size_t most_ranked = 64;

    struct marked_sum {
        T sum = 0; ///< 0 between rows
        std::uint32_t row = 0;
    };

public:
    /// Beside those of its column_set.
    static constexpr std::int64_t bytes_a_column = sizeof(marked_sum);

private:
    /// Returns the sum of a column, and leaves 0.
    T take_sum(std::int32_t column) {
        T& sum = sums_[as_size(column)].sum;
        const T value = sum;
        sum = 0;
        return value;
    }

    void take_ranked(std::int32_t* to, T* values) {
        for_each_rank(columns_.data(), count_, [&](std::size_t k, std::int32_t place) {
            to[place] = columns_[k];
            values[place] = take_sum(columns_[k]);
        });
    }

    void take_many(std::int32_t* to, T* values) {
        set_.begin(count_);
        set_.insert(columns_.data(), columns_.data() + count_);
        // It writes some columns beyond those that there are, for which columns_ has room.
        set_.take(columns_.data());
        for (std::size_t k = 0; k < count_; ++k) {
            to[k] = columns_[k];
            values[k] = take_sum(columns_[k]);
        }
    }

    column_set set_;
    std::size_t all_columns_;
    std::vector<marked_sum> sums_;      ///< of each column
    std::vector<std::int32_t> columns_; ///< of the row, as they came
    std::size_t count_ = 0;
    std::uint32_t row_ = 0;
};

} // namespace krylith::host

// Steps that put the rows of two matrices together: one row at a time, on hosts and GPUs
// (device/loops/visit_rows.hpp has what a step is).
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith {

/// Rows whose columns ascend.
struct ascending_rows {
    const std::int64_t* offsets = nullptr; ///< [rows + 1]
    const std::int32_t* indices = nullptr; ///< local columns
    column_numbers columns = {};
};

/// A row of A and the same row of B.
struct merged_rows {
    ascending_rows a;
    ascending_rows b;

    /// Calls body(global column, entry of A or -1, entry of B or -1) in the order of columns, and
    /// returns the number of columns.
    template <class Body>
    KRYLITH_HD std::int64_t each(std::int64_t row, const Body& body) const {
        constexpr std::int64_t none = INT64_MAX;
        std::int64_t k = a.offsets[row];
        std::int64_t l = b.offsets[row];
        const std::int64_t a_end = a.offsets[row + 1];
        const std::int64_t b_end = b.offsets[row + 1];
        std::int64_t count = 0;
        while (k < a_end || l < b_end) {
            const std::int64_t of_a = k < a_end ? a.columns.global(a.indices[k]) : none;
            const std::int64_t of_b = l < b_end ? b.columns.global(b.indices[l]) : none;
            const std::int64_t column = of_a < of_b ? of_a : of_b;
            body(column, of_a == column ? k : -1, of_b == column ? l : -1);
            k += of_a == column ? 1 : 0;
            l += of_b == column ? 1 : 0;
            ++count;
        }
        return count;
    }
};

/// Where the merged rows go.
template <class T>
struct merged_entries {
    const std::int64_t* offsets;
    column_numbers numbers;
    std::int32_t* columns; ///< local; null: they are known
    T* values;

    KRYLITH_HD void write(std::int64_t at, std::int64_t column, T value) const {
        if (columns != nullptr) columns[at] = numbers.local(column);
        values[at] = value;
    }
};

struct count_merged_step : writes_only {
    merged_rows rows;
    std::int32_t* counts;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        counts[row] = static_cast<std::int32_t>(
            rows.each(row, [](std::int64_t, std::int64_t, std::int64_t) {}));
        return false;
    }
};

/// alpha A + beta B, products and sums rounded each.
template <class T>
struct add_rows_step : writes_only {
    merged_rows rows;
    T alpha;
    const T* a;
    T beta;
    const T* b;
    merged_entries<T> to;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        std::int64_t at = to.offsets[row];
        rows.each(row, [&](std::int64_t column, std::int64_t k, std::int64_t l) {
            T sum = k < 0 ? T(0) : alpha * a[k];
            if (l >= 0) sum = k < 0 ? beta * b[l] : plus_product(sum, beta, b[l]);
            to.write(at++, column, sum);
        });
        return false;
    }
};

} // namespace krylith

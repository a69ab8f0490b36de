// The rows of a product for each thread of a host device. A giant row is cut at columns of C: the
// sums of a column stay in the order of A's row, so that results have the same bits on any team.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/sparse/device_csr.hpp>

namespace krylith::host {

/// Where a share of the rows of C begins: a row, and in a row that is cut a column.
struct row_place {
    std::int64_t row = 0;
    std::int64_t column = 0;   ///< 0: the row is the first whole one of the share
    std::int64_t products = 0; ///< of the row, in the columns before
};

/// Returns parts + 1 ascending places, the first that of row 0, the last behind all rows: between
/// two neighbours are about equally many products and rows. Rows of more than four times
/// products_worth_a_thread() may be cut: `products` is then what is wanted of the row, and the
/// column is left to cut_giant_rows(). `before` has the products before each row, and all of them
/// at its end.
[[nodiscard]] std::vector<row_place> equal_products(std::span<const std::int64_t> before,
                                                    int parts);

/// Chooses the columns of places within rows, and counts the products before them. A block of
/// columns/1024 columns is not cut. Cost: a look at the columns of all products of those rows, by
/// all threads.
void cut_giant_rows(const csr_pattern& a, const csr_pattern& b, std::vector<row_place>& places,
                    int threads);

/// The number of products that is worth a thread: 16384, or less while a test mocks it.
[[nodiscard]] std::int64_t products_worth_a_thread() noexcept;

/// Lets a test divide small products among several threads: as long as it lives, so many are worth
/// a thread (in the whole process; 1 or more).
class mocked_products_worth {
public:
    explicit mocked_products_worth(std::int64_t products) noexcept;
    ~mocked_products_worth();
    mocked_products_worth(const mocked_products_worth&) = delete;
    mocked_products_worth& operator=(const mocked_products_worth&) = delete;
};

} // namespace krylith::host

// The rows of a product for each thread of a host device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith::host {

/// Returns parts + 1 ascending rows, the first 0: rows [result[p], result[p + 1]) have about
/// equally many products and rows. `before` has the products before each row, and all of them at
/// its end.
[[nodiscard]] std::vector<std::int64_t> equal_products(std::span<const std::int64_t> before,
                                                       int parts);

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

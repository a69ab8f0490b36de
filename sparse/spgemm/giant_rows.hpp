// Rows of a product that are so long that the whole GPU works on one at a time. Kernels and their
// launches; all is enqueued.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::cuda {

/// A bit for each column of C, in global memory.
class giant_row_bits {
public:
    giant_row_bits(const std::shared_ptr<device>& device, std::int64_t columns);
    [[nodiscard]] std::int64_t bytes() const noexcept;

    /// Writes the number of columns of a row of C to counts[row].
    void count(const csr_pattern& a, const csr_pattern& b, std::int64_t row, std::int32_t* counts);
    /// Writes the columns of a row of C from offsets[row] on.
    void write(const csr_pattern& a, const csr_pattern& b, std::int64_t row,
               const std::int64_t* offsets, std::int32_t* columns);

private:
    void mark(const csr_pattern& a, const csr_pattern& b, std::int64_t row);

    std::shared_ptr<device> device_;
    buffer<std::uint32_t> bits_;
    buffer<char> scratch_;
};

/// A row whose products are sorted, with what the host knows of it.
struct sorted_row {
    std::int64_t row;
    std::int64_t entries;      ///< of the row of A
    std::int64_t results;      ///< of the row of C
    std::int64_t first_entry;  ///< where they begin
    std::int64_t first_result; ///< the same of C
    std::int64_t products;
};

/// The bytes that add_sorted allocates for a window of `window` products.
[[nodiscard]] std::int64_t sorted_row_bytes(std::int64_t entries, std::int64_t window,
                                            int value_bytes);

/// Computes the values of a row of C, whose columns are known. Windows of the products, in their
/// order, are sorted by column; the sort is stable, so that each sum has the order of the entries.
template <class T>
void add_sorted(const std::shared_ptr<device>& device, const device_csr_view<T>& a,
                const device_csr_view<T>& b, const sorted_row& row, const std::int32_t* columns,
                T* values);

} // namespace krylith::cuda

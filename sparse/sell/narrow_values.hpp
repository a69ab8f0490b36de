// Values of a SELL matrix that products read in fewer bytes than they take, with the same bits.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/sell/sell_view.hpp>

namespace krylith::cuda {

/// What has been found out about the slices of a matrix, in slice-columns; zero before.
struct narrow_counts {
    std::int64_t uniform;
    std::int64_t diagonal;     ///< those of uniform slices that have diagonals
    std::int64_t shared;       ///< those of these that read the ones of another slice
    std::int64_t exact;        ///< of slices that are not uniform, and exact in half their bits
    std::int64_t exact_slices; ///< the number of these slices
    std::int64_t joined;       ///< slices whose rows a warp takes with those of others
};

struct uniform_tables {
    static constexpr std::int32_t size = 1 << 12;
    narrow_counts counts;
    /// By hash: how far the first uniform slice with this hash is from the largest number.
    std::int32_t first_slice[size];
};

using value_bits = unsigned long long; // the type of CUDA's atomics of 64 bits

/// The bits of the different values but 0, by hash. All is 0 before. A value whose bits are all
/// ones, a NaN, would look like a slot without one, and gets no code.
struct value_census {
    static constexpr std::uint32_t slots = 1024;
    static constexpr std::int32_t most = table_size - 1;
    /// The slots that are tried for a value. So many are taken only where values are too many.
    static constexpr std::uint32_t tries = 16;

    value_bits inverse[slots];  ///< the bits, inverted
    std::uint8_t code[slots];   ///< of the value in the slot, from 1 on
    std::int32_t different;     ///< values in slots; beyond `most` there may be more
    std::int64_t table_columns; ///< slice-columns of the slices that got codes
};

/// Looks at the values on the device whenever they are new. Uniform slices are always found. If
/// what else there is pays, others get codes of a table where the device has at most 255 different
/// values but 0, or else values in half their bits. Their memory is taken when they first pay, and
/// is kept: 1 byte a value, or sizeof(T) / 2 and, of float, 4 bytes a row. The values themselves
/// stay where they are.
template <class T>
class narrow_values {
public:
    narrow_values() = default;
    narrow_values(std::shared_ptr<device> device, std::int64_t slice_columns);

    /// Marks the slices by the values that `view` has, in `heads`, which are its own, and tells the
    /// view where the narrow ones are. Reads the values up to three times, those that are all
    /// different only at the beginning of each slice. Waits for the device.
    void find(sell_view<T>& view, slice_head* heads);

    [[nodiscard]] const narrow_counts& counts() const noexcept { return counts_; }
    /// What slices that are not uniform have: `table` or `halved`, or `full`, if that doesn't pay.
    [[nodiscard]] value_code form() const noexcept { return form_; }
    /// The slice-columns of slices that have form().
    [[nodiscard]] std::int64_t coded() const noexcept { return coded_; }
    /// The bytes that products read of their values.
    [[nodiscard]] std::int64_t coded_bytes() const noexcept;

private:
    /// Whether reading so many slice-columns in this form is worth a kernel of its own.
    [[nodiscard]] bool pays(std::int64_t coded) const;
    void mark_uniform(sell_view<T>& view, slice_head* heads);
    [[nodiscard]] bool make_table(sell_view<T>& view, slice_head* heads);
    void make_halved(sell_view<T>& view, slice_head* heads);

    std::shared_ptr<device> device_;
    std::int64_t slice_columns_ = 0;
    narrow_counts counts_{};
    value_code form_ = value_code::full;
    std::int64_t coded_ = 0;
    buffer<uniform_entry<T>> uniform_;
    buffer<uniform_tables> tables_; ///< [1]
    buffer<value_census> census_;   ///< [1]
    buffer<T> table_;               ///< [table_size]
    buffer<std::uint32_t> codes_;
    buffer<std::uint32_t> halved_;
    buffer<std::uint8_t> joined_; ///< sell_view::joined
    buffer<T> apart_;             ///< [32 * slices] of float
};

} // namespace krylith::cuda

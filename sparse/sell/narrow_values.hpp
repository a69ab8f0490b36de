// Values of a SELL matrix that products read in fewer bytes than they take, with the same bits.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_matrix/sell_view.hpp>

namespace krylith::cuda {

/// What has been found out about the slices of a matrix, in slice-columns; zero before.
struct narrow_counts {
    std::int64_t uniform;
    std::int64_t diagonal;     ///< those of uniform slices that have diagonals
    std::int64_t shared;       ///< those of these that read the ones of another slice
    std::int64_t exact;        ///< of slices that are not uniform, and exact in half their bits
    std::int64_t exact_slices; ///< the number of these slices
    std::int64_t in_units;     ///< slices of units that have the stencil of the matrix
    stencil_shape shape;       ///< of the stencil
};

using value_bits = unsigned long long; // the type of CUDA's atomics of 64 bits

struct uniform_tables {
    static constexpr std::int32_t size = 1 << 12;
    narrow_counts counts;
    /// Names the uniform slice with diagonals whose stencil the matrix may have: one with as many
    /// entries as any, but not too many, next to the middle, where no ghosts are read; 0: none.
    value_bits longest;
    /// By hash: how far the first uniform slice with this hash is from the largest number.
    std::int32_t first_slice[size];

    [[nodiscard]] static constexpr value_bits as_longest(std::int32_t length, std::int32_t slice,
                                                         std::int32_t slices) {
        if (length > sell_stencil<double>::most_entries) return 0;
        const std::int64_t middle = slices / 2;
        // 0, 1, -1, 2, -2 and so on from the middle.
        const std::int64_t away = slice > middle ? 2 * (slice - middle) - 1 : 2 * (middle - slice);
        return static_cast<value_bits>(length) << 33 |
               static_cast<value_bits>((std::int64_t{1} << 33) - 1 - away);
    }
    [[nodiscard]] constexpr std::int32_t longest_slice(std::int32_t slices) const {
        const auto away = static_cast<std::int64_t>((value_bits{1} << 33) - 1 -
                                                    (longest & ((value_bits{1} << 33) - 1)));
        const std::int64_t middle = slices / 2;
        return static_cast<std::int32_t>(away % 2 != 0 ? middle + (away + 1) / 2
                                                       : middle - away / 2);
    }
};

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
    void find_stencil(sell_view<T>& view);
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
    buffer<sell_stencil<T>> stencil_; ///< [1]
    buffer<stencil_unit<T>> units_;
    buffer<T> apart_; ///< [32 * slices] of float
};

} // namespace krylith::cuda

// What a CUDA device keeps for one-shot products: buffers that only grow.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/buffer.hpp>
#include <krylith/matrix/index_width.hpp>
#include <krylith/spmv/merge_product.hpp>
#include <krylith/spmv/one_shot_lane.hpp>

namespace krylith::cuda {

/// Of one part, entries from its first. Empty where the form has no use for it.
template <class T>
struct one_shot_memory {
    buffer<T> x;                             ///< whole; by columns only the part's range is filled
    buffer<std::int64_t> offsets;            ///< of the matrix, the part's lines and the end
    buffer<std::int32_t> column_pointers;    ///< of the part (csc)
    buffer<std::int32_t> pointers;           ///< rows of each piece, and its end, from 0
    buffer<std::int32_t> rows, columns;      ///< of entries
    buffer<T> values;                        ///< of entries
    buffer<std::int32_t> sorted_rows, order; ///< entries by rows; not needed where they lie so
    buffer<std::int32_t> positions;          ///< 0, 1, 2 ...
    buffer<T> products, ones;                ///< of entries, in the order in which they lie
    buffer<std::byte> sorting, tiles;        ///< scratch of the sort, of the products
    buffer<T> sums, inbox, y;

    /// Where piece j has its rows.
    struct piece {
        line_share share;
        std::int64_t first_row;     ///< in sums
        std::int64_t first_pointer; ///< in pointers
        std::size_t first_tile;     ///< in bytes of tiles
    };
    std::vector<piece> pieces = {};

    /// For part `part` of the call, beside x. Throws device_error where memory is short.
    void reserve(const std::shared_ptr<device>& where, const one_shot_call<T>& call, int part,
                 bool all_direct);

    template <class E>
    static bool grow(const std::shared_ptr<device>& where, buffer<E>& b, std::size_t size) {
        if (b.size() >= size) return false;
        b = {}; // not both at once
        b = buffer<E>(where, size, "one-shot product");
        return true;
    }
};

extern template struct one_shot_memory<double>;
extern template struct one_shot_memory<float>;

} // namespace krylith::cuda

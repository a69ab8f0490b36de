// The part of a matrix that a CUDA device has in a streamed product: buffers, which only grow, and
// the kernels on them. All work is enqueued on the device's stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmv/streaming/streamed_device.hpp>

namespace krylith::cuda {

/// Entries count from the first of the part. Buffers that a form has no use for are empty.
template <class T>
struct streamed_range {
    buffer<T> x;                             ///< whole; by columns only the part's range is filled
    buffer<std::int64_t> offsets;            ///< of the matrix, the part's lines and the end
    buffer<std::int32_t> column_pointers;    ///< of the part (csc)
    buffer<std::int32_t> pointers;           ///< rows of each piece, and its end, from 0
    buffer<std::int32_t> rows, columns;      ///< of entries
    buffer<T> values;                        ///< of entries
    buffer<std::int32_t> sorted_rows, order; ///< entries by rows, where they don't lie so
    buffer<std::int32_t> positions;          ///< 0, 1, 2 ...
    buffer<T> products, ones;                ///< of entries, in the order in which they lie
    buffer<std::byte> sorting, tiles;        ///< scratch of the sort, of the products
    buffer<T> sums, own_slots, y;

    /// Where piece j has its rows; one piece of all rows unless by rows.
    struct range {
        major_range majors;
        std::int64_t rows;
        std::int64_t first_row;     ///< in sums
        std::int64_t first_pointer; ///< in pointers
        std::size_t first_tile;     ///< in bytes of tiles
    };
    std::shared_ptr<krylith::device> device;
    streamed_form form = streamed_form::csr;
    major_range whole = {};
    std::int64_t rows_of_matrix = 0;
    std::vector<range> ranges = {};

    explicit streamed_range(std::shared_ptr<krylith::device> on) : device(std::move(on)) {}

    /// Becomes part `part` of the call, and has room for it, but for x. Throws device_error where
    /// memory is short.
    void reserve(const streamed_call<T>& call, int part, bool all_direct);
    void reserve_x(std::int64_t columns) { grow(x, static_cast<std::size_t>(columns)); }

    [[nodiscard]] std::int32_t entries() const {
        return static_cast<std::int32_t>(whole.entries());
    }
    /// Entries of x that it needs, of so many columns.
    [[nodiscard]] row_range operand(std::int64_t all) const {
        return by_columns(form) ? row_range{whole.start_major, whole.end_major} : row_range{0, all};
    }
    /// Entries that should arrive together: those of a piece, or about 2^20, in 4 ranges at most.
    [[nodiscard]] std::vector<std::pair<std::int32_t, std::int32_t>> transfers() const;

    /// `pointers` of every piece, or column_pointers, from `offsets`.
    void make_pointers();
    /// `pointers` from `rows`, by rows.
    void find_rows();
    /// `columns` from column_pointers.
    void expand_columns();
    /// The order of entries by rows, which keeps that within a row, and `pointers`. Needs `rows`
    /// only, and so can run while values are on their way.
    void sort();
    /// Makes `tiles` ready for `pointers`.
    void find_tiles();
    /// `products` of these entries, unless by rows.
    void multiply_entries(std::int32_t begin, std::int32_t end);
    /// `sums` of piece j. Unless by rows, products are gathered as 1 times an entry of a vector.
    void multiply_piece(std::size_t j);

private:
    template <class E>
    bool grow(buffer<E>& b, std::size_t size) {
        if (b.size() >= size) return false;
        b = {}; // not both at once
        b = buffer<E>(device, size, "one-shot product");
        return true;
    }
};

extern template struct streamed_range<double>;
extern template struct streamed_range<float>;

} // namespace krylith::cuda

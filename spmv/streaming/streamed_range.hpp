// The part of a matrix that a CUDA device has in a streamed product: buffers, which only grow, and
// the kernels on them. All work is enqueued on the device's stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmv/streaming/streamed_device.hpp>

namespace krylith::cuda {

class stream_interval;

/// Entries count from the first of the part. Buffers that a form has no use for are empty.
template <class T>
struct streamed_range {
    buffer<T> x;                          ///< whole; by columns only the part's range is filled
    buffer<std::int64_t> offsets;         ///< of the matrix, the part's rows or columns and the end
    buffer<std::int32_t> column_pointers; ///< of the part (csc)
    buffer<std::int32_t> pointers;        ///< rows of each range, and its end, from 0
    buffer<std::int32_t> rows, columns;   ///< of entries
    buffer<T> values;                     ///< of entries
    buffer<std::int32_t> sorted_rows, order; ///< entries by rows, where they don't lie so
    buffer<std::int32_t> positions;          ///< 0, 1, 2 ...
    buffer<T> products, ones;                ///< of entries, in the order in which they lie
    buffer<std::byte> sorting, tiles;        ///< scratch of the sort, of the products
    buffer<T> sums, own_slots, y;

    /// The place of the rows of range j; one range has all rows unless the form is by rows.
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

    /// Becomes this part of the matrix, cut into ranges, and has room for it, for `results` of y
    /// and for sums from peers, but not for x. Throws device_error where memory is short.
    void reserve(const streamed_matrix<T>& a, const major_range& all,
                 std::span<const major_range> cut, std::int64_t results, std::int64_t from_peers);
    void reserve_x(std::int64_t columns) { grow(x, static_cast<std::size_t>(columns)); }

    [[nodiscard]] std::int32_t entries() const {
        return static_cast<std::int32_t>(whole.entries());
    }
    /// Entries of x that it needs, of so many columns.
    [[nodiscard]] row_range needed(std::int64_t all) const {
        return by_columns(form) ? row_range{whole.start_major, whole.end_major} : row_range{0, all};
    }
    /// Entries that should arrive together: those of a range, or about 2^20, in 4 batches at most.
    [[nodiscard]] std::vector<std::pair<std::int32_t, std::int32_t>> batches() const;

    /// `pointers` of every range, or column_pointers, from `offsets`.
    void make_pointers();
    /// `pointers` from `rows`, by rows.
    void find_rows();
    /// `columns` from column_pointers.
    void expand_columns();
    /// The order of entries by rows, which keeps that within a row, and `pointers`. Needs `rows`
    /// only, and so can run while values are on their way.
    void sort();
    /// All that products need of the pattern, beside pointers of a compressed form.
    /// `conversion` gets the time of the sort.
    void make_ready(stream_interval& conversion);
    /// Makes `tiles` ready for `pointers`.
    void find_tiles();
    /// `products` of these entries, unless by rows.
    void multiply_entries(std::int32_t begin, std::int32_t end);
    /// `sums` of range j. Unless by rows, products are gathered as 1 times an entry of a vector.
    void multiply_range(std::size_t j);
    /// All products.
    void multiply_all();

private:
    template <class E>
    bool grow(buffer<E>& b, std::size_t size) {
        if (b.size() >= size) return false;
        b = {}; // not both at once
        b = buffer<E>(device, size, "streamed product");
        return true;
    }
};

} // namespace krylith::cuda

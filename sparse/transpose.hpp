// The transposed matrix on one device: compressed rows become compressed columns, and the other way
// round, since the arrays of A by columns are those of A^T by rows.
//
// Entries of a column ascend by row, and entries of the same place keep their order: the result is
// the same on every device, and in every run.
//
// Host devices: ScanTrans (Wang, Liu, Hou, Feng, Parallel Transposition of Sparse Data Structures,
// ICS 2016), or blocks of columns where those are scattered, by the device's threads. CUDA: a
// symmetric pattern stays and its values move; else columns near each other are sorted tile by tile
// in shared memory, few columns bucket by bucket, and any others by a radix sort of the bits that
// columns have. The pattern says which; docs/kernels.md has what each costs.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/device/memory/unmoved.hpp>
#include <krylith/sparse/device_csr.hpp>
#include <krylith/sparse/transpose/permutation.hpp>

namespace krylith {

/// Returns A^T on the device of `a`. Cost: O(rows + columns + nonzeros); on CUDA it waits for the
/// device once, to learn which way fits. Memory beside the result, in bytes a nonzero: on CUDA none
/// for symmetric patterns, about 1 in tiles, 6 and a value in buckets, 24 for the sort; on host
/// devices a counter of 4 bytes a column and thread, or 8 and a value a nonzero. Throws usage_error
/// for a matrix that is on no device, and device_error where the memory is too small.
template <class T>
[[nodiscard]] device_csr<T> transpose(const device_csr<T>& a);

/// What a pattern's transposition is: the pattern of A^T, and where in A each of its entries was,
/// so that new values of A cost one gather. Move-only.
///
///     transposition order(p);
///     device_csr<double> r = order.take(p); // R = P^T
///     order.apply(p, r);                    // after new values of p
class transposition {
public:
    transposition() = default;
    /// Finds it for the pattern of `a`, at the cost of transpose(). Throws what that throws.
    template <class T>
    explicit transposition(const device_csr<T>& a);

    /// Returns A^T: a copy of its pattern, and the values of `a`, which has the pattern that the
    /// constructor was given. Throws usage_error where sizes or devices differ, and after take().
    template <class T>
    [[nodiscard]] device_csr<T> apply(const device_csr<T>& a) const;
    /// Returns the same with the pattern itself, of which nothing is left here but the permutation.
    template <class T>
    [[nodiscard]] device_csr<T> take(const device_csr<T>& a);
    /// Writes the values of `a` into its transposed matrix: enqueues one gather. Bytes a nonzero: 4
    /// and two values. Throws usage_error where sizes or devices differ.
    template <class T>
    void apply(const device_csr<T>& a, device_csr<T>& transposed) const;
    /// The same for arrays of nonzeros() values on the device.
    template <class T>
    void apply(const T* values, T* transposed) const;

    [[nodiscard]] const std::shared_ptr<device>& on() const { return device_.get(); }
    /// The sizes of A.
    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
    [[nodiscard]] std::int64_t nonzeros() const noexcept { return nonzeros_; }
    /// Whether the pattern of A^T is still here.
    [[nodiscard]] bool has_pattern() const noexcept { return offsets_.size() != 0; }
    /// The bytes that it keeps on the device: 4 a nonzero, 8 from 2^32 nonzeros on; with the
    /// pattern 4 a nonzero and 8 a column more.
    [[nodiscard]] std::int64_t bytes() const noexcept;
    /// On the device: entry p of A^T was entry places()[p] of A.
    [[nodiscard]] permutation_view places() const noexcept;

private:
    template <class T>
    void check(const char* what, const device_csr<T>& a) const;
    void need_pattern(const char* what) const;

    unmoved<std::shared_ptr<device>> device_;
    std::int64_t rows_ = 0;
    std::int64_t columns_ = 0;
    std::int64_t nonzeros_ = 0;
    buffer<std::int64_t> offsets_;
    buffer<std::int32_t> indices_;
    buffer<std::uint32_t> narrow_; ///< the permutation, where positions fit
    buffer<std::int64_t> wide_;    ///< else
};

} // namespace krylith

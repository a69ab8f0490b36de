// Parts of pCSR and pCSC as what kernels and readers of matrices take, without a copy.
#pragma once

#include <krylith/matrix/csc.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/nonzero/pcsr.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

/// Row i is row majors.start_major + i of the matrix; the arrays are those of the range.
template <class T>
[[nodiscard]] csr_view<T> view_of(const pcsr_range<T>& range) {
    return {range.majors.major_size(), range.across, range.offsets, range.indices, range.values};
}

/// Column j is column majors.start_major + j of the matrix.
template <class T>
[[nodiscard]] csc_view<T> view_of(const pcsc_range<T>& range) {
    return {range.across, range.majors.major_size(), range.offsets, range.indices, range.values};
}

/// The block from which every format is built; x has all columns of the matrix, and no row is on
/// the boundary.
template <class T>
[[nodiscard]] local_csr<T> block_of(const pcsr_range<T>& range) {
    return {.rows = range.majors.major_size(),
            .columns = range.across,
            .offsets = range.offsets,
            .indices = range.indices,
            .values = range.values,
            .boundary = {}};
}

} // namespace krylith

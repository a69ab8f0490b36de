// Parts of pCSR and pCSC as what kernels and readers of matrices take, without a copy.
#pragma once

#include <krylith/matrix/csc.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/nonzero/pcsr.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

/// Row i is row share.start_major + i of the matrix; the arrays are those of the piece.
template <class T>
[[nodiscard]] csr_view<T> view_of(const pcsr_range<T>& piece) {
    return {piece.share.lines(), piece.across, piece.offsets, piece.indices, piece.values};
}

/// Column j is column share.start_major + j of the matrix.
template <class T>
[[nodiscard]] csc_view<T> view_of(const pcsc_range<T>& piece) {
    return {piece.across, piece.share.lines(), piece.offsets, piece.indices, piece.values};
}

/// The block from which every format is built; x has all columns of the matrix, and no row is on
/// the boundary.
template <class T>
[[nodiscard]] local_csr<T> block_of(const pcsr_range<T>& piece) {
    return {.rows = piece.share.lines(),
            .columns = piece.across,
            .offsets = piece.offsets,
            .indices = piece.indices,
            .values = piece.values,
            .boundary = {}};
}

} // namespace krylith

// A device's block for vectors that begin sparse: right-hand sides of point sources, columns of a
// Green's function, and the Krylov vectors that grow from them.
//
// Before each product the device lists the entries of x that are not 0. The host then chooses, by
// their number, by the trees (spmspv/kernel_model.hpp) and by the cost of sorting
// (column_worth.hpp), between the columns where x has entries, at O(their nonzeros), and all rows
// in the block's usual format. Columns are summed after a sort, so that results have the same bits
// every time, and the choice follows from x alone. A product of n columns and k entries costs
//
//     listing     n (s + 1/8 + 1/4) bytes, 8 n + 3 n / 8 in fp64, and one wait of the host
//     columns     12 + 2 s bytes for each of their nonzeros and the sort, and n 2 s for y
//
// and where x is dense, listing is the extra cost. Two matrices are kept beside the usual one
// (spmspv/csr_csc_pair.hpp): three times the memory. Where no x could be worth this, the block is
// the usual one.
#pragma once

#include <memory>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Makes the block, with the format `dense` for an x with many entries. The block's values must be
/// in host memory. It can't be recorded, unless it is the usual block. Throws input_error for a
/// block that 32-bit numbers can't index, device_error where memory is short.
template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>>
make_adaptive(const std::shared_ptr<device>& device, const local_csr<T>& block, format_kind dense);

} // namespace krylith

// A device's block for vectors that begin sparse: right-hand sides of point sources, columns of a
// Green's function, and the Krylov vectors that grow from them.
//
// Before each product the device lists the entries of x that are not 0, and the host decides by
// their number, by the trees (spmspv/kernel_model.hpp) and by what sorting costs
// (column_worth.hpp): the columns where x has entries, O(work), or all rows by the block's usual
// format. With sort write-back, so that results are the same bits every time; which kernel ran
// follows from x alone. A product of n columns and k entries costs
//
//     looking     n (s + 1/8 + 1/4) bytes, 8 n + 3 n / 8 in fp64, and one wait of the host
//     columns     work (12 + 2 s) bytes and the sort, and n 2 s for y
//
// and when x is dense, looking is what the block costs more than the usual one. Two matrices are
// kept beside the usual one (csr_csc_pair.hpp): three times the memory. Where no x could be worth
// all that, the block is the usual one.
#pragma once

#include <memory>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// `dense`: the format for an x with many entries. The block's values must be in host memory. Can't
/// be recorded, unless it is the usual block. Throws input_error for a block that 32-bit numbers
/// don't reach, device_error where memory is short.
template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>>
make_adaptive(const std::shared_ptr<device>& device, const local_csr<T>& block, format_kind dense);

} // namespace krylith

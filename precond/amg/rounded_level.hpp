// Matrices of levels whose entries off the diagonal have 16 bits.
#pragma once

#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>

namespace krylith::detail {

/// Whether products read a rounded B in fewer bytes than B: where rows are long enough
/// (narrow_pays()), and values are more than about 300 different ones. A matrix of few values, as
/// that of a stencil is, is read in fewer bytes as it is, which new diagonal entries near
/// boundaries would spoil. The answer is the same on any number of devices, of any kind. Looks at
/// the values of about 65536 rows; waits for the devices.
template <class W>
[[nodiscard]] bool worth_rounding(const distributed_csr<W>& b);

/// Enqueues the rounding of B, in place: entries off the diagonal become numbers that 16 bits have
/// (sparse/sell/sixteen_bits.hpp), and the diagonal, which keeps all its bits, takes up what B v
/// would change by. v is given on the rows of each rank. The result has the same bits on any number
/// of devices. One pass.
///
/// What is added to a symmetric B is then E with E v = 0 and |e_ij| <= 2^-11 |b_ij|, or 2^-37 for
/// what is smaller than 2^-26, far below the rounding of the diagonal. Where B has no positive
/// entry off the diagonal and v > 0, as of differences of unknowns, |x' E x| = |sum over i < j of
/// e_ij v_i v_j (x_i / v_i - x_j / v_j)^2| <= 2^-11 x' B x if B v >= 0: B stays definite, and its
/// condition, however much its entries differ in size. Entries and their mirrors are rounded alike
/// where they are equal; those that differ by fp32's rounding may fall to both sides of a step,
/// about one pair in a thousand.
template <class W>
void round_off_diagonal(distributed_csr<W>& b, const std::vector<buffer<W>>& v);

} // namespace krylith::detail

// The properties of every matrix that validate() accepts.
#pragma once

#include <krylith/matrix/csr.hpp>

namespace krylith::fuzz {

/// Checks that conversions to COO, CSC and the transposed matrix and back agree with plain loops,
/// and that a .kcsr file gives the same bits. Aborts otherwise.
void require_conversions(const csr_view<double>& matrix);

/// Checks that y = A x, y = 2 A x - y and y = 2 A' x - y by an operator of each kind of vectors and
/// every format, on 1 and 3 host devices, in fp64 and fp32, equal what a plain loop computes.
/// Aborts otherwise.
void require_products(const csr_view<double>& matrix);

} // namespace krylith::fuzz

// The three sections of numbers behind the header: the matrix by columns.
#pragma once

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/rutherford_boeing/header.hpp>

namespace krylith::rutherford_boeing {

/// Reads the arrays into those of the transposed matrix in CSR; values of a pattern are 1. Blocks
/// of lines are read by up to 16 OpenMP threads, each to its place. The caller has checked that the
/// memory holds them. Throws input_error "FILE:LINE: ..." for the first number that isn't one or is
/// out of range, and for a file that ends too early; the columns still have to be validated.
template <class T>
[[nodiscard]] csr_matrix<T> read_sections(market::line_source& source, const header& h);

} // namespace krylith::rutherford_boeing

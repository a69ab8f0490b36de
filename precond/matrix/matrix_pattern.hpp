// The pattern of a matrix as a number, by which an update knows another pattern.
#pragma once

#include <cstdint>
#include <string>

#include <krylith/matrix/csr.hpp>

namespace krylith {

template <class T>
class distributed_csr;

namespace detail {

/// Rows, entries, and a hash of each entry's row and column, added up modulo 2^64: any other
/// pattern has the same number with a probability of 2^-64. It depends on neither the devices nor
/// the order of entries.
struct matrix_pattern {
    std::int64_t rows = 0;
    std::int64_t entries = 0;
    std::uint64_t hash = 0;

    /// Throws usage_error, which begins with `who`, unless `given`, of the matrix that an update
    /// takes, is this one.
    void expect(const std::string& who, const matrix_pattern& given) const;
};

/// Reads 4 bytes a nonzero and 8 a row where the matrix is, and waits for the devices. Collective.
template <class T>
[[nodiscard]] matrix_pattern pattern_of(const distributed_csr<T>& a);
/// The same of a valid matrix in host memory, by all threads.
template <class T>
[[nodiscard]] matrix_pattern pattern_of(const csr_view<T>& a);

} // namespace detail

} // namespace krylith

#include <krylith/tools/asymmetry.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <krylith/matrix/index_width.hpp>

namespace krylith::tool {

namespace {

template <class T>
T entry(const csr_matrix<T>& matrix, std::int64_t row, std::int64_t column) {
    const auto begin = matrix.column_indices.begin() + matrix.row_offsets[as_size(row)];
    const auto end = matrix.column_indices.begin() + matrix.row_offsets[as_size(row + 1)];
    const auto found = std::lower_bound(begin, end, column);
    if (found == end || *found != column) return T(0);
    return matrix.values[as_size(found - matrix.column_indices.begin())];
}

} // namespace

template <class T>
std::string asymmetry(const csr_matrix<T>& matrix) {
    // Assembly in another order leaves differences of some ulps, which CG doesn't mind.
    const T harmless = std::sqrt(std::numeric_limits<T>::epsilon());
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (auto k = matrix.row_offsets[as_size(row)]; k < matrix.row_offsets[as_size(row + 1)];
             ++k) {
            const std::int64_t column = matrix.column_indices[as_size(k)];
            const T here = matrix.values[as_size(k)];
            const T there = entry(matrix, column, row);
            if (std::fabs(here - there) > harmless * std::max(std::fabs(here), std::fabs(there)))
                return fmt::format("the matrix is not symmetric: entry ({}, {}) is {:g}, its "
                                   "mirror {:g} (counted from 1)",
                                   row + 1, column + 1, here, there);
        }
    return {};
}

template std::string asymmetry(const csr_matrix<double>&);
template std::string asymmetry(const csr_matrix<float>&);

} // namespace krylith::tool

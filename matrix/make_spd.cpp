#include <krylith/matrix/conversions.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/row_builder.hpp>

namespace krylith {
namespace {

/// Calls act(column, a_ij, a_ji) for the columns of a row of A, of A' and the diagonal, ascending.
template <class T, class Act>
void merge_row(const csr_matrix<T>& a, const csr_matrix<T>& mirror, std::int64_t row,
               const Act& act) {
    constexpr std::int64_t none = index_limit + 1; // no column is as large
    std::int64_t k = a.row_offsets[as_size(row)];
    std::int64_t m = mirror.row_offsets[as_size(row)];
    const std::int64_t end_k = a.row_offsets[as_size(row + 1)];
    const std::int64_t end_m = mirror.row_offsets[as_size(row + 1)];
    bool diagonal_due = true;
    while (k < end_k || m < end_m || diagonal_due) {
        const std::int64_t own = k < end_k ? a.column_indices[as_size(k)] : none;
        const std::int64_t mirrored = m < end_m ? mirror.column_indices[as_size(m)] : none;
        const std::int64_t column = std::min({own, mirrored, diagonal_due ? row : none});
        diagonal_due = diagonal_due && column != row;
        act(column, own == column ? a.values[as_size(k)] : T(0),
            mirrored == column ? mirror.values[as_size(m)] : T(0));
        k += own == column ? 1 : 0;
        m += mirrored == column ? 1 : 0;
    }
}

template <class T>
void check_square_canonical(const csr_matrix<T>& a) {
    validate(a);
    if (a.rows != a.columns) {
        throw input_error("make_spd: the matrix is " + std::to_string(a.rows) + " x " +
                          std::to_string(a.columns) + ", allowed are square ones");
    }
    if (!canonical(a)) {
        throw input_error("make_spd: a row's columns don't ascend strictly, allowed are canonical "
                          "matrices");
    }
}

} // namespace

template <class T>
csr_matrix<T> make_spd(const csr_matrix<T>& a) {
    check_square_canonical(a);
    require_memory(a.rows, static_cast<double>(a.rows) * sizeof(std::int64_t) +
                               static_cast<double>(a.nnz()) * (sizeof(std::int32_t) + sizeof(T)));
    const csr_matrix<T> mirror = transpose(a);
    const auto length = [&](std::int64_t row) {
        std::int64_t count = 0;
        merge_row(a, mirror, row, [&](std::int64_t, T, T) { ++count; });
        return count;
    };
    const auto fill = [&](std::int64_t row, std::int32_t* columns, T* values) {
        double others = 0;
        T* centre = nullptr;
        merge_row(a, mirror, row, [&](std::int64_t column, T own, T mirrored) {
            *columns++ = static_cast<std::int32_t>(column);
            if (column == row) {
                centre = values;
                *values = own;
            } else {
                *values = T(0.5) * own + T(0.5) * mirrored; // halves are added: no overflow
                others += std::abs(static_cast<double>(*values));
            }
            ++values;
        });
        const auto least = static_cast<T>(others > 0 ? others * (1 + 0x1p-6) : 1);
        if (*centre < least) { // false for NaN, which the solver will find
            *centre = least;
        }
    };
    return build_by_rows<T>(a.rows, a.rows, length, fill);
}

#define KRYLITH_INSTANTIATE(T) template csr_matrix<T> make_spd(const csr_matrix<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

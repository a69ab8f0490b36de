// The kernels of CG for several systems with one matrix. Vectors of k columns lie row by row: entry
// (i, j) is number i k + j, so that one nonzero is read once and multiplies k neighbours.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/device/kernel/annotations.hpp>
#include <krylith/vector/scalar/kernel_context.hpp>

namespace krylith {

/// The most columns that one loop takes; kernels exist for 1, 2, 4, 8 and 16.
inline constexpr int max_columns = 16;

/// The places in kernel_context::array of the numbers of k columns: k of each. The sums r'r and r'z
/// are neighbours, because they arrive as one batch.
struct column_places {
    int k;

    [[nodiscard]] KRYLITH_HD constexpr int pq() const { return 0; }
    [[nodiscard]] KRYLITH_HD constexpr int rr() const { return k; }
    [[nodiscard]] KRYLITH_HD constexpr int rz() const { return 2 * k; }
    [[nodiscard]] KRYLITH_HD constexpr int rho() const { return 3 * k; }
    [[nodiscard]] KRYLITH_HD constexpr int alpha() const { return 4 * k; }
    [[nodiscard]] KRYLITH_HD constexpr int beta() const { return 5 * k; }
    [[nodiscard]] KRYLITH_HD constexpr int target() const { return 6 * k; }     ///< squared
    [[nodiscard]] KRYLITH_HD constexpr int ceiling() const { return 7 * k; }    ///< squared
    [[nodiscard]] KRYLITH_HD constexpr int state() const { return 8 * k; }      ///< a loop_state
    [[nodiscard]] KRYLITH_HD constexpr int iterations() const { return 9 * k; } ///< of each column
    [[nodiscard]] KRYLITH_HD constexpr int residual() const {
        return 10 * k;
    } ///< squared, when it stopped
    [[nodiscard]] KRYLITH_HD constexpr int size() const { return 11 * k; }
};

/// One rank's rows and vectors; plain data for kernels.
template <class T>
struct column_operands {
    int columns;                 ///< 1, 2, 4, 8 or 16
    std::int64_t rows;           ///< owned
    const std::int64_t* offsets; ///< [rows + 1], the first is 0
    const std::int32_t* indices; ///< local: owned, then ghosts
    const T* values;
    bool preconditioned;       ///< on all ranks alike, also where one has no rows
    const T* inverse_diagonal; ///< [rows]; null without preconditioner
    const T* b;
    T* x; ///< with ghosts
    T* r;
    T* p; ///< with ghosts
    T* q;
    reduction reduce;
};

template <class T>
struct column_arguments : column_operands<T> {
    kernel_context common;
};

/// What starts an iteration from x.
enum class column_start {
    from_zero, ///< r = b: A is not read
    from_x     ///< r = b - A x
};

/// Takes in p'q and r'r (r'z) of column j: its step, and whether it stops. A column that has
/// stopped gets steps of 0, which leave its x as it is. `sums` are r'r, then r'z where there is a
/// preconditioner. Returns whether the column goes on.
KRYLITH_HD inline bool advance_column(double* array, const double* sums, bool preconditioned, int k,
                                      int j) {
    const column_places at{k};
    double& state = array[at.state() + j];
    double& alpha = array[at.alpha() + j];
    double& beta = array[at.beta() + j];
    alpha = 0;
    beta = 0;
    if (state != 0.0) return false;
    const double pq = array[at.pq() + j];
    const double rho = array[at.rho() + j];
    if (!(pq > 0.0) || !(pq - pq == 0.0)) {
        state =
            as_register(pq - pq == 0.0 ? loop_state::indefinite_matrix : loop_state::not_a_number);
        return false;
    }
    alpha = rho / pq;
    const double rr = sums[j];
    const double rz = preconditioned ? sums[k + j] : rr;
    array[at.iterations() + j] += 1.0;
    array[at.residual() + j] = rr;
    array[at.rho() + j] = rz;
    if (!(rr - rr == 0.0))
        state = as_register(loop_state::not_a_number);
    else if (rr <= array[at.target() + j])
        state = as_register(loop_state::converged);
    else if (rr > array[at.ceiling() + j])
        state = as_register(loop_state::diverged);
    else if (!(rz > 0.0))
        state = as_register(loop_state::indefinite_preconditioner);
    else
        beta = rz / rho;
    return state == 0.0;
}

namespace host {

/// Computes r by `start` and p = z, and reduces r'r (and r'z).
template <class T>
void start_columns(device& device, const column_arguments<T>& a, column_start start);
/// Computes q = A p, and reduces p'q.
template <class T>
void multiply_columns(device& device, const column_arguments<T>& a);
/// Computes r -= alpha q with alpha = rho / p'q, and reduces r'r (and r'z).
template <class T>
void subtract_columns(device& device, const column_arguments<T>& a);
/// Calls advance_column() for each column, and reduces the number of columns that go on.
template <class T>
void test_columns(device& device, const column_arguments<T>& a);
/// Computes x += alpha p and p = z + beta p.
template <class T>
void advance_columns(device& device, const column_arguments<T>& a);

} // namespace host

namespace cuda {

template <class T>
void start_columns(device& device, const column_arguments<T>& a, column_start start);
template <class T>
void multiply_columns(device& device, const column_arguments<T>& a);
template <class T>
void subtract_columns(device& device, const column_arguments<T>& a);
template <class T>
void test_columns(device& device, const column_arguments<T>& a);
template <class T>
void advance_columns(device& device, const column_arguments<T>& a);

} // namespace cuda

} // namespace krylith

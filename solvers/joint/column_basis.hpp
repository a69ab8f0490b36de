// The basis of GMRES for several right-hand sides: m + 1 vectors whose columns lie row by row, and
// the passes over them (those of vector/kernels/delayed_basis.hpp, k columns at once).
#pragma once

#include <cstdint>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/solvers/joint/column_cycle.hpp>
#include <krylith/solvers/joint/column_matrix.hpp>
#include <krylith/vector/basis.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith {

enum class basis_pass {
    dots,   ///< reduces, for each column, values(count - 1) values: V'u, V'w, w'w; with no w V'u
    update, ///< ends u, makes the next vector from w, and `to` = M^-1 of that
    combine ///< to += M^-1 V y
};

/// One rank's rows and vectors; plain data for kernels.
template <class T>
struct column_basis_operands {
    column_cycle_places at;
    std::int64_t rows;         ///< owned
    T* const* basis;           ///< [m + 1]
    std::int32_t count;        ///< dots, update: vectors of the pass, the last of them u
    const T* w;                ///< null: the pass has no w
    T* to;                     ///< update: M^-1 of the new vector, or null; combine: x
    const T* inverse_diagonal; ///< [rows] of M; null: M = I
    reduction reduce;

    [[nodiscard]] KRYLITH_HD std::int64_t entries() const { return rows * at.k; }
    /// The factor of the inverse diagonal in column c; 1 where M is none of this kernel's business.
    [[nodiscard]] KRYLITH_HD T inverse_factor(const double* array, int c) const {
        return inverse_diagonal == nullptr
                   ? T(1)
                   : static_cast<T>(array[at.columns().inverse_factor() + c]);
    }
};

template <class T>
struct column_basis_arguments : column_basis_operands<T> {
    kernel_context common;
};

template <class T>
class column_basis {
public:
    /// For cycles of m steps. v_0 is where the residual is found, and outlives this.
    column_basis(const column_matrix<T>& a, int columns, int m, vector<T>& v0);

    /// What the execution needs for it.
    static void enlarge(execution_options& options, const column_cycle_places& at);

    /// Enqueues the steps of a cycle from v_0 and p = M^-1 v_0 on. multiply() enqueues w = A p,
    /// next(v) what p needs besides M^-1 v, or where p is null that too, and test() tests
    /// `running`, the number of columns that go on.
    template <class Multiply, class Next, class Test>
    void cycle(execution& run, const vector<T>& w, vector<T>* p, const scalar& running,
               const Multiply& multiply, const Next& next, const Test& test) {
        for (int j = 0; j < at_.m; ++j) {
            multiply(); // v_j is still a candidate
            dots(run, j + 1, &w);
            step(run, j, running);
            if (j > 0) test();
            update(run, j + 1, w, p); // completes v_j, starts v_{j+1}
            if (j + 1 < at_.m) next(v_[j + 1]);
        }
        dots(run, at_.m + 1, nullptr);
        step(run, at_.m, running);
        test();
    }

    /// Enqueues x += M^-1 V y, with as many vectors a column as it has steps.
    void add_to(execution& run, vector<T>& x);

private:
    void dots(execution& run, int count, const vector<T>* w);
    /// Ends v_(count - 1) and makes the next vector from w, and p from that.
    void update(execution& run, int count, const vector<T>& w, vector<T>* p);
    /// Lets each column take in step j; `running` becomes the number of those that go on.
    void step(execution& run, int j, const scalar& running);
    void run_pass(execution& run, basis_pass pass, int count, const vector<T>* w, vector<T>* to);

    const column_matrix<T>& a_;
    column_cycle_places at_;
    basis<T> v_;
};

KRYLITH_HOST_AND_CUDA(template <class T> void run_basis_pass(device& device, basis_pass pass,
                                                             const column_basis_arguments<T>& a);
                      void run_cycle_task(device& device, const kernel_context& common,
                                          const cycle_task& task);)

} // namespace krylith

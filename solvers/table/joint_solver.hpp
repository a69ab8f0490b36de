// A solver's loop for several right-hand sides at once, behind one face for all solvers that have
// one.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/solvers/table/joint_preconditioner.hpp>

namespace krylith {

/// The M of a joint loop.
template <class T>
struct column_preconditioner {
    joint_preconditioner kind = joint_preconditioner::none;
    /// Makes the one that is applied, for the operator of the loop's columns.
    std::function<any_preconditioner<T>(const matrix_operator<T>& of_columns)> make = {};
    int block_size = 1; ///< devices own multiples of so many rows

    column_preconditioner(joint_preconditioner m) : kind(m) {} // NOLINT: a kind is one
};

template <class T>
class joint_solver {
public:
    virtual ~joint_solver() = default;
    /// Solves for columns that lie one after the other in b and x, each with as many entries as A
    /// has rows, and returns one result a column, in order.
    [[nodiscard]] virtual std::vector<solve_result> solve(std::span<const T> b, std::span<T> x) = 0;
    /// The options of the next solve. mode, unroll, restart and timeout_seconds are those of the
    /// first.
    [[nodiscard]] virtual solver_options& options() = 0;
    /// How many columns one loop solves.
    [[nodiscard]] virtual int columns() const = 0;
    /// The M that is applied as a step of its own; M = I where there is none.
    [[nodiscard]] virtual const any_preconditioner<T>& preconditioner() const = 0;
};

/// A function that makes the loop for a matrix and at most so many columns at once.
template <class T>
using joint_maker = std::unique_ptr<joint_solver<T>> (*)(const communicator& comm,
                                                         const csr_view<T>& a, int columns,
                                                         const column_preconditioner<T>& m,
                                                         const solver_options& options);

struct joint_makers {
    joint_maker<double> fp64 = nullptr;
    joint_maker<float> fp32 = nullptr;

    template <class T>
    [[nodiscard]] constexpr joint_maker<T> of() const noexcept {
        if constexpr (std::is_same_v<T, double>)
            return fp64;
        else
            return fp32;
    }
};

} // namespace krylith

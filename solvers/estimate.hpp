// The memory that a solve will need, before anything is allocated.
#pragma once

#include <cstdint>
#include <string_view>

#include <krylith/matrix/csr.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Bytes on the device that needs most. Not in it: the solver's scalars, lists of what is sent, and
/// results that operators exchange, about 0.1 MB and 12 bytes for each entry that a device
/// receives.
struct memory_estimate {
    std::int64_t matrix = 0;         ///< as the format stores it, padding included, and that of A'
                                     ///< for solvers that multiply by it
    std::int64_t vectors = 0;        ///< b and x
    std::int64_t workspace = 0;      ///< the solver's vectors; kept for the next solve
    std::int64_t preconditioner = 0; ///< what M keeps

    [[nodiscard]] std::int64_t total() const noexcept {
        return matrix + vectors + workspace + preconditioner;
    }
};

/// What is to be solved by.
struct solve_plan {
    operator_options multiply = {};           ///< kind and format count
    std::string_view solver = "cg";           ///< a name of solver_table.hpp
    std::string_view preconditioner = "none"; ///< a text of make_preconditioner()
    std::int64_t restart = solver_options{}.restart;
    bool damped = false; ///< solver_options::damping is not 0
};

/// Estimates the memory of a solve on the devices of a group, of which nothing is used. The matrix
/// is square and canonical; rows of A' are taken to be shared out by its own nonzeros. O(nnz) on
/// the host, for ghosts and the format's layout. Throws usage_error for names that are not in the
/// tables, for an operator whose needs only its own plan tells (operator_method::received), and for
/// a preconditioner without a model.
template <class T>
[[nodiscard]] memory_estimate estimate(const communicator& comm, const csr_view<T>& matrix,
                                       const solve_plan& plan = {});
template <class T>
[[nodiscard]] memory_estimate estimate(const communicator& comm, const csr_matrix<T>& matrix,
                                       const solve_plan& plan = {}) {
    return estimate(comm, csr_view<T>(matrix), plan);
}

} // namespace krylith

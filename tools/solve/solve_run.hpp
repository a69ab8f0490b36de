// What `krylith solve` is asked for, and a solve from files to files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/processes.hpp>
#include <krylith/tools/cli/vector_source.hpp>
#include <krylith/tools/solve/solve_watch.hpp>

namespace krylith::tool {

struct solve_request {
    std::string matrix;
    bool spd = false;        ///< made symmetric positive definite
    bool match_rows = false; ///< its rows ordered by matched_rows
    std::string rhs = "ones";
    std::string x0;                      ///< file; empty: zero
    std::string solver = "auto";         ///< of solver_choices()
    std::string preconditioner = "auto"; ///< as make_preconditioner() reads it, or auto
    std::string coordinates;             ///< as find_near_null() reads it
    solver_options options;              ///< but for what checked_options() adds
    operator_request multiply;
    device_options devices;
    bool sparsity = false; ///< a picture of the entries is wanted

    std::string solution_file;
    std::string curve_option; ///< the option that asks for a convergence curve, such as --history;
                              ///< empty: none does

    /// Whether the preconditioner is chosen with the solver. With a solver by name auto is none.
    [[nodiscard]] bool chooses_preconditioner() const;
    /// What make_preconditioner() is given: none for auto.
    [[nodiscard]] std::string preconditioner_text() const;

    /// The options, with what x0 and the devices say of them. Throws usage_error for values that
    /// are not allowed.
    [[nodiscard]] solver_options checked_options() const;
};

/// What ordering the rows by matched_rows did.
struct row_matching_report {
    std::int64_t moved = 0;     ///< rows
    std::int64_t unmatched = 0; ///< rows without an entry on the diagonal
    double seconds = 0;         ///< of load_seconds
};

struct solve_outcome {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nnz = 0;
    int processes = 1;
    std::vector<std::string> devices;
    backend kind = backend::host;
    std::string operator_name; ///< the one that ran, where auto was asked
    std::string operator_because;
    std::string rates_from;                   ///< of the machine, where auto used them
    std::vector<prediction> predictions;      ///< of the operators that auto could take
    std::vector<prediction> trials;           ///< of auto:measured
    std::optional<fraction_choice> fractions; ///< of lra and lra-rc, where they are tuned
    std::string devices_because;              ///< of --devices auto
    std::string transport;                    ///< how entries crossed devices
    std::string transport_because;
    std::string format_name;
    std::string solver;                        ///< the one that gave x, where auto was asked
    std::string side;                          ///< of its preconditioner
    int restart = 0;                           ///< as asked for, or chosen
    std::string solver_because;                ///< of solver auto
    std::string preconditioner;                ///< by its name(), which has its parameters
    std::int64_t preconditioner_bytes = 0;     ///< on the device that keeps most
    std::vector<multigrid_level_facts> levels; ///< of a multigrid preconditioner, else empty
    std::vector<kernel_use> kernel_uses;       ///< of operator adaptive
    double narrow_fraction = 0; ///< of the values, matrix_operator::narrow_fraction()
    std::optional<row_matching_report> matched; ///< of --match-rows
    reordering_report reordered;
    std::string eager_because;            ///< empty where the execution was recorded
    std::int64_t max_iterations = 0;      ///< -1: none was given, and auto limits each attempt
    double load_seconds = 0;              ///< reading or generating the matrix
    double setup_seconds = 0;             ///< operator, preconditioner, workspace
    double transfer_seconds = 0;          ///< b and x0 to the devices, x back
    std::optional<double> solution_error; ///< max |x_i - 1| where the solution is known to be ones
    std::optional<double> bytes_an_iteration;
    std::vector<std::string> warnings;
    std::string sparsity; ///< SVG, where it was wanted
    solve_result result;

    std::vector<solve_result> right_hand_sides; ///< where --rhs has several columns, else empty;
                                                ///< `result` then stands for all
    int columns_a_loop = 1;                     ///< how many of them one loop solves
    std::string one_by_one_because;             ///< empty: they were solved at once

    /// GB/s by the byte model; nothing without model or iterations.
    [[nodiscard]] std::optional<double> bandwidth() const;
};

/// T is the type of request.multiply.precision. Writes request.solution_file. `watch` says what is
/// known of matrix, devices and operator before the solve begins. The processes of the team solve
/// together: what one of them throws all throw.
template <class T>
[[nodiscard]] solve_outcome run_solve(const solve_request& request, const solve_watch& watch,
                                      process_team& team);

} // namespace krylith::tool

// Solves A x = b for several right-hand sides of one matrix, at once where there is a loop for
// that.
//
//     const column_method method{.solver = "cg", .preconditioner = "jacobi"};
//     column_solver<double> solver(group, matrix, count, method);
//     ...
//     const std::vector<solve_result> results = solver.solve(b, x);
//
// The systems are solved in one joint loop, which reads the matrix once for several columns
// (solvers/joint/), where the solver has one and the preconditioner is the diagonal or takes
// several columns (preconditioner_method::takes_columns); otherwise one after the other, with
// operator, preconditioner, vectors and recording made once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/solvers/table/joint_solver.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

struct solver_method;

/// How the systems of several right-hand sides are solved.
struct column_method {
    std::string solver = "auto"; ///< of solver_names(), or auto: chosen as solve() does
    /// As make_preconditioner() reads it; auto: chosen with solver auto, none with others.
    std::string preconditioner = "auto";
    bool at_once = true; ///< false: one after the other, whatever the solver could do
};

/// It refers to the matrix and to nodes.near_null, which outlive it. One thread at a time.
template <class T>
class column_solver {
public:
    /// `columns` is how many are usually solved for; where there are more, a joint loop runs again.
    /// Joint loops keep the matrix in CSR, and are taken where `multiply` asks for no other format
    /// and no other operator than halo. Throws usage_error for names and options that are not
    /// allowed and for columns < 1, and what making the operator and M throws.
    column_solver(const communicator& comm, const csr_view<T>& matrix, int columns,
                  const column_method& method = {}, const solver_options& options = {},
                  const operator_options& multiply = {}, const matrix_nodes& nodes = {});
    ~column_solver();

    /// Solves for all columns of b, which lie one after the other, each with as many entries as A
    /// has rows; x lies likewise, with as many entries a column as A has columns, and is what the
    /// solve starts from if options().initial_guess says so. Returns one result a column, in order.
    /// max_seconds limits all columns together.
    ///
    /// Columns that one loop shared have its time in solve_seconds. A column that the joint loop
    /// couldn't solve is solved alone where that may help: where it ended with not_a_number or
    /// attainable_accuracy, and with solver auto. Throws usage_error unless b and x have the same
    /// number of whole columns, input_error naming the first entry of b that isn't finite, and
    /// not_converged for the first column that failed if options().on_failure says so; x then holds
    /// all columns.
    [[nodiscard]] std::vector<solve_result> solve(std::span<const T> b, std::span<T> x);

    /// The options of the next solve. Joint loops have no history and no callback.
    [[nodiscard]] solver_options& options() { return options_; }
    /// Returns why columns are solved one after the other; empty where they are solved at once.
    [[nodiscard]] const std::string& one_by_one_because() const { return one_by_one_because_; }
    /// How many columns one loop solves; 1: one after the other.
    [[nodiscard]] int columns_a_loop() const { return joint_ ? joint_->columns() : 1; }
    /// The name of the solver: of the joint loop, or as it was asked for.
    [[nodiscard]] std::string solver_name() const;
    /// Why solver auto took it; empty where it was named, and where each column has its attempts.
    [[nodiscard]] const std::string& solver_because() const { return because_; }
    /// The name() of M: of the joint loop, or of the one that is given to the solver.
    [[nodiscard]] std::string preconditioner_name() const;
    /// What single columns are solved with; null as long as none has been.
    [[nodiscard]] const matrix_operator<T>* single_operator() const { return a_.get(); }
    /// M as a step of the joint loop, or as the solver of single columns has it; M = I where the
    /// loop applies the main diagonal in its own passes.
    [[nodiscard]] const any_preconditioner<T>& preconditioner() const;

private:
    /// Finds the joint loop, if there is one. Returns why there is none.
    [[nodiscard]] std::string choose(int columns, bool at_once);
    void make_joint(joint_maker<T> make, const column_preconditioner<T>& m, int columns);
    /// Makes what single columns are solved with.
    void make_single();
    [[nodiscard]] solve_result solve_alone(std::span<const T> b, std::span<T> x,
                                           const solver_options& options);
    [[nodiscard]] std::vector<solve_result> solve_at_once(std::span<const T> b, std::span<T> x,
                                                          const solver_options& options);
    [[nodiscard]] std::size_t check(std::span<const T> b, std::span<const T> x) const;
    /// Whether the choice of M is open, too.
    [[nodiscard]] bool open() const;

    communicator comm_;
    csr_view<T> matrix_;
    column_method method_;
    solver_options options_;
    operator_options multiply_;
    matrix_nodes nodes_;
    const solver_method* solver_;
    std::unique_ptr<joint_solver<T>> joint_;
    joint_preconditioner joint_m_ = joint_preconditioner::none;
    const solver_method* joint_method_ = nullptr;
    std::string because_;
    std::int64_t joint_iterations_ = -1; ///< that solver auto gives the joint loop
    std::unique_ptr<matrix_operator<T>> a_;
    any_preconditioner<T> m_;
    std::optional<vector<T>> b_;
    std::optional<vector<T>> x_;
    std::string one_by_one_because_;
};

/// Solves once, and leaves nothing on the devices.
template <class T>
[[nodiscard]] std::vector<solve_result>
solve_columns(const communicator& comm, const csr_view<T>& matrix,
              std::type_identity_t<std::span<const T>> b, std::type_identity_t<std::span<T>> x,
              const solver_options& options = {}, const matrix_nodes& nodes = {});
template <class T>
[[nodiscard]] std::vector<solve_result>
solve_columns(const communicator& comm, const csr_matrix<T>& matrix,
              std::type_identity_t<std::span<const T>> b, std::type_identity_t<std::span<T>> x,
              const solver_options& options = {}, const matrix_nodes& nodes = {}) {
    return solve_columns(comm, csr_view<T>(matrix), b, x, options, nodes);
}

} // namespace krylith

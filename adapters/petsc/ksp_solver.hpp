// What a KSP of type krylith keeps, and how it solves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <petsc/private/kspimpl.h>

#include <krylith/adapters/petsc/followed_mat.hpp>
#include <krylith/adapters/petsc/ksp_options.hpp>
#include <krylith/comm/communicator.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith::petsc {

/// All functions are collective over the processes of the KSP, and throw alike in all of them.
class ksp_solver {
public:
    explicit ksp_solver(ksp_options options) : options_(std::move(options)) {}

    [[nodiscard]] const ksp_options& options() const noexcept { return options_; }
    /// Takes the KSP's matrices as they are now, and makes M where it has a name.
    void follow(KSP ksp);
    /// Solves with the KSP's right-hand side, solution and tolerances, tells its monitors and its
    /// history of residuals, and sets its reason, iterations and residual.
    void solve(KSP ksp);
    /// What -ksp_view says.
    void view(PetscViewer viewer) const;

private:
    /// Whether M is one for the whole of the method to choose.
    [[nodiscard]] bool chooses_m() const;
    /// Gives M new values. Returns false where it is of a kind that can't take them.
    [[nodiscard]] bool update_m();
    [[nodiscard]] solve_result run(const vector<double>& b, vector<double>& x,
                                   const solver_options& options);
    [[nodiscard]] solve_result run_on(KSP ksp, const double* b, double* x,
                                      const solver_options& options);

    ksp_options options_;
    std::optional<communicator> comm_; ///< before what is made with it
    followed_mat a_;
    std::optional<followed_mat> p_; ///< of the KSP's second matrix, where it is another one
    std::string m_text_;            ///< empty: M is not made here
    std::vector<double> near_null_;
    PetscObjectId near_null_id_ = 0;
    any_preconditioner<double> m_;
    std::optional<vector<double>> b_, x_; ///< on devices that can't use arrays of the host
    std::string last_;                    ///< the last solve, in words
};

} // namespace krylith::petsc

// The solvers by name: the table, and the choice of one at run time.
//
// Another solver is a header and a file beside solvers/cg.hpp and solvers/cg.cpp with its row
// (solvers/table/solver_method.hpp has the fields), and two lines here.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <krylith/solvers/table/solver_method.hpp>

namespace krylith {

/// The rows, each beside its solver.
namespace solver_rows {
/// The choice among the others by what A is (solvers/automatic.hpp). It is no method of its own, so
/// all_solvers doesn't have it.
extern const solver_method automatic;
extern const solver_method cg;
extern const solver_method cg_launched;
extern const solver_method cg_persistent;
extern const solver_method gmres;
extern const solver_method gmres_cgs2;
extern const solver_method fgmres;
extern const solver_method fcg;
extern const solver_method minres;
extern const solver_method lsqr;
extern const solver_method bicgstab_l;
extern const solver_method idr;
extern const solver_method bicgstab;
} // namespace solver_rows

inline constexpr std::array all_solvers = {
    &solver_rows::cg,         &solver_rows::cg_launched, &solver_rows::cg_persistent,
    &solver_rows::fcg,        &solver_rows::minres,      &solver_rows::gmres,
    &solver_rows::gmres_cgs2, &solver_rows::fgmres,      &solver_rows::bicgstab,
    &solver_rows::bicgstab_l, &solver_rows::idr,         &solver_rows::lsqr};

/// The names in the order of the table.
[[nodiscard]] std::vector<std::string_view> solver_names();

/// Returns "auto" and the names in the order of the table.
[[nodiscard]] std::vector<std::string_view> solver_choices();

/// Returns the row of this name, such as "cg": find_solver("cg").solve(*a, b, x, options, m). With
/// "auto" no preconditioner means that it is chosen, too.
/// Throws usage_error naming the nearest valid name.
[[nodiscard]] const solver_method& find_solver(std::string_view name);

} // namespace krylith

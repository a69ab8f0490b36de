// The table of preconditioners.
//
// Another preconditioner is a file beside precond/jacobi.cpp with its row
// (precond/table/preconditioner_method.hpp has the fields), and two lines here.
#pragma once

#include <array>
#include <string_view>

#include <krylith/precond/table/preconditioner_method.hpp>

namespace krylith {

/// The rows, each beside its preconditioner.
namespace preconditioner_rows {
extern const preconditioner_method jacobi;
extern const preconditioner_method block_jacobi;
extern const preconditioner_method chebyshev;
extern const preconditioner_method multigrid;
extern const preconditioner_method ilu0;
extern const preconditioner_method ic0;
extern const preconditioner_method ilut;
extern const preconditioner_method fsai;
extern const preconditioner_method spai;
extern const preconditioner_method gauss_seidel;
extern const preconditioner_method equilibration;
} // namespace preconditioner_rows

inline constexpr std::array all_preconditioners = {
    &preconditioner_rows::jacobi,       &preconditioner_rows::block_jacobi,
    &preconditioner_rows::chebyshev,    &preconditioner_rows::multigrid,
    &preconditioner_rows::ilu0,         &preconditioner_rows::ic0,
    &preconditioner_rows::ilut,         &preconditioner_rows::fsai,
    &preconditioner_rows::spai,         &preconditioner_rows::gauss_seidel,
    &preconditioner_rows::equilibration};

/// A row with values of its parameters; none of both: M = I.
struct preconditioner_choice {
    const preconditioner_method* method = nullptr;
    method_parameters parameters{{}};
};

/// Reads NAME[:KEY=VALUE]..., such as "none" or "jacobi". Throws usage_error naming what is wrong,
/// the nearest valid name, and what is allowed.
[[nodiscard]] preconditioner_choice parse_preconditioner(std::string_view text);

} // namespace krylith

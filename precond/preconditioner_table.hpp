// The preconditioners by name: the table, and the choice of one at run time by a text such as
// "jacobi".
//
// Another preconditioner is a file beside precond/jacobi.cpp with its row
// (precond/table/preconditioner_method.hpp has the fields), and two lines here.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/table/preconditioner_method.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// The rows, each beside its preconditioner.
namespace preconditioner_rows {
extern const preconditioner_method jacobi;
extern const preconditioner_method chebyshev;
} // namespace preconditioner_rows

inline constexpr std::array all_preconditioners = {&preconditioner_rows::jacobi,
                                                   &preconditioner_rows::chebyshev};

/// The names that a text may begin with: none, then the rows in the order of the table.
[[nodiscard]] std::vector<std::string_view> preconditioner_names();

/// A row with values of its parameters; none of both: M = I.
struct preconditioner_choice {
    const preconditioner_method* method = nullptr;
    method_parameters parameters{{}};
};

/// Reads NAME[:KEY=VALUE]..., such as "none" or "jacobi". Throws usage_error naming what is wrong,
/// the nearest valid name, and what is allowed.
[[nodiscard]] preconditioner_choice parse_preconditioner(std::string_view text);

/// Makes the preconditioner that a text names, for an operator of a matrix; "none" is
/// any_preconditioner<T>(). It takes values from the devices where it can, and otherwise throws
/// usage_error. Throws what parse_preconditioner() and its constructor throw.
template <class T>
[[nodiscard]] any_preconditioner<T> make_preconditioner(std::string_view text,
                                                        const matrix_operator<T>& a);

/// The same for an operator that doesn't know its own entries; `matrix` in host memory has them.
template <class T>
[[nodiscard]] any_preconditioner<T>
make_preconditioner(std::string_view text, const matrix_operator<T>& a,
                    const std::type_identity_t<csr_view<T>>& matrix);

} // namespace krylith

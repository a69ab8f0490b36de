// Whether a method can take a preconditioner, as far as that says what it is.
#pragma once

#include <string>
#include <string_view>

#include <krylith/precond/preconditioner.hpp>

namespace krylith {

namespace detail {

/// Throw usage_error that names both and what to take instead.
[[noreturn]] void refuse_varying(const std::string& name, std::string_view solver,
                                 bool needs_symmetric);
[[noreturn]] void refuse_unsymmetric(const std::string& name, std::string_view solver);

} // namespace detail

/// Throws usage_error naming M and the solver where M says that it is of a kind that the solver
/// can't take.
template <class M>
void check_preconditioner(const M& m, std::string_view solver, bool takes_varying,
                          bool needs_symmetric) {
    if (!takes_varying && varies(m)) detail::refuse_varying(m.name(), solver, needs_symmetric);
    if (needs_symmetric && !may_be_symmetric(m)) detail::refuse_unsymmetric(m.name(), solver);
}

} // namespace krylith

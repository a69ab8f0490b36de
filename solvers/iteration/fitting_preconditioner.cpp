#include <krylith/solvers/iteration/fitting_preconditioner.hpp>

#include <krylith/device/error.hpp>

namespace krylith::detail {

void refuse_varying(const std::string& name, std::string_view solver, bool needs_symmetric) {
    throw usage_error(std::string(solver) + " needs a preconditioner that is the same in every " +
                      "application; " + name + " varies: take " +
                      (needs_symmetric ? "fcg, or fgmres where A or M is not symmetric positive "
                                         "definite"
                                       : "fgmres"));
}

void refuse_unsymmetric(const std::string& name, std::string_view solver) {
    throw usage_error(std::string(solver) +
                      " needs a symmetric positive definite preconditioner; " + name +
                      " is not symmetric: take gmres, fgmres or bicgstab");
}

} // namespace krylith::detail

#include <krylith/tools/recommend/recommend_trial.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace krylith::tool {

namespace {

constexpr double wide_diagonal = 100;
constexpr int long_restart = 100;

/// Why jacobi is no use; empty: it is.
std::string why_no_jacobi(const diagonal_statistics& d) {
    if (d.has_zeros())
        return fmt::format("{} of {} diagonal entries are 0", d.missing + d.zeros, d.length);
    if (!std::isfinite(1 / d.smallest)) return "the inverse of a diagonal entry overflows";
    if (d.least == d.most) return "all diagonal entries are equal, so that it changes nothing";
    return {};
}

double span(const diagonal_statistics& d) {
    return std::max(std::fabs(d.least), std::fabs(d.most)) / d.smallest;
}

class planner {
public:
    explicit planner(const matrix_statistics& s) : s_(s), no_jacobi_(why_no_jacobi(s.diagonal)) {
        if (!no_jacobi_.empty()) plan_.left_out.push_back("jacobi: " + no_jacobi_);
    }

    void conjugate_gradients(const std::string& because) {
        if (no_jacobi_.empty()) add("cg", "jacobi", "right", 30, because);
        add("cg", "none", "right", 30, because);
    }

    void general(const std::string& because) {
        const bool jacobi = no_jacobi_.empty();
        const char* first = jacobi ? "jacobi" : "none";
        add("gmres", first, "right", 30, because);
        add("bicgstab", first, "right", 30, because + "; short recurrences");
        if (s_.rows > 30)
            add("gmres", first, "right", long_restart, because + "; a longer memory may not stall");
        if (!jacobi) return;
        if (span(s_.diagonal) > wide_diagonal) {
            const std::string scaled =
                fmt::format("the diagonal spans a factor of {:.1g}", span(s_.diagonal));
            if (s_.diagonal.negative == 0) {
                add("gmres", "jacobi", "split", 30, scaled);
                add("bicgstab", "jacobi", "split", 30, scaled);
            } else {
                plan_.left_out.emplace_back("jacobi split: the diagonal has negative entries");
            }
            add("gmres", "jacobi", "left", 30, scaled);
            add("bicgstab", "jacobi", "left", 30, scaled);
        }
        add("bicgstab", "none", "right", 30, "in case jacobi harms");
    }

    void leave_out(const std::string& what) { plan_.left_out.push_back(what); }
    [[nodiscard]] candidates result() { return std::move(plan_); }

private:
    void add(const char* solver, const char* preconditioner, const char* side, int restart,
             const std::string& because) {
        plan_.tried.push_back({solver, preconditioner, side, restart, because});
    }

    const matrix_statistics& s_;
    std::string no_jacobi_;
    candidates plan_;
};

} // namespace

candidates choose_candidates(const matrix_statistics& s, const classification& kind) {
    if (kind.what == matrix_class::no_system) return {{}, {"every solver: " + kind.words}};
    planner plan(s);
    switch (kind.what) {
    case matrix_class::positive_definite:
    case matrix_class::positive_semidefinite:
        plan.conjugate_gradients("symmetric, positive diagonal, dominant");
        plan.leave_out("gmres, bicgstab: cg costs less on such a matrix");
        break;
    case matrix_class::positive_candidate:
        plan.conjugate_gradients("symmetric, positive diagonal");
        plan.general("in case it is not positive definite");
        break;
    case matrix_class::negative_candidate:
        plan.leave_out("cg: the diagonal is negative; -A x = -b may suit it");
        plan.general("symmetric, but not positive definite");
        break;
    case matrix_class::indefinite:
        plan.leave_out("cg: not positive definite (" + kind.words + ")");
        plan.general("symmetric, but not positive definite");
        break;
    default: plan.leave_out("cg: the matrix is not symmetric"); plan.general("not symmetric");
    }
    return plan.result();
}

std::string name_of(const candidate& c) {
    std::string name = c.solver == "gmres" ? fmt::format("gmres({})", c.restart) : c.solver;
    if (c.preconditioner != "none") name += " + " + c.preconditioner;
    if (c.preconditioner != "none" && c.side != "right") name += " (" + c.side + ")";
    return name;
}

} // namespace krylith::tool

#include <krylith/solvers/iteration/diagnosis.hpp>

#include <cmath>
#include <cstdio>
#include <limits>

namespace krylith {

namespace {

std::string short_text(double value) {
    char text[32];
    (void)std::snprintf(text, sizeof text, "%.1e", value);
    return text;
}

/// A recurrence far below the true residual means that rounding limits the latter.
bool rounding_parted_them(const solve_result& r) {
    return r.recurrence_residual < 0.1 * r.true_residual;
}

/// A residual at half the digits is near the best that most systems allow.
bool at_the_accuracy(const solve_result& r, double machine_epsilon) {
    return rounding_parted_them(r) || r.relative_residual() <= std::sqrt(machine_epsilon);
}

/// Of least squares.
std::string no_normal_progress(const solve_result& r) {
    return "no more progress: ||b - A x|| is " + short_text(r.relative_residual()) +
           " of ||b||, and ||A'(b - A x)|| " + short_text(r.normal->relative) +
           " of ||A|| ||b - A x||, which is as far as rounding allows here: ask for less by rtol "
           "and rtol_normal, or scale the columns of A to one size";
}

std::string no_progress(const solve_result& r, double machine_epsilon) {
    if (r.normal) return no_normal_progress(r);
    const double left = r.relative_residual();
    const std::string beyond =
        "no progress: the relative residual is " + short_text(left) + ", larger than that of x = 0";
    if (r.rhs_norm > 0 && left > 1)
        return rounding_parted_them(r)
                   ? beyond + ", where the recurrence has " +
                         short_text(r.recurrence_residual / r.rhs_norm) +
                         ": rounding outweighs b. A may be singular, or nearly; try another "
                         "right-hand side or a preconditioner"
                   : beyond + ": the method doesn't converge for this matrix (CG needs a "
                              "symmetric positive definite one); try another method or a "
                              "preconditioner";
    if (!at_the_accuracy(r, machine_epsilon))
        return "no more progress at a relative residual of " + short_text(left) +
               ", far above rounding: the method is stuck; use a preconditioner or another method "
               "(GMRES: a larger restart). If A is singular, b may lie outside its range";
    if (machine_epsilon > std::numeric_limits<double>::epsilon())
        return "no more progress: fp32 reaches a relative residual of about " + short_text(left) +
               " here: ask for less, or use fp64";
    return "no more progress: fp64 reaches a relative residual of about " + short_text(left) +
           " here, the attainable accuracy: ask for less, or use a preconditioner" +
           (left > std::sqrt(machine_epsilon) ? ". So little says that A is singular, or nearly: "
                                                "look for a part of it that nothing holds"
                                              : "");
}

std::string hidden_by_rounding(const solve_result& r, double machine_epsilon) {
    const bool fp32 = machine_epsilon > std::numeric_limits<double>::epsilon();
    const double unit = r.rhs_norm > 0 ? r.rhs_norm : 1;
    const double rounding = r.residual_rounding / unit;
    const std::string ask = std::string(fp32 ? "use fp64, or " : "") + "ask for less";
    const std::string words = "attainable accuracy: rounding may change ||b - A x|| by " +
                              short_text(rounding) + (r.rhs_norm > 0 ? " of ||b||" : "") + " in " +
                              (fp32 ? "fp32" : "fp64") + ", more than what was asked for; in " +
                              "doubled precision it is " + short_text(r.relative_residual()) +
                              ", and gets no smaller";
    // The bound grows with the length of rows, too.
    if (rounding <= (fp32 ? 1 : std::sqrt(machine_epsilon))) return words + ": " + ask;
    return words +
           ". x is very large for its b: A is singular, or nearly. Look for a part of it "
           "that nothing holds (a circuit that is nowhere grounded, a body without "
           "support), which needs a fixed value; else " +
           ask;
}

std::string out_of_range(const solve_result& r, double machine_epsilon) {
    const bool fp32 = machine_epsilon > std::numeric_limits<double>::epsilon();
    return std::string("x is beyond the range of ") + (fp32 ? "fp32" : "fp64") + ": its entries " +
           (std::isfinite(r.true_residual) ? "are so small that they lose digits" : "overflow") +
           "; " + (fp32 ? "use fp64, or " : "") + "solve for a multiple of x by scaling b";
}

/// A first r'M^-1 r below 0 may mean that M is negative definite; a later one can't.
std::string indefinite_preconditioner(const solve_result& r, const std::string& at) {
    const std::string words =
        "r'M^-1 r <= 0" + at + ": the preconditioner is not positive definite";
    if (r.iterations == 0)
        return words + ". Jacobi is negative definite where A is: then solve (-A) x = -b. Else try "
                       "gmres or "
                       "bicgstab";
    return words + "; try gmres or bicgstab, or another preconditioner";
}

std::string indefinite_matrix(const solve_result& r, const std::string& at) {
    const std::string words =
        "p'Ap <= 0" + at +
        ": the matrix is not symmetric positive definite; try gmres or bicgstab, or minres where "
        "it is symmetric";
    return r.iterations > 1 ? words
                            : words + ". If A is negative definite (a negative diagonal), solve "
                                      "(-A) x = -b";
}

constexpr const char* continued = "; a solve with initial_guess goes on from it";

} // namespace

std::string diagnosis(const solve_result& r, double machine_epsilon) {
    const std::string at = " at iteration " + std::to_string(r.iterations);
    switch (r.reason) {
    case reason::max_iterations:
        if (r.normal)
            return "the iterations ran out: allow more, or scale the columns of A to one size";
        return "the iterations ran out: allow more, or use a (better) preconditioner";
    case reason::diverged:
        return "the residual grew beyond divergence_tolerance" + at +
               ": the matrix may not be what the method needs (CG: symmetric positive definite); "
               "try gmres";
    case reason::breakdown:
        return "a scalar that the method divides by vanished" + at +
               ": try gmres, or another right-hand side or start";
    case reason::indefinite_matrix: return indefinite_matrix(r, at);
    case reason::indefinite_preconditioner: return indefinite_preconditioner(r, at);
    case reason::not_a_number:
        if (r.iterations == 0 && !std::isfinite(r.rhs_norm)) return "b holds a NaN or an infinity";
        return "a NaN or an infinity" + at +
               (std::isfinite(r.true_residual)
                    ? ", where b - A x is finite: look at M, or at entries of A whose products "
                      "overflow"
                    : ": look at the values of A and x0, and at M");
    case reason::stagnated: return no_progress(r, machine_epsilon);
    case reason::attainable_accuracy: return hidden_by_rounding(r, machine_epsilon);
    case reason::out_of_range: return out_of_range(r, machine_epsilon);
    case reason::stopped_by_user:
        return "the callback said stop: x is the iterate" + at + continued;
    case reason::interrupted: return "a stop was requested: x is the iterate" + at + continued;
    case reason::time_limit: return "max_seconds are over: x is the iterate" + at + continued;
    default: return {};
    }
}

} // namespace krylith

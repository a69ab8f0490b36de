#include <krylith/tools/solve/solve_report.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <krylith/precond/preconditioner.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/solve/columns_report.hpp>
#include <krylith/tools/solve/failure_advice.hpp>
#include <krylith/tools/solve/operator_report.hpp>

namespace krylith::tool {

namespace {

using items = std::map<std::string, std::size_t>;

double total(const items& bytes) {
    double sum = 0;
    for (const auto& [item, count] : bytes) sum += static_cast<double>(count);
    return sum;
}

/// Of the device that needs most.
std::string memory(const std::vector<items>& by_device) {
    const auto fullest = std::ranges::max_element(by_device, {}, total);
    std::string parts;
    for (const auto& [item, bytes] : *fullest)
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", item,
                             in_bytes(static_cast<double>(bytes)));
    return fmt::format("{} a device{}: {}", in_bytes(total(*fullest)),
                       by_device.size() > 1 ? " at most" : "", parts);
}

std::string outcome_line(const solve_outcome& o) {
    const solve_result& r = o.result;
    return fmt::format("{}, after {} iteration{}{}", in_words(r.reason), r.iterations,
                       r.iterations == 1 ? "" : "s",
                       r.replacements == 0
                           ? ""
                           : fmt::format(", {} residual replacement{}", r.replacements,
                                         r.replacements == 1 ? "" : "s"));
}

std::string with_preconditioner(const std::string& name) {
    return name == identity::name() ? "without preconditioner" : "with " + name;
}

/// "auto: cg with jacobi (symmetric, positive diagonal varies by 1e6)", and before it those that
/// failed.
std::string attempt_lines(const solve_result& r) {
    const solve_attempt* const best = r.best_attempt();
    if (best == nullptr) return {};
    std::string text;
    for (const solve_attempt& attempt : r.attempts) {
        const bool plain = attempt.preconditioner == identity::name();
        const std::string restart =
            attempt.restart == 0 ? "" : fmt::format("({})", attempt.restart);
        const std::string side = plain || attempt.side.empty() || attempt.side == side_names[1]
                                     ? ""
                                     : " on the " + attempt.side;
        const std::string how =
            fmt::format("{}{} {}{} ({})", attempt.solver, restart,
                        with_preconditioner(attempt.preconditioner), side, attempt.because);
        if (!attempt.refused.empty()) {
            text += named_line("", "tried: " + how + ": " + attempt.refused);
            continue;
        }
        const std::string end = in_words(attempt.reason);
        text += named_line("", &attempt == best
                                   ? "auto: " + how
                                   : fmt::format("tried: {}: {} after {} iterations, {}", how,
                                                 end.substr(end.find(": ") + 2), attempt.iterations,
                                                 in_seconds(attempt.seconds)));
    }
    return text;
}

std::string time_lines(const solve_outcome& o) {
    const solve_result& r = o.result;
    std::string text = named_line(
        "time", fmt::format("load {}, setup {}, transfer {}, solve {}", in_seconds(o.load_seconds),
                            in_seconds(o.setup_seconds), in_seconds(o.transfer_seconds),
                            in_seconds(r.solve_seconds)));
    if (r.iterations == 0 || !o.right_hand_sides.empty()) return text;
    std::string each = in_seconds(r.seconds_per_iteration()) + " an iteration";
    if (o.bandwidth())
        each += fmt::format(", {:.4g} GB/s by the byte model of {}", *o.bandwidth(),
                            in_bytes(*o.bytes_an_iteration));
    return text + named_line("", each);
}

/// A table: a line a level.
std::string level_lines(const std::vector<multigrid_level_facts>& levels) {
    if (levels.empty()) return {};
    std::string text = named_line(
        "multigrid",
        fmt::format("{} levels, {:.2f} times the nonzeros of A, {:.2f} times its "
                    "rows{}",
                    levels.size(), operator_complexity(levels), grid_complexity(levels),
                    levels.front().next_rows.empty() ? "" : "; " + levels.front().next_rows));
    for (std::size_t k = 0; k < levels.size(); ++k)
        text += named_line("", fmt::format("{:>2} {:>11} rows {:>12} nonzeros ({:>6.1f} a row), {}",
                                           k, levels[k].rows, levels[k].nonzeros,
                                           levels[k].rows > 0
                                               ? static_cast<double>(levels[k].nonzeros) /
                                                     static_cast<double>(levels[k].rows)
                                               : 0.0,
                                           levels[k].format));
    if (const std::string& why = levels.back().why_last; !why.empty())
        text += named_line("", "no coarser level: " + why);
    return text;
}

} // namespace

const char* in_words(reason why) noexcept {
    switch (why) {
    case reason::converged_rtol: return "converged: ||b - A x|| <= rtol ||b||";
    case reason::converged_atol: return "converged: ||b - A x|| <= atol";
    case reason::converged_rtol_normal:
        return "converged: ||A'(b - A x)|| <= rtol_normal ||A|| ||b - A x||";
    case reason::happy_breakdown: return "converged: the Krylov space holds the solution";
    case reason::max_iterations: return "NOT converged: the iterations ran out";
    case reason::diverged: return "NOT converged: the residual grew without bound";
    case reason::breakdown: return "NOT converged: the method broke down";
    case reason::indefinite_matrix: return "NOT converged: the matrix is not positive definite";
    case reason::indefinite_preconditioner:
        return "NOT converged: the preconditioner is not positive definite";
    case reason::not_a_number: return "NOT converged: a NaN or an infinity turned up";
    case reason::stagnated: return "NOT converged: no more progress";
    case reason::attainable_accuracy:
        return "NOT converged: rounding hides the residual (attainable accuracy)";
    case reason::out_of_range: return "NOT converged: x is beyond the range of its precision";
    case reason::stopped_by_user: return "NOT converged: stopped";
    case reason::interrupted: return "NOT converged: interrupted";
    case reason::time_limit: return "NOT converged: the time is over";
    }
    return "unknown";
}

std::string matrix_lines(const solve_request& request, const solve_outcome& o) {
    const double per_row =
        static_cast<double>(o.nnz) / static_cast<double>(std::max<std::int64_t>(o.rows, 1));
    return named_line("matrix",
                      fmt::format("{}{}: {} rows, {}{} nonzeros ({:.1f} a row)", request.matrix,
                                  request.spd ? " made spd" : "", o.rows,
                                  o.rows == o.columns ? "" : fmt::format("{} columns, ", o.columns),
                                  o.nnz, per_row));
}

std::string in_words(const row_matching_report& r) {
    std::string text = fmt::format("{} stand elsewhere, for large entries on the diagonal ({})",
                                   r.moved, in_seconds(r.seconds));
    if (r.unmatched != 0)
        text += fmt::format("; {} have none there: A is singular whatever its values", r.unmatched);
    return text;
}

std::string operator_lines(const solve_outcome& o) {
    std::string text = o.matched ? named_line("rows", in_words(*o.matched)) : std::string();
    text += named_line(
        "devices", fmt::format("{}{}: {}", o.devices.size(),
                               o.processes == 1 ? "" : fmt::format(" of {} processes", o.processes),
                               fmt::join(o.devices, "; ")));
    if (!o.devices_because.empty()) text += named_line("", "auto: " + o.devices_because);
    text += named_line("operator",
                       fmt::format("{} ({}), format {}", o.operator_name, o.operator_because,
                                   format_in_words(o.format_name, o.narrow_fraction)));
    if (o.reordered.order) text += named_line("order", in_words(o.reordered));
    if (o.devices.size() > 1)
        text += named_line("transport", fmt::format("{} ({})", o.transport, o.transport_because));
    return text;
}

std::string outcome_lines(const solve_request& request, const solve_outcome& o) {
    const solve_result& r = o.result;
    std::string text =
        named_line("solver", fmt::format("{}, preconditioner {}, {}, {}", o.solver,
                                         o.preconditioner, request.multiply.precision,
                                         r.form == "persistent" ? "one kernel a GPU"
                                         : r.recorded           ? "recorded"
                                                                : "eager: " + o.eager_because));
    if (r.attempts.empty() && !o.solver_because.empty() && o.right_hand_sides.empty())
        text += named_line("", fmt::format("auto: {} ({})", o.solver, o.solver_because));
    const bool several = !o.right_hand_sides.empty();
    if (several && o.one_by_one_because.empty() && !o.solver_because.empty())
        text +=
            named_line("", fmt::format("auto: {} {} ({})", o.solver,
                                       with_preconditioner(o.preconditioner), o.solver_because));
    if (!several) text += attempt_lines(r);
    text += level_lines(o.levels);
    text += several ? column_lines(o) : named_line("outcome", outcome_line(o));
    for (const kernel_use& use : o.kernel_uses)
        text += named_line("", fmt::format("{} products by {}", use.products, use.kernel));
    if (!several)
        text +=
            named_line("residual", fmt::format("{:.3e} relative to ||b|| = {:.3e} (true); {:.3e} "
                                               "(recurrence)",
                                               r.relative_residual(), r.rhs_norm,
                                               r.rhs_norm > 0 ? r.recurrence_residual / r.rhs_norm
                                                              : r.recurrence_residual));
    if (r.normal)
        text += named_line(
            "", fmt::format("{:.3e} of A'(b - A x), relative to ||A|| ||b - A x||, where "
                            "||A|| is about {:.3e}",
                            r.normal->relative, r.normal->matrix_norm));
    if (o.solution_error)
        text +=
            named_line("error", fmt::format("{:.3e} at most in an entry of x, which should be ones",
                                            *o.solution_error));
    if (r.spectrum)
        text +=
            named_line("condition", fmt::format("about {:.2e}: eigenvalues {:.3e} to {:.3e} by cg",
                                                r.spectrum->condition(), r.spectrum->smallest,
                                                r.spectrum->largest));
    text += time_lines(o);
    if (!r.bytes.empty()) text += named_line("memory", memory(r.bytes));
    if (!r.diagnosis.empty()) text += named_line("diagnosis", r.diagnosis);
    for (const std::string& warning : o.warnings) text += named_line("warning", warning);
    if (asks_for_advice(r) && !several) text += named_line("next", next_command(request));
    return text;
}

} // namespace krylith::tool

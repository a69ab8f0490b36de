#include <krylith/tools/solve/failure_advice.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/operator_facts.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::tool {

namespace {

/// Why cg can't go on, as far as signs on the diagonal tell; empty: they don't.
template <class T>
std::string of_signs(const csr_matrix<T>& matrix) {
    const diagonal_statistics d = survey_entries(csr_view<T>(matrix)).diagonal;
    if (d.length > 0 && d.negative == d.length)
        return "every entry of the diagonal is negative: if the matrix is negative definite, cg "
               "solves (-A) x = -b; as it is, try gmres or bicgstab";
    if (d.negative > 0)
        return fmt::format("the diagonal has {} negative entr{}: the matrix is not positive "
                           "definite, try gmres or bicgstab",
                           d.negative, d.negative == 1 ? "y" : "ies");
    if (d.has_zeros())
        return "the diagonal has zeros: the matrix is not positive definite, try gmres or bicgstab";
    return {};
}

bool means_not_definite(reason why) {
    return why == reason::indefinite_matrix || why == reason::indefinite_preconditioner;
}

} // namespace

bool asks_for_advice(const solve_result& result) {
    return !result.converged() && result.reason != reason::interrupted;
}

template <class T>
std::string explained(const solve_request& request, const solve_result& result,
                      const csr_matrix<T>* matrix) {
    if (result.reason == reason::interrupted || result.reason == reason::time_limit)
        return fmt::format("x is the iterate at iteration {}: what --solution FILE writes, a solve "
                           "with --x0 FILE goes on from",
                           result.iterations);
    if (matrix == nullptr || result.converged() || result.reason == reason::not_a_number ||
        !find_solver(request.solver).needs_spd)
        return result.diagnosis;
    std::string cause = asymmetry(*matrix);
    if (!cause.empty())
        cause += ": cg needs symmetry, try gmres or bicgstab";
    else if (means_not_definite(result.reason))
        cause = of_signs(*matrix);
    if (cause.empty()) return result.diagnosis;
    // What the library says first; its guesses at the cause are answered.
    return cause + ". (" + result.diagnosis.substr(0, result.diagnosis.find(". ")) + ")";
}

std::string next_command(const solve_request& request) {
    const solve_request standard;
    std::string line = "krylith recommend " + quoted(request.matrix);
    if (request.spd) line += " --spd";
    const auto add = [&](const char* option, const auto& value, const auto& usual) {
        if (value != usual) line += fmt::format(" {} {}", option, value);
    };
    add("--rhs", quoted(request.rhs), standard.rhs);
    if (request.options.rtol) line += fmt::format(" --rtol {}", *request.options.rtol);
    add("--atol", request.options.atol, standard.options.atol);
    add("--backend", request.devices.backend, standard.devices.backend);
    add("--threads", request.devices.threads, standard.devices.threads);
    add("--transport", request.devices.transport, standard.devices.transport);
    return line;
}

template <class T>
std::string asymmetry_warning(const solver_method& solver, const solve_result& result,
                              const matrix_operator<T>& a, const csr_matrix<T>* matrix) {
    if (!solver.needs_spd || !result.converged()) return {};
    const std::string name(solver.name);
    try {
        const operator_facts& facts = facts_of(a);
        if (facts.symmetric || !std::isfinite(facts.asymmetry)) return {};
        std::string cause = matrix != nullptr ? asymmetry(*matrix) : "";
        if (cause.empty())
            cause = fmt::format("the matrix is symmetric only up to {:.0e} of its size",
                                facts.asymmetry);
        return fmt::format("{}: {} needs symmetry and converged without, which another right-hand "
                           "side may not allow; gmres and bicgstab need none",
                           cause, name);
    } catch (const device_error& failure) { // the solve has converged: that must not be lost
        return fmt::format("whether the matrix is symmetric, as {} needs it, was not found out: {}",
                           name, failure.what());
    }
}

template <class T>
std::string rtol_warning(const solve_result& result) {
    constexpr double unit = std::numeric_limits<T>::epsilon();
    if (result.rtol >= unit) return {};
    const char* precision = std::is_same_v<T, float> ? "fp32" : "fp64";
    return fmt::format("rtol {} is less than {} can tell ({:.1e}): converged refers to the "
                       "residual as evaluated in {}",
                       result.rtol, precision, unit, precision);
}

template <class T>
bool annihilates_constants(const csr_matrix<T>& matrix, const communicator* sharing) {
    double largest_sum = 0;
    double largest_row = 0;
    std::int64_t longest = 0;
    for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row) {
        double sum = 0;
        double size = 0;
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[row]);
             k < static_cast<std::size_t>(matrix.row_offsets[row + 1]); ++k) {
            sum += static_cast<double>(matrix.values[k]);
            size += std::fabs(static_cast<double>(matrix.values[k]));
        }
        largest_sum = std::fmax(largest_sum, std::fabs(sum));
        largest_row = std::fmax(largest_row, size);
        longest = std::max(longest, matrix.row_offsets[row + 1] - matrix.row_offsets[row]);
    }
    struct extremes {
        double sum;
        double row;
        std::int64_t longest;
    };
    std::vector<extremes> all(sharing != nullptr ? static_cast<std::size_t>(sharing->ranks()) : 0,
                              {largest_sum, largest_row, longest});
    if (sharing != nullptr) sharing->all_gather(all);
    for (const extremes& one : all) {
        largest_sum = std::fmax(largest_sum, one.sum);
        largest_row = std::fmax(largest_row, one.row);
        longest = std::max(longest, one.longest);
    }
    const double rounding = std::numeric_limits<T>::epsilon() * static_cast<double>(longest + 1);
    return largest_row > 0 && largest_sum <= rounding * largest_row;
}

template std::string explained(const solve_request&, const solve_result&,
                               const csr_matrix<double>*);
template std::string explained(const solve_request&, const solve_result&, const csr_matrix<float>*);
template std::string rtol_warning<double>(const solve_result&);
template std::string rtol_warning<float>(const solve_result&);
template bool annihilates_constants(const csr_matrix<double>&, const communicator*);
template bool annihilates_constants(const csr_matrix<float>&, const communicator*);

template <class T>
std::string asymmetry(const csr_matrix<T>& matrix) {
    const auto found = measure_symmetry(csr_view<T>(matrix)).first_difference;
    if (!found) return {};
    return fmt::format("the matrix is not symmetric: {}", in_words(*found));
}

std::string in_words(const mirrored_entry& entry) {
    return fmt::format("entry ({}, {}) is {:g}, its mirror {:g} (counted from 1)", entry.row + 1,
                       entry.column + 1, entry.here, entry.there);
}

template std::string asymmetry_warning(const solver_method&, const solve_result&,
                                       const matrix_operator<double>&, const csr_matrix<double>*);
template std::string asymmetry_warning(const solver_method&, const solve_result&,
                                       const matrix_operator<float>&, const csr_matrix<float>*);
template std::string asymmetry(const csr_matrix<double>&);
template std::string asymmetry(const csr_matrix<float>&);

} // namespace krylith::tool

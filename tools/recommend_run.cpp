#include <krylith/tools/recommend_run.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/tools/placement.hpp>
#include <krylith/tools/square_matrix.hpp>
#include <krylith/tools/stopwatch.hpp>

namespace krylith::tool {

namespace {

/// The share of the time for methods; the rest is for placements, where there is a choice.
constexpr double method_share = 0.7;

struct place {
    int devices;
    operator_options multiply;
};

/// Every operator and local kernel on every number of devices; `auto` first.
std::vector<place> places(const recommend_request& request) {
    std::vector<local_kind> locals = {local_kind::automatic};
    if (select_backend(request.solve.devices) == backend::cuda)
        locals = {local_kind::automatic, local_kind::sell, local_kind::csr, local_kind::merge,
                  local_kind::vendor};
    std::vector<place> result;
    for (const int devices : request.counts) {
        std::vector<operator_kind> kinds = {operator_kind::automatic};
        if (devices > 1)
            kinds = {operator_kind::automatic, operator_kind::halo, operator_kind::nz,
                     operator_kind::gather};
        for (const operator_kind kind : kinds)
            for (const local_kind local : locals) result.push_back({devices, {kind, local}});
    }
    return result;
}

bool known(const std::vector<placement_trial>& tried, const matrix_operator<double>& a) {
    return std::ranges::any_of(tried, [&](const placement_trial& t) {
        return t.devices == a.share_layout()->group.size() &&
               (t.devices == 1 || t.operator_name == to_string(a.kind())) &&
               t.local_name == a.local_name();
    });
}

/// Time for the same iterations: what a placement changes.
double an_iteration(const placement_trial& p) {
    return p.run.outcome == verdict::failed ? std::numeric_limits<double>::infinity()
                                            : p.run.seconds_an_iteration;
}

void try_placements(recommendation& r, const recommend_request& request,
                    const csr_matrix<double>& matrix, std::span<const double> rhs, double seconds) {
    const std::vector<place> all = places(request);
    const trial& winner = r.trials[*r.chosen];
    solve_request asked = request.solve;
    asked.max_iterations = winner.iterations; // equal work for all
    if (all.size() == 1) {                    // nothing to choose from
        r.placements.push_back({all.front().devices, "auto", "auto", true, winner});
        r.placed = 0;
        return;
    }
    for (const place& p : all) {
        placement_trial t;
        t.devices = p.devices;
        try {
            trial_bench bench(first_devices(request.solve.devices, p.devices), matrix, p.multiply,
                              rhs);
            if (known(r.placements, bench.a())) continue;
            t.operator_name = to_string(bench.a().kind());
            t.local_name = bench.a().local_name();
            t.automatic = p.multiply.kind == operator_kind::automatic &&
                          p.multiply.local == local_kind::automatic;
            t.run = bench.run(winner.method, asked, seconds / static_cast<double>(all.size()));
        } catch (const device_error& failure) {
            t.operator_name = to_string(p.multiply.kind);
            t.local_name = to_string(p.multiply.local);
            t.run.words = failure.what();
        }
        r.placements.push_back(t);
    }
    double least = std::numeric_limits<double>::infinity();
    for (const placement_trial& t : r.placements) least = std::min(least, an_iteration(t));
    for (std::size_t k = 0; k < r.placements.size() && !r.placed; ++k)
        if (an_iteration(r.placements[k]) <= 1.15 * least && std::isfinite(least)) r.placed = k;
}

std::string quoted(const std::string& text) {
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=:,./@%") == std::string::npos &&
        !text.empty())
        return text;
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

} // namespace

std::optional<std::size_t> choose(const std::vector<trial>& trials) {
    for (const verdict wanted : {verdict::converged, verdict::converging}) {
        double least = std::numeric_limits<double>::infinity();
        for (const trial& t : trials)
            if (t.outcome == wanted) least = std::min(least, t.expected_seconds);
        for (std::size_t k = 0; k < trials.size(); ++k)
            if (trials[k].outcome == wanted && trials[k].expected_seconds <= 1.15 * least + 1e-3)
                return k;
    }
    return std::nullopt;
}

recommendation recommend(const recommend_request& request) {
    const vector_source rhs = parse_vector_source("--rhs", request.solve.rhs);
    (void)request.solve.options();
    if (!(request.seconds > 0))
        throw usage_error(fmt::format("--seconds is {}: allowed is more than 0", request.seconds));
    const csr_matrix<double> matrix = load_square<double>(request.solve.matrix, request.solve.spd);
    const std::vector<double> b = make_values(rhs, matrix);
    stopwatch watch;
    recommendation r;
    r.statistics = describe(matrix);
    r.kind = classify(r.statistics);
    r.plan = choose_candidates(r.statistics, r.kind);
    {
        trial_bench bench(first_devices(request.solve.devices, request.counts.front()), matrix, {},
                          b);
        const double share = (request.counts.size() > 1 ? method_share : 1.0) * request.seconds /
                             static_cast<double>(std::max<std::size_t>(1, r.plan.tried.size()));
        stopwatch spent;
        for (const candidate& method : r.plan.tried)
            r.trials.push_back(bench.run(method, request.solve, share));
        // What trials that ended early left is for a winner that was cut off.
        const double left = share * static_cast<double>(r.trials.size()) - spent.lap();
        const auto best = choose(r.trials);
        if (best && r.trials[*best].outcome == verdict::converging &&
            left > 2 * r.trials[*best].seconds)
            r.trials[*best] = bench.run(r.trials[*best].method, request.solve, left);
        r.warnings = placement_warnings(*bench.a().share_layout());
    }
    r.chosen = choose(r.trials);
    if (r.chosen) try_placements(r, request, matrix, b, (1 - method_share) * request.seconds);
    r.seconds = watch.lap();
    return r;
}

std::string command_line(const recommend_request& request, const recommendation& r) {
    const solve_request& s = request.solve;
    const solve_request standard;
    const trial& best = r.trials[*r.chosen];
    std::string line = "krylith solve " + quoted(s.matrix) + (s.spd ? " --spd" : "") +
                       " --solver " + best.method.solver;
    const auto add = [&](const char* option, const auto& value, const auto& usual) {
        if (value != usual) line += fmt::format(" {} {}", option, value);
    };
    add("--precond", best.method.preconditioner, standard.preconditioner);
    if (best.method.preconditioner != "none") add("--side", best.method.side, standard.side);
    if (best.method.solver == "gmres") add("--restart", best.method.restart, standard.restart);
    add("--rhs", quoted(s.rhs), standard.rhs);
    add("--rtol", s.rtol, standard.rtol);
    add("--atol", s.atol, standard.atol);
    const std::int64_t usual = std::min<std::int64_t>(10 * r.statistics.rows, 10000);
    // Half as many again: an extrapolation is no promise, and counts vary with the device count.
    const bool close = best.outcome == verdict::converging || best.iterations > usual;
    if (close && best.expected_iterations * 3 / 2 > usual)
        line += fmt::format(" --max-iterations {}", best.expected_iterations * 3 / 2);
    if (r.placed) {
        const placement_trial& p = r.placements[*r.placed];
        add("--devices", p.devices, 1);
        if (!p.automatic) {
            if (p.devices > 1) line += " --operator " + p.operator_name;
            if (select_backend(s.devices) == backend::cuda) line += " --local " + p.local_name;
        }
    }
    add("--backend", s.devices.backend, standard.devices.backend);
    add("--threads", s.devices.threads, standard.devices.threads);
    add("--transport", s.devices.transport, standard.devices.transport);
    return line;
}

std::vector<std::string> what_is_missing(const recommendation& r) {
    std::vector<std::string> words;
    const matrix_statistics& s = r.statistics;
    if (r.kind.what == matrix_class::no_system) return {r.kind.words};
    if (s.lengths.empty > 0 || s.empty_columns > 0)
        words.emplace_back(
            "The matrix has empty rows or columns: it is singular, and solvable only "
            "for some b.");
    if (s.rows > 0 && s.values.zero_row_sums == s.rows)
        words.emplace_back(
            "Every row sums to 0: it is singular. If A is symmetric, b must sum to 0 "
            "too: try --rhs row-sums, which does, or fix one unknown.");
    if (s.diagonal.has_zeros())
        words.emplace_back(
            "Zeros on the diagonal rule jacobi out. What helps such systems is a "
            "permutation that brings large entries to the diagonal, with an "
            "incomplete factorisation (ILU with pivoting), a block preconditioner for "
            "saddle points, or a direct solver. krylith has none of these yet.");
    else
        words.emplace_back(
            "What would help is a stronger preconditioner than jacobi: an incomplete "
            "factorisation (ILU, IC) or multigrid. krylith has none of these yet.");
    if (r.kind.what == matrix_class::negative_candidate)
        words.emplace_back("With the signs of A and b turned round, cg may work.");
    if (r.kind.what == matrix_class::indefinite)
        words.emplace_back("For symmetric indefinite systems MINRES is the method of choice; "
                           "krylith doesn't have it yet.");
    return words;
}

} // namespace krylith::tool

#include <krylith/tools/recommend/recommend_run.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/partition/matched_rows.hpp>
#include <krylith/partition/nodes/block_size.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/automatic/method_plan.hpp>
#include <krylith/solvers/automatic/row_sample.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/near_null.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/stopwatch.hpp>
#include <krylith/tools/solve/failure_advice.hpp>
#include <krylith/tools/solve/placement.hpp>

namespace krylith::tool {

namespace {

/// The share of the time for methods; the rest is for placements, where there is a choice.
constexpr double method_fraction = 0.7;

constexpr const char* consistent_rhs =
    "try --rhs range:1, A times a random vector, which has a solution that isn't constant";

struct place {
    int devices;
    operator_options multiply;
};

/// Every operator and format on every number of devices; `auto` first.
std::vector<place> places(const recommend_request& request) {
    const bool cuda = select_backend(request.solve.devices) == backend::cuda;
    std::vector<format_kind> formats = {formats::automatic};
    for (const format_kind format : formats::all)
        if (cuda ? format->on_cuda.get() : format->on_host.get()) formats.push_back(format);
    if (formats.size() == 2) formats.pop_back(); // the only one is what `auto` takes
    std::vector<place> result;
    for (const int devices : request.counts) {
        std::vector<operator_kind> kinds = {operators::automatic};
        if (devices > 1)
            for (const operator_kind kind : operators::all)
                if (kind->listed) kinds.push_back(kind);
        for (const operator_kind kind : kinds)
            for (const format_kind format : formats) result.push_back({devices, {kind, format}});
    }
    return result;
}

/// A system, as it is given and, where candidates ask for that, with its rows matched.
class systems {
public:
    systems(const csr_matrix<double>& matrix, std::vector<double> b, bool match)
        : matrix_(matrix), b_(std::move(b)) {
        if (!match) return;
        matched_.emplace(matrix);
        matched_b_ = matched_->right_hand_side(b_);
    }
    [[nodiscard]] const csr_matrix<double>& matrix(bool matched) const {
        return matched ? matched_->matrix() : matrix_;
    }
    [[nodiscard]] const std::vector<double>& b(bool matched) const {
        return matched ? matched_b_ : b_;
    }

private:
    const csr_matrix<double>& matrix_;
    std::vector<double> b_;
    std::optional<matched_rows<double>> matched_;
    std::vector<double> matched_b_;
};

/// The systems on devices, each once a candidate asks for it.
class trial_benches {
public:
    trial_benches(const recommend_request& request, const systems& given, const near_null& modes)
        : request_(request), given_(given), modes_(modes) {}

    [[nodiscard]] trial_bench& of(const candidate& method) {
        std::optional<trial_bench>& bench = benches_[method.match_rows ? 1 : 0];
        if (!bench)
            bench.emplace(first_devices(request_.solve.devices, request_.counts.front()),
                          given_.matrix(method.match_rows),
                          operator_options{.block_size = modes_.block_size},
                          given_.b(method.match_rows), modes_.nodes());
        return *bench;
    }
    /// Where there is no memory for the matrix with its rows matched as well, that trial fails.
    [[nodiscard]] trial run(const candidate& method, double seconds) {
        try {
            return of(method).run(method, request_.solve, seconds);
        } catch (const device_error& failure) {
            if (!method.match_rows) throw;
            trial t;
            t.method = method;
            t.words = failure.what();
            return t;
        }
    }

private:
    const recommend_request& request_;
    const systems& given_;
    const near_null& modes_;
    std::optional<trial_bench> benches_[2];
};

/// Time for more of the trials that were cut off: what those that ended early left. A winner that
/// was cut off comes first; then, as long as nothing converged, the unfinished in their order.
void go_on(trial_benches& benches, std::vector<trial>& trials, double left) {
    const auto again = [&](trial& t, double seconds) {
        if (seconds <= 2 * t.seconds) return;
        stopwatch watch;
        t = benches.run(t.method, seconds);
        left -= watch.lap();
    };
    const auto converged = [](const trial& t) { return t.outcome == verdict::converged; };
    if (const auto best = choose(trials); best && trials[*best].outcome == verdict::converging)
        again(trials[*best], left);
    auto waiting = std::ranges::count(trials, verdict::unfinished, &trial::outcome);
    for (trial& t : trials) {
        if (std::ranges::any_of(trials, converged)) return;
        if (t.outcome == verdict::unfinished) again(t, left / static_cast<double>(waiting--));
    }
}

/// What --seconds must be for every unfinished trial to come to its end. A trial's runs, each
/// longer than the one before, take a seventh more than the last.
double seconds_for_all(const std::vector<trial>& trials, const recommend_request& request) {
    double longest = 0;
    for (const trial& t : trials)
        if (t.outcome == verdict::unfinished)
            longest = std::max(longest, static_cast<double>(t.limit) * t.seconds_an_iteration);
    const double fraction = request.counts.size() > 1 ? method_fraction : 1.0;
    return 1.15 * longest * static_cast<double>(trials.size()) / fraction;
}

bool known(const std::vector<placement_trial>& tried, const matrix_operator<double>& a) {
    return std::ranges::any_of(tried, [&](const placement_trial& t) {
        return t.devices == a.comm().ranks() &&
               (t.devices == 1 || t.operator_name == to_string(a.kind())) &&
               t.format_name == a.format_name();
    });
}

/// Time for the same iterations: what a placement changes.
double an_iteration(const placement_trial& p) {
    return p.run.outcome == verdict::failed ? std::numeric_limits<double>::infinity()
                                            : p.run.seconds_an_iteration;
}

void try_placements(recommendation& r, const recommend_request& request, const systems& given,
                    const near_null& modes, double seconds) {
    const std::vector<place> all = places(request);
    const trial& winner = r.trials[*r.chosen];
    solve_request asked = request.solve;
    asked.options.max_iterations = winner.iterations; // equal work for all
    if (all.size() == 1) {                            // nothing to choose from
        r.placements.push_back({all.front().devices, "auto", "auto", true, winner});
        r.placed = 0;
        return;
    }
    for (const place& p : all) {
        placement_trial t;
        t.devices = p.devices;
        try {
            operator_options multiply = p.multiply;
            multiply.block_size = modes.block_size;
            const bool matched = winner.method.match_rows;
            trial_bench bench(first_devices(request.solve.devices, p.devices),
                              given.matrix(matched), multiply, given.b(matched), modes.nodes());
            if (known(r.placements, bench.a())) continue;
            t.operator_name = to_string(bench.a().kind());
            t.format_name = bench.a().format_name();
            t.automatic = !p.multiply.kind && !p.multiply.format;
            t.run = bench.run(winner.method, asked, seconds / static_cast<double>(all.size()));
        } catch (const device_error& failure) {
            t.operator_name = to_string(p.multiply.kind);
            t.format_name = to_string(p.multiply.format);
            t.run.words = failure.what();
        }
        r.placements.push_back(t);
    }
    double least = std::numeric_limits<double>::infinity();
    for (const placement_trial& t : r.placements) least = std::min(least, an_iteration(t));
    for (std::size_t k = 0; k < r.placements.size() && !r.placed; ++k)
        if (an_iteration(r.placements[k]) <= 1.15 * least && std::isfinite(least)) r.placed = k;
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
    (void)request.solve.checked_options();
    if (!(request.seconds > 0))
        throw usage_error(fmt::format("--seconds is {}: allowed is more than 0", request.seconds));
    const csr_matrix<double> matrix = load_square<double>(request.solve.matrix, request.solve.spd);
    const std::vector<double> b = make_values(rhs, matrix);
    stopwatch watch;
    recommendation r;
    r.statistics = describe(matrix);
    r.kind = classify(r.statistics);
    r.constants_vanish = annihilates_constants(matrix);
    if (r.constants_vanish && rhs.what == vector_source::form::row_sums)
        r.warnings.push_back("--rhs row-sums is 0 up to rounding, since A times ones vanishes: " +
                             std::string(consistent_rhs));
    const bool match = r.statistics.diagonal.has_zeros() && matrix.rows > 0 &&
                       r.kind.what != matrix_class::no_system;
    const systems given(matrix, b, match);
    const std::optional<matrix_statistics> matched =
        match ? std::optional(describe(given.matrix(true))) : std::nullopt;
    const csr_view<double> rows(matrix);
    r.plan = choose_candidates(r.statistics, r.kind, sample_rows(rows), find_block_size(rows),
                               matched ? &*matched : nullptr);
    const near_null modes = find_near_null(request.solve.matrix, request.solve.spd, matrix.rows,
                                           request.solve.coordinates, automatic_name);
    {
        trial_benches benches(request, given, modes);
        const double fraction = (request.counts.size() > 1 ? method_fraction : 1.0) *
                                request.seconds /
                                static_cast<double>(std::max<std::size_t>(1, r.plan.tried.size()));
        stopwatch spent;
        for (const candidate& method : r.plan.tried)
            r.trials.push_back(benches.run(method, fraction));
        const double left = fraction * static_cast<double>(r.trials.size()) - spent.lap();
        go_on(benches, r.trials, left);
        r.seconds_for_all = seconds_for_all(r.trials, request);
        for (std::string& warning : placement_warnings(*benches.of({}).a().layout()))
            r.warnings.push_back(std::move(warning));
    }
    r.chosen = choose(r.trials);
    if (r.chosen) try_placements(r, request, given, modes, (1 - method_fraction) * request.seconds);
    r.seconds = watch.lap();
    return r;
}

std::string command_line(const recommend_request& request, const recommendation& r) {
    const solve_request& s = request.solve;
    const solve_request standard;
    const trial& best = r.trials[*r.chosen];
    std::string line = "krylith solve " + quoted(s.matrix) + (s.spd ? " --spd" : "") +
                       (best.method.match_rows ? " --match-rows" : "") + " --solver " +
                       best.method.solver;
    const auto add = [&](const char* option, const auto& value, const auto& usual) {
        if (value != usual) line += fmt::format(" {} {}", option, value);
    };
    add("--precond", best.method.preconditioner, std::string(identity::name()));
    if (best.method.preconditioner.starts_with(std::string(preconditioner_rows::multigrid.name)))
        add("--coordinates", quoted(s.coordinates), quoted(standard.coordinates));
    if (best.method.preconditioned())
        add("--side", to_string(best.method.side), std::string_view(to_string(side::right)));
    if (find_solver(best.method.solver).restarts)
        add("--restart", best.method.restart, standard.options.restart);
    add("--rhs", quoted(s.rhs), standard.rhs);
    if (s.options.rtol) line += fmt::format(" --rtol {}", *s.options.rtol);
    add("--atol", s.options.atol, standard.options.atol);
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
            if (select_backend(s.devices) == backend::cuda) line += " --format " + p.format_name;
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
    if (r.constants_vanish)
        words.push_back("A times ones is 0 up to rounding: A is singular, with the constants in "
                        "its null space, and solvable only for b in its range (that sum to 0, if "
                        "A is symmetric): " +
                        std::string(consistent_rhs) + ", or fix one unknown.");
    if (s.diagonal.has_zeros())
        words.emplace_back("The diagonal has zeros. What helps where matched rows don't is a block "
                           "preconditioner for saddle points, or a direct solver, which krylith "
                           "doesn't have.");
    if (s.nnz() > most_strong_nonzeros)
        words.emplace_back("What may help is a stronger incomplete factorisation, which takes long "
                           "to make: --precond ilut:drop=1e-8:fill=100.");
    if (r.kind.what == matrix_class::negative_candidate)
        words.emplace_back("With the signs of A and b turned round, cg may work.");
    if (r.kind.what == matrix_class::indefinite)
        words.emplace_back("For symmetric indefinite systems MINRES is the method of choice: "
                           "--solver minres.");
    return words;
}

} // namespace krylith::tool

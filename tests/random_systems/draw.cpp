#include <algorithm>
#include <sstream>
#include <vector>

#include <krylith/tests/random_systems/trial.hpp>

namespace random_systems {

using krylith::execution_mode;
using krylith::operator_kind;
namespace operators = krylith::operators;

namespace {

/// Returns the solvers that run on all devices, for square systems, those that users are told of
/// twice.
const std::vector<const krylith::solver_method*>& solvers() {
    static const auto rows = [] {
        std::vector<const krylith::solver_method*> all;
        for (const krylith::solver_method* row : krylith::all_solvers)
            if (row->runs_everywhere && !row->least_squares)
                all.insert(all.end(), row->listed ? 2 : 1, row);
        return all;
    }();
    return rows;
}

} // namespace

trial draw(std::uint64_t seed, std::uint64_t index, std::initializer_list<int> group_sizes) {
    random_source random(seed, index);
    const auto& kinds = all_kinds();
    trial t;
    t.index = index;
    t.family = &kinds[index % kinds.size()];
    t.rows = random.integer(1, random.pick({3, 12, t.family->most_rows}));
    t.rows = std::min(t.rows, t.family->most_rows);
    t.solver = random.pick(solvers());
    t.single = random.once_in(2);
    if (random.once_in(3)) t.preconditioner = random.pick(krylith::all_preconditioners);
    t.aliased = random.once_in(10);
    t.from = random.pick({start::from_zero, start::from_zero, start::from_zero, start::given_zero,
                          start::random, start::exact});
    t.devices = random.pick(group_sizes);
    if (random.once_in(4)) t.relative_atol = random.decade(-12, -1);
    std::vector<operator_kind> choices = {operators::automatic, operators::usual};
    choices.insert(choices.end(), operators::all.begin(), operators::all.end());
    t.operator_options.kind =
        choices[static_cast<std::size_t>(random.integer(0, static_cast<int>(choices.size()) - 1))];
    if (random.once_in(8)) t.operator_options.order = krylith::orders::rcm;
    t.options.rtol = random.once_in(20) ? 0.0 : random.decade(-14, -2);
    if (random.once_in(4)) t.options.max_iterations = random.integer(0, t.rows + 2);
    t.options.restart = random.pick({1, 2, 5, 30, 30});
    t.options.initial_guess = t.from != start::from_zero;
    t.options.preconditioning =
        random.pick({krylith::side::left, krylith::side::right, krylith::side::split});
    if (t.preconditioner != nullptr && !t.preconditioner->pointwise &&
        t.options.preconditioning == krylith::side::split)
        t.options.preconditioning = krylith::side::right; // a polynomial has no square root
    t.options.mode =
        random.pick({execution_mode::automatic, execution_mode::recorded, execution_mode::eager});
    if (t.operator_options.kind && !t.operator_options.kind->eager_because.empty())
        t.options.mode = execution_mode::eager;
    t.options.history = random.once_in(8);
    if (random.once_in(8)) t.options.on_failure = krylith::failure_policy::throw_error;
    t.options.unroll = random.pick({1, 3, 16});
    t.options.polynomial_degree = random.pick({1, 2, 2, 3});
    t.options.shadow_vectors = random.pick({1, 2, 4, 4, 9});
    return t;
}

std::string trial::describe() const {
    constexpr const char* sides[] = {"left", "right", "split"};
    constexpr const char* modes[] = {"automatic", "recorded", "eager"};
    constexpr const char* starts[] = {"zero", "given zero", "random", "exact"};
    std::ostringstream text;
    text << index << ": " << family->name << " n<=" << rows << ' ' << solver->name
         << (single ? " fp32" : " fp64") << ' '
         << (preconditioner == nullptr ? "plain" : preconditioner->name.data()) << ' '
         << sides[static_cast<int>(options.preconditioning)] << ", start "
         << starts[static_cast<int>(from)] << (aliased ? ", x is b" : "") << ", " << devices
         << " devices " << krylith::to_string(operator_options.kind)
         << (operator_options.order == krylith::orders::none ? "" : " rcm") << ' '
         << modes[static_cast<int>(options.mode)] << ", rtol " << *options.rtol << ", atol "
         << relative_atol << " ||b||, restart " << options.restart << ", max "
         << options.max_iterations;
    return text.str();
}

} // namespace random_systems

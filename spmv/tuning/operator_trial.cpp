#include <krylith/spmv/tuning/operator_trial.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/files/tuning_file.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

template <class T>
double time_iteration(const matrix_operator<T>& a, double seconds) {
    const communicator& comm = a.comm();
    // All values are zero and stay so: time does not depend on values, and nothing overflows.
    auto p = a.make_domain_vector("measurement");
    p.promise_single_reader();
    auto q = a.make_range_vector("measurement");
    auto r = a.make_range_vector("measurement");
    auto x = a.make_range_vector("measurement");
    const auto mode = a.recordable() ? execution_mode::automatic : execution_mode::eager;
    execution run(comm, {.mode = mode});
    scalar pq(run), rr(run), one(run);
    one = 1.0;
    if (!a.layouts().square()) {
        auto d = vector<T>(a.domain_layout(), "measurement");
        return seconds_a_trip(
            run,
            [&] {
                const reduction_into<T> dots[] = {pq = dot(r, q)};
                a.apply(run, T(1), p, T(0), q, dots);
                fused(run, r -= one * q, rr = dot(r, r));
                fused(run, x += one * r);
                fused(run, p = d + one * p);
                test_residual(rr);
            },
            seconds);
    }
    return seconds_a_trip(
        run,
        [&] {
            const reduction_into<T> dots[] = {pq = dot(p, q)};
            a.apply(run, T(1), p, T(0), q, dots);
            fused(run, r -= one * q, rr = dot(r, r));
            fused(run, x += one * p, p = r + one * p);
            test_residual(rr);
        },
        seconds);
}

namespace {

/// Returns the kind that an earlier trial kept, if it is still among the candidates.
std::optional<operator_kind> recalled(const tuning_key& key, const operator_choice& choice) {
    const auto name = recall_tuned(key);
    if (!name) return std::nullopt;
    for (const prediction& p : choice.predictions)
        if (p.name == *name) return parse_operator_kind(*name);
    return std::nullopt;
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>>
try_operators(const trial_subject& subject,
              const std::function<std::unique_ptr<matrix_operator<T>>(operator_kind)>& build,
              operator_choice& choice) {
    const tuning_key key{machine_name(subject.comm), subject.pattern,
                         sizeof(T) == 8 ? "operator fp64" : "operator fp32"};
    if (const auto kind = recalled(key, choice)) {
        choice.because = std::string(to_string(*kind)) + " was taken by an earlier trial, in " +
                         tuning_file(key.machine).string();
        return build(*kind);
    }
    std::unique_ptr<matrix_operator<T>> built;
    std::exception_ptr refused;
    for (const prediction& p : choice.predictions) {
        if (p.seconds > worth_a_trial * choice.predictions.front().seconds) break;
        try {
            built.reset();
            built = build(parse_operator_kind(p.name));
            choice.measured.push_back({p.name, p.devices, time_iteration(*built)});
        } catch (const device_error&) {
            built.reset();
            refused = std::current_exception();
        }
    }
    if (choice.measured.empty()) std::rethrow_exception(refused);
    std::ranges::stable_sort(choice.measured, {}, &prediction::seconds);
    const prediction& taken = clear_choice(choice.measured);
    const operator_kind best = parse_operator_kind(taken.name);
    const std::string problem = keep_tuned(key, taken.name);
    choice.because = in_words(choice.measured) + " an iteration, measured";
    if (taken.name != choice.measured.front().name)
        choice.because += ", none clearly faster than " + taken.name;
    if (!problem.empty()) choice.because += " (not kept: " + problem + ")";
    if (built && built->kind() == best) return built;
    built.reset();
    return build(best);
}

#define KRYLITH_INSTANTIATE(T) template struct instances<time_iteration<T>, try_operators<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

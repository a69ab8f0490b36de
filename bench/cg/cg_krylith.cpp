#include <krylith/bench/cg/cg_krylith.hpp>

#include <krylith/bench/common/stopwatch.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/solvers/persistent_cg.hpp>

namespace krylith::bench {

namespace {

solver_options options(const cg_settings& settings, std::int64_t max_iterations) {
    solver_options o;
    o.max_iterations = max_iterations;
    o.mode = settings.mode;
    o.unroll = settings.unroll;
    return o;
}

} // namespace

krylith_cg::krylith_cg(const device_group& group, const workload& w, const cg_settings& settings)
    : settings_(settings),
      a_([&] {
          const stopwatch watch;
          auto a = make_operator(group, w.matrix, settings.format);
          group.synchronize();
          setup_seconds_ = watch.seconds();
          return a;
      }()),
      b_(a_->make_range_vector()),
      x_(a_->make_range_vector()) {
    const stopwatch watch;
    b_.upload(w.b);
    group.synchronize();
    setup_seconds_ += watch.seconds();
}

solve_result krylith_cg::run(const solver_options& options) {
    if (settings_.form == "cg:auto") return automatic_cg(*a_, b_, x_, options);
    if (settings_.form == "cg:persistent") return persistent_cg(*a_, b_, x_, options);
    return cg(*a_, b_, x_, options);
}

double krylith_cg::iterate(std::int64_t iterations) {
    solver_options o = options(settings_, iterations);
    o.rtol = 0; // then only the iterations, or the end of all progress, stop it
    const solve_result result = run(o);
    recorded_ = result.recorded;
    if (result.reason != reason::max_iterations || result.iterations != iterations ||
        result.replacements != 0) {
        throw measurement_failed("CG was to run " + std::to_string(iterations) +
                                 " iterations but ended (" + to_string(result.reason) + ") after " +
                                 std::to_string(result.iterations) + " with " +
                                 std::to_string(result.replacements) + " residual replacements");
    }
    return result.solve_seconds;
}

cg_outcome krylith_cg::solve(double rtol, std::int64_t max_iterations) {
    solver_options o = options(settings_, max_iterations);
    o.rtol = rtol;
    o.history = true;
    cg_outcome outcome;
    const stopwatch watch;
    solve_result result = run(o);
    outcome.seconds = watch.seconds();
    outcome.converged = result.converged();
    outcome.reason = to_string(result.reason);
    outcome.iterations = result.iterations;
    outcome.history = std::move(result.history);
    resize_in_parallel(outcome.x, static_cast<std::size_t>(x_.size()));
    x_.download(outcome.x);
    recorded_ = result.recorded;
    return outcome;
}

} // namespace krylith::bench

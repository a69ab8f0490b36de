#include <krylith/bench/solver/krylith_solver.hpp>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

template <class T>
krylith_solver<T>::krylith_solver(const device_group& group, const workload& w,
                                  const krylith_settings& settings)
    : settings_(settings),
      solver_(find_solver(settings.solver)),
      modes_(tool::find_near_null(w.name, w.spd, w.n(), "", settings.preconditioner)),
      a_([&] {
          const tool::stopwatch watch;
          operator_options multiply = settings.multiply;
          multiply.block_size = modes_.block_size;
          multiply.transposed_products = solver_.least_squares;
          auto a = make_operator(group, w.matrix_of<T>(), multiply);
          group.synchronize();
          setup_seconds_ = watch.seconds();
          return a;
      }()),
      b_(a_->make_range_vector("b")),
      x_(a_->make_range_vector("x")) {
    const tool::stopwatch watch;
    m_ = make_preconditioner(settings.preconditioner, *a_, csr_view<T>(w.matrix_of<T>()),
                             modes_.nodes());
    b_.upload(w.rhs_of<T>());
    group.synchronize();
    setup_seconds_ += watch.seconds();
}

template <class T>
solve_result krylith_solver<T>::run(double rtol, std::int64_t max_iterations, bool history) {
    solver_options options = settings_.options;
    options.rtol = rtol;
    options.max_iterations = max_iterations;
    options.history = history;
    solve_result result = solver_.solve(*a_, b_, x_, options, m_);
    recorded_ = result.recorded;
    return result;
}

template <class T>
std::int64_t krylith_solver<T>::most_iterations(std::int64_t iterations) {
    return run(0, iterations).iterations;
}

template <class T>
double krylith_solver<T>::iterate(std::int64_t iterations) {
    const solve_result result = run(0, iterations); // only the end of all progress stops it
    if (result.iterations != iterations) {
        throw measurement_failed(settings_.solver + " was to run " + std::to_string(iterations) +
                                 " iterations but ended (" + to_string(result.reason) + ") after " +
                                 std::to_string(result.iterations));
    }
    return result.solve_seconds;
}

template <class T>
solver_outcome krylith_solver<T>::solve(double rtol, std::int64_t max_iterations) {
    solver_outcome outcome;
    const tool::stopwatch watch;
    solve_result result = run(rtol, max_iterations, true);
    outcome.seconds = watch.seconds();
    outcome.converged = result.converged();
    outcome.reason = to_string(result.reason);
    outcome.iterations = result.iterations;
    outcome.history = std::move(result.history);
    std::vector<T> x;
    resize_in_parallel(x, static_cast<std::size_t>(x_.size()));
    x_.download(x);
    outcome.x.assign(x.begin(), x.end());
    return outcome;
}

template class krylith_solver<double>;
template class krylith_solver<float>;

} // namespace krylith::bench

#include <krylith/solvers/multi_cg/multi_cg_loop.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <krylith/config.hpp>
#include <krylith/device/host/group_driver.hpp>
#include <krylith/solvers/multi_cg/column_transfers.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

namespace {

using clock = std::chrono::steady_clock;

#if KRYLITH_HAVE_CUDA
#define KRYLITH_COLUMN_PASS(name)                                                                  \
    [](device& d, const column_arguments<T>& a) {                                                  \
        if (d.kind() == backend::cuda) return cuda::name(d, a);                                    \
        host::name(d, a);                                                                          \
    }
#else
#define KRYLITH_COLUMN_PASS(name) [](device& d, const column_arguments<T>& a) { host::name(d, a); }
#endif

template <class T>
void start(device& d, const column_arguments<T>& a, column_start from) {
#if KRYLITH_HAVE_CUDA
    if (d.kind() == backend::cuda) return cuda::start_columns(d, a, from);
#endif
    host::start_columns(d, a, from);
}

std::int64_t limit_of(const solver_options& options, std::int64_t rows) {
    return options.max_iterations >= 0 ? options.max_iterations
                                       : std::min<std::int64_t>(10 * rows, 10000);
}

double seconds_since(clock::time_point began) {
    return std::chrono::duration<double>(clock::now() - began).count();
}

/// Whether the caller may stop the solve.
bool is_watched(const solver_options& options) {
    return options.stop.stop_possible() || std::isfinite(options.max_seconds);
}

std::optional<reason> told_to_stop(const solver_options& options, clock::time_point began) {
    if (options.stop.stop_requested()) return reason::interrupted;
    if (seconds_since(began) >= options.max_seconds) return reason::time_limit;
    return std::nullopt;
}

} // namespace

template <class T>
multi_cg_loop<T>::multi_cg_loop(const device_group& group, const csr_view<T>& a, int columns,
                                bool jacobi, const solver_options& options)
    : k_(columns),
      at_{k_},
      jacobi_(jacobi),
      a_(group, a, k_, jacobi),
      run_(group, {.mode = options.mode,
                   .unroll = options.unroll,
                   .timeout_seconds = options.timeout_seconds,
                   .largest_batch = std::max(8, 2 * k_),
                   .array_size = at_.size()}),
      columns_(k_, jacobi, sizeof(T)) {
    launched_because_ =
        options.mode != execution_mode::automatic ? "solver_options::mode asks for it"
        : run_.mode() == execution_mode::eager    ? "the environment asks for eager execution"
                                               : no_persistent_columns_because(group, rows(), k_);
    if (launched_because_.empty()) persistent_.emplace(group, rows(), k_);
    run_.rest();
}

template <class T>
std::vector<solve_result> multi_cg_loop<T>::solve(std::span<const T> b, std::span<T> x, int count,
                                                  const solver_options& options,
                                                  clock::time_point began) {
    const group_driver driver(a_.group());
    upload_columns(b_, k_, b);
    if (options.initial_guess)
        upload_columns<T>(x_, k_, x);
    else
        x_.zero();
    a_.group().synchronize();
    const auto start = clock::now();
    compute_residuals(column_start::from_zero);
    columns_.begin(options, limit_of(options, rows()));
    if (options.initial_guess) compute_residuals(column_start::from_x);
    columns_.start();
    while (columns_.runs()) {
        const std::optional<reason> told = repeat(options, began);
        compute_residuals(column_start::from_x);
        columns_.verify(told, persistent_ || run_.mode() == execution_mode::recorded);
    }
    const double seconds = seconds_since(start);
    download_columns(x_, k_, x);
    std::vector<solve_result> results = std::move(columns_.results());
    results.resize(static_cast<std::size_t>(count)); // the rest of the columns was padding
    for (solve_result& result : results) {
        result.solve_seconds = seconds;
        result.form = persistent_ ? "persistent" : "launched";
        result.form_because = launched_because_;
    }
    return results;
}

template <class T>
column_operands<T> multi_cg_loop<T>::operands(int rank) {
    const auto& local = a_.local(rank);
    column_operands<T> a{};
    a.columns = k_;
    a.rows = local.rows;
    a.offsets = local.offsets.data();
    a.indices = local.indices.data();
    a.values = local.values.data();
    // A rank without rows has no array, but takes part in reductions of as many values.
    a.inverse_diagonal = jacobi_ && local.rows > 0 ? local.inverse_diagonal.data() : nullptr;
    a.preconditioned = jacobi_;
    a.b = b_.data(rank);
    a.x = x_.data(rank);
    a.r = r_.data(rank);
    a.p = p_.data(rank);
    a.q = q_.data(rank);
    a.reduce = run_.partials(rank);
    return a;
}

template <class T>
column_arguments<T> multi_cg_loop<T>::arguments(int rank) {
    column_arguments<T> a{};
    static_cast<column_operands<T>&>(a) = operands(rank);
    a.common = run_.at(rank);
    return a;
}

template <class T>
void multi_cg_loop<T>::open(const vector<T>* reads) {
    const ghost_exchange<T>* const ghosts = reads != nullptr ? reads->exchange() : nullptr;
    if (ghosts != nullptr) {
        std::vector<signal> arrived;
        for (int rank = 0; rank < run_.ranks(); ++rank) arrived.push_back(ghosts->arrived(rank));
        run_.expect(arrived);
    }
    run_.open({});
    if (ghosts != nullptr) run_.join_opened();
}

template <class T>
void multi_cg_loop<T>::pass(kernel run, const vector<T>* reads, int first, int values) {
    open(reads);
    if (values > 0) run_.publish_array(first, values);
    for (int rank = 0; rank < run_.ranks(); ++rank) run(run_.group()[rank], arguments(rank));
    run_.close();
}

template <class T>
void multi_cg_loop<T>::iterate() {
    pass(KRYLITH_COLUMN_PASS(multiply_columns), &p_, at_.pq(), k_);
    pass(KRYLITH_COLUMN_PASS(subtract_columns), nullptr, at_.rr(), residual_sums());
    open(nullptr);
    const std::uint8_t running[] = {running_.number()};
    run_.publish(running);
    constexpr kernel test = KRYLITH_COLUMN_PASS(test_columns);
    for (int rank = 0; rank < run_.ranks(); ++rank) test(run_.group()[rank], arguments(rank));
    run_.close();
    pass(KRYLITH_COLUMN_PASS(advance_columns), nullptr, 0, 0);
    put_ghosts(run_, p_);
    test_residual(running_.value());
}

template <class T>
void multi_cg_loop<T>::compute_residuals(column_start from) {
    run_.unguarded([&] {
        if (from == column_start::from_x) put_ghosts(run_, x_);
        open(from == column_start::from_x ? &x_ : nullptr);
        run_.publish_array(at_.rr(), residual_sums());
        for (int rank = 0; rank < run_.ranks(); ++rank)
            start(run_.group()[rank], arguments(rank), from);
        run_.close();
        run_.flush();
    });
    run_.group().synchronize();
    download_numbers();
}

template <class T>
void multi_cg_loop<T>::download_numbers() {
    std::vector<double>& numbers = columns_.numbers();
    numbers.resize(static_cast<std::size_t>(at_.size()));
    run_.group()[0].download(numbers.data(), run_.at(0).array, numbers.size() * sizeof(double));
}

template <class T>
std::optional<reason> multi_cg_loop<T>::repeat(const solver_options& options,
                                               clock::time_point began) {
    const auto done = static_cast<std::int64_t>(columns_.launch());
    const std::vector<double>& numbers = columns_.numbers();
    for (int rank = 0; rank < run_.ranks(); ++rank)
        run_.group()[rank].upload(run_.at(rank).array, numbers.data(),
                                  numbers.size() * sizeof(double));
    if (const std::optional<reason> told = told_to_stop(options, began)) return told;
    return persistent_ ? repeat_persistent(options, began, done)
                       : repeat_launched(options, began, done);
}

template <class T>
std::optional<reason> multi_cg_loop<T>::repeat_persistent(const solver_options& options,
                                                          clock::time_point began,
                                                          std::int64_t done) {
    // The host looks between launches: a few thousand iterations take some 10 ms.
    const std::int64_t most = is_watched(options) ? 2048 : limit_of(options, rows());
    for (;;) {
        const std::int64_t iterations = std::min(most, limit_of(options, rows()) - done);
        persistent_->enqueue(run_, operands(0), iterations);
        (void)run_.get({control::state}); // waits, and reports a device that failed
        done += iterations;
        download_numbers();
        if (!columns_.runs() || done >= limit_of(options, rows())) return std::nullopt;
        if (const std::optional<reason> told = told_to_stop(options, began)) return told;
    }
}

template <class T>
std::optional<reason> multi_cg_loop<T>::repeat_launched(const solver_options& options,
                                                        clock::time_point began,
                                                        std::int64_t done) {
    const auto iteration = static_cast<double>(done);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    run_.set(control::state, as_register(loop_state::running));
    run_.set(control::iteration, iteration);
    run_.set(control::target, 0.5); // of the number of columns that go on
    run_.set(control::limit, static_cast<double>(limit_of(options, rows())));
    run_.set(control::pause_at, infinity);
    run_.set(control::ceiling, infinity);
    run_.set(control::residual, 0);
    run_.set(control::best, infinity);
    run_.set(control::best_at, iteration);
    run_.set(control::patience, infinity);
    run_.unguarded([&] {
        put_ghosts(run_, p_);
        run_.flush();
    });
    const auto body = [this] { iterate(); };
    if (!is_watched(options)) {
        (void)run_.repeat(body);
        return std::nullopt;
    }
    std::optional<reason> told;
    const loop_watcher watcher{done, [&](std::span<const loop_post>) {
                                   if (!told) told = told_to_stop(options, began);
                                   return told.has_value();
                               }};
    (void)run_.repeat(body, watcher);
    return told;
}

template class multi_cg_loop<double>;
template class multi_cg_loop<float>;

} // namespace krylith

#include <krylith/solvers/multi_cg.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/group_driver.hpp>
#include <krylith/solvers/multi_cg/column_kernels.hpp>
#include <krylith/solvers/multi_cg/column_matrix.hpp>
#include <krylith/vector/scalar.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

namespace {

/// Rounds up to a number of columns that there are kernels for.
int kernel_columns(int columns) {
    if (columns < 1)
        throw usage_error("columns is " + std::to_string(columns) + ", but must be at least 1");
    return std::min(max_columns, static_cast<int>(std::bit_ceil(static_cast<unsigned>(columns))));
}

void refuse(bool given, const char* option) {
    if (given)
        throw usage_error(std::string(option) +
                          " is not available for several right-hand sides at once: solve column "
                          "after column by cg(), or leave it away");
}

solver_options checked(const solver_options& options) {
    options.check_undamped("multi_cg");
    refuse(options.history, "history");
    refuse(static_cast<bool>(options.callback), "callback");
    refuse(options.stop.stop_possible(), "stop");
    refuse(std::isfinite(options.max_seconds), "max_seconds");
    return options;
}

/// One way in which a rank's vectors are passed over.
template <class T>
using column_pass = void (*)(device&, const column_arguments<T>&);

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

reason reason_of(loop_state state, bool by_rtol) {
    switch (state) {
    case loop_state::converged: return by_rtol ? reason::converged_rtol : reason::converged_atol;
    case loop_state::diverged: return reason::diverged;
    case loop_state::indefinite_matrix: return reason::indefinite_matrix;
    case loop_state::indefinite_preconditioner: return reason::indefinite_preconditioner;
    case loop_state::not_a_number: return reason::not_a_number;
    case loop_state::stagnated: return reason::stagnated;
    default: return reason::max_iterations;
    }
}

std::string diagnosis_of(reason why) {
    switch (why) {
    case reason::max_iterations: return "the iterations ran out: allow more, or use jacobi";
    case reason::diverged: return "the residual grew: A may not be symmetric positive definite";
    case reason::indefinite_matrix:
        return "p'Ap <= 0: A is not positive definite; minres or gmres solve column after column";
    case reason::indefinite_preconditioner:
        return "r'z <= 0: the diagonal has negative entries; solve without jacobi";
    case reason::not_a_number: return "NaN or infinity in b, x0 or A";
    case reason::stagnated:
        return "no more progress: the true residual doesn't follow; ask for less";
    case reason::out_of_range:
        return "squares of b leave the range of double: cg() scales such a system, this does not";
    default: return {};
    }
}

} // namespace

template <class T>
class multi_cg<T>::loop {
public:
    loop(const device_group& group, const csr_view<T>& a, int columns, multi_preconditioner m,
         const solver_options& options)
        : options_(resolved<T>(checked(options))),
          k_(kernel_columns(columns)),
          at_{k_},
          jacobi_(m == multi_preconditioner::jacobi),
          a_(group, a, k_, jacobi_),
          run_(group, {.mode = options_.mode,
                       .unroll = options_.unroll,
                       .timeout_seconds = options_.timeout_seconds,
                       .largest_batch = std::max(8, 2 * k_),
                       .array_size = at_.size()}) {
        limit_ = options_.max_iterations >= 0 ? options_.max_iterations
                                              : std::min<std::int64_t>(10 * a.rows, 10000);
        run_.rest();
    }

    [[nodiscard]] int columns() const { return k_; }
    [[nodiscard]] std::int64_t rows() const { return a_.rows(); }
    [[nodiscard]] const solver_options& options() const { return options_; }

    /// Solves for at most k columns.
    std::vector<solve_result> solve(std::span<const T> b, std::span<T> x, int count) {
        const group_driver driver(a_.group());
        upload(b_, b, count);
        if (options_.initial_guess)
            upload(x_, x, count);
        else
            x_.zero();
        a_.group().synchronize();
        const auto began = std::chrono::steady_clock::now();
        std::vector<solve_result> results(static_cast<std::size_t>(k_));
        begin(results);
        while (runs()) {
            repeat();
            verify(results);
        }
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        download(x, count);
        results.resize(static_cast<std::size_t>(count));
        for (solve_result& result : results) result.solve_seconds = seconds;
        return results;
    }

private:
    [[nodiscard]] double& number(int place, int j) {
        return numbers_[static_cast<std::size_t>(place + j)];
    }
    [[nodiscard]] loop_state state(int j) {
        return static_cast<loop_state>(static_cast<std::uint8_t>(number(at_.state(), j)));
    }
    [[nodiscard]] bool runs() {
        for (int j = 0; j < k_; ++j)
            if (number(at_.state(), j) == 0.0) return true;
        return false;
    }

    void upload(vector<T>& to, std::span<const T> from, int count) {
        std::vector<T> rows(static_cast<std::size_t>(a_.rows() * k_), T(0));
        for (std::int64_t row = 0; row < a_.rows(); ++row)
            for (int j = 0; j < count; ++j)
                rows[static_cast<std::size_t>(row * k_ + j)] =
                    from[static_cast<std::size_t>(j * a_.rows() + row)];
        to.upload(rows);
    }
    void download(std::span<T> to, int count) {
        std::vector<T> rows(static_cast<std::size_t>(a_.rows() * k_));
        x_.download(rows);
        for (std::int64_t row = 0; row < a_.rows(); ++row)
            for (int j = 0; j < count; ++j)
                to[static_cast<std::size_t>(j * a_.rows() + row)] =
                    rows[static_cast<std::size_t>(row * k_ + j)];
    }

    [[nodiscard]] column_arguments<T> arguments(int rank) {
        const auto& local = a_.local(rank);
        column_arguments<T> a{};
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
        a.common = run_.at(rank);
        return a;
    }

    /// Opens an operation; it waits for the ghosts of `reads`.
    void open(const vector<T>* reads) {
        const ghost_exchange<T>* const ghosts = reads != nullptr ? reads->exchange() : nullptr;
        if (ghosts != nullptr) {
            std::vector<signal> arrived;
            for (int rank = 0; rank < run_.ranks(); ++rank)
                arrived.push_back(ghosts->arrived(rank));
            run_.expect(arrived);
        }
        run_.open({});
        if (ghosts != nullptr) run_.join_opened();
    }

    void pass(column_pass<T> kernel, const vector<T>* reads, int first, int values) {
        open(reads);
        if (values > 0) run_.publish_array(first, values);
        for (int rank = 0; rank < run_.ranks(); ++rank) kernel(run_.group()[rank], arguments(rank));
        run_.close();
    }

    [[nodiscard]] int residual_sums() const { return jacobi_ ? 2 * k_ : k_; }

    void residuals(column_start from) {
        if (from == column_start::from_x) put_ghosts(run_, x_);
        open(from == column_start::from_x ? &x_ : nullptr);
        run_.publish_array(at_.rr(), residual_sums());
        for (int rank = 0; rank < run_.ranks(); ++rank)
            start(run_.group()[rank], arguments(rank), from);
        run_.close();
    }

    /// r = b - A x (or b), p = z and their sums, in numbers_.
    void compute_residuals(column_start from) {
        run_.unguarded([&] {
            residuals(from);
            run_.flush();
        });
        run_.group().synchronize();
        numbers_.resize(static_cast<std::size_t>(at_.size()));
        run_.group()[0].download(numbers_.data(), run_.at(0).array,
                                 numbers_.size() * sizeof(double));
    }

    void iterate() {
        pass(KRYLITH_COLUMN_PASS(multiply_columns), &p_, at_.pq(), k_);
        pass(KRYLITH_COLUMN_PASS(subtract_columns), nullptr, at_.rr(), residual_sums());
        open(nullptr);
        const std::uint8_t running[] = {running_.number()};
        run_.publish(running);
        for (int rank = 0; rank < run_.ranks(); ++rank) test(run_.group()[rank], arguments(rank));
        run_.close();
        pass(KRYLITH_COLUMN_PASS(advance_columns), nullptr, 0, 0);
        put_ghosts(run_, p_);
        test_residual(running_.value());
    }

    static void test(device& d, const column_arguments<T>& a) {
        constexpr column_pass<T> kernel = KRYLITH_COLUMN_PASS(test_columns);
        kernel(d, a);
    }

    /// Norms and targets, and the first residual.
    void begin(std::vector<solve_result>& results) {
        compute_residuals(column_start::from_zero);
        for (int j = 0; j < k_; ++j) {
            const double bb = number(at_.rr(), j);
            solve_result& result = results[static_cast<std::size_t>(j)];
            result.rtol = *options_.rtol;
            result.rhs_norm = std::sqrt(bb);
            const double target = std::max(*options_.rtol * result.rhs_norm, options_.atol);
            const double ceiling = options_.divergence_tolerance * result.rhs_norm;
            number(at_.target(), j) = target * target;
            number(at_.ceiling(), j) = ceiling * ceiling;
            number(at_.iterations(), j) = 0;
            number(at_.state(), j) = 0;
        }
        const std::vector<double> kept = numbers_;
        if (options_.initial_guess) {
            compute_residuals(column_start::from_x);
            for (int place = at_.target(); place < at_.residual(); ++place)
                numbers_[static_cast<std::size_t>(place)] = kept[static_cast<std::size_t>(place)];
        }
        for (int j = 0; j < k_; ++j) {
            const double bb = kept[static_cast<std::size_t>(at_.rr() + j)];
            solve_result& result = results[static_cast<std::size_t>(j)];
            const double rr = number(at_.rr(), j);
            number(at_.residual(), j) = rr;
            // From a start far off, growth is measured by the first residual, as in cg().
            const double tolerance = options_.divergence_tolerance;
            number(at_.ceiling(), j) = tolerance * tolerance * std::max(bb, rr);
            if (!std::isfinite(rr) || !std::isfinite(bb))
                finish(results, j, reason::not_a_number);
            else if (bb != 0 && !is_ordinary(bb, sizeof(T)))
                finish(results, j, reason::out_of_range);
            else if (rr <= number(at_.target(), j))
                finish(results, j, converged_reason(result));
            else
                resume(results, j);
        }
    }

    [[nodiscard]] reason converged_reason(const solve_result& result) const {
        return reason_of(loop_state::converged, options_.atol <= *options_.rtol * result.rhs_norm);
    }

    /// Ends the column for good, by the residual that is in numbers_.
    void finish(std::vector<solve_result>& results, int j, reason why) {
        solve_result& result = results[static_cast<std::size_t>(j)];
        if (number(at_.state(), j) == 0.0)
            number(at_.state(), j) = as_register(loop_state::converged);
        result.reason = why;
        result.iterations = static_cast<std::int64_t>(number(at_.iterations(), j));
        result.recurrence_residual = std::sqrt(number(at_.residual(), j));
        result.true_residual = std::sqrt(number(at_.rr(), j));
        result.diagnosis = diagnosis_of(why);
    }

    /// Lets the column go on from the residual in numbers_.
    void resume(std::vector<solve_result>& results, int j) {
        const double rho = jacobi_ ? number(at_.rz(), j) : number(at_.rr(), j);
        number(at_.rho(), j) = rho;
        number(at_.state(), j) = 0;
        if (number(at_.iterations(), j) >= static_cast<double>(limit_))
            finish(results, j, reason::max_iterations);
        else if (!(rho > 0))
            finish(results, j, reason::indefinite_preconditioner);
    }

    void repeat() {
        double iteration = 0;
        for (int j = 0; j < k_; ++j) {
            started_.resize(static_cast<std::size_t>(k_));
            started_[static_cast<std::size_t>(j)] = number(at_.state(), j) == 0.0;
            if (started_[static_cast<std::size_t>(j)])
                iteration = std::max(iteration, number(at_.iterations(), j));
        }
        for (int rank = 0; rank < run_.ranks(); ++rank)
            run_.group()[rank].upload(run_.at(rank).array, numbers_.data(),
                                      numbers_.size() * sizeof(double));
        constexpr double infinity = std::numeric_limits<double>::infinity();
        run_.set(control::state, as_register(loop_state::running));
        run_.set(control::iteration, iteration);
        run_.set(control::target, 0.5); // of the number of columns that go on
        run_.set(control::limit, static_cast<double>(limit_));
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
        (void)run_.repeat([this] { iterate(); });
    }

    /// Judges what has stopped by the true residual. A column whose recurrence has run ahead of it
    /// goes on from there, once for each time that this brings it to a quarter of what it was.
    void verify(std::vector<solve_result>& results) {
        compute_residuals(column_start::from_x);
        for (int j = 0; j < k_; ++j) {
            if (!started_[static_cast<std::size_t>(j)]) continue;
            solve_result& result = results[static_cast<std::size_t>(j)];
            result.recorded = run_.mode() == execution_mode::recorded;
            const double rr = number(at_.rr(), j);
            const double target = number(at_.target(), j);
            const loop_state why = state(j);
            const bool converged = why == loop_state::converged || why == loop_state::running;
            if (std::isfinite(rr) && rr <= target)
                finish(results, j, converged_reason(result));
            else if (!converged || !std::isfinite(rr))
                finish(results, j,
                       std::isfinite(rr) ? reason_of(why, false) : reason::not_a_number);
            else if (why == loop_state::running)
                finish(results, j, reason::max_iterations);
            else if (result.replacements > 0 &&
                     rr > result.true_residual * result.true_residual / 16)
                finish(results, j, reason::stagnated);
            else {
                ++result.replacements;
                result.true_residual = std::sqrt(rr);
                resume(results, j);
            }
        }
    }

    solver_options options_;
    int k_;
    column_places at_;
    bool jacobi_;
    column_matrix<T> a_;
    execution run_;
    vector<T> b_ = a_.make_range_vector();
    vector<T> x_ = a_.make_domain_vector();
    vector<T> r_ = a_.make_range_vector();
    vector<T> p_ = a_.make_domain_vector();
    vector<T> q_ = a_.make_range_vector();
    scalar running_{run_};
    std::int64_t limit_ = 0;
    std::vector<double> numbers_; // of kernel_context::array
    std::vector<bool> started_;   // columns that the last loop was for
};

template <class T>
multi_cg<T>::multi_cg(const device_group& group, const csr_view<T>& a, int columns,
                      multi_preconditioner m, const solver_options& options)
    : loop_(std::make_unique<loop>(group, a, columns, m, options)) {}
template <class T>
multi_cg<T>::multi_cg(multi_cg&&) noexcept = default;
template <class T>
multi_cg<T>& multi_cg<T>::operator=(multi_cg&&) noexcept = default;
template <class T>
multi_cg<T>::~multi_cg() = default;

template <class T>
int multi_cg<T>::columns() const {
    return loop_->columns();
}

template <class T>
std::vector<solve_result> multi_cg<T>::solve(std::span<const T> b, std::span<T> x) {
    const auto n = static_cast<std::size_t>(loop_->rows());
    if (b.size() != x.size() || (n == 0 ? !b.empty() : b.size() % n != 0))
        throw usage_error("b has " + std::to_string(b.size()) + " entries and x has " +
                          std::to_string(x.size()) +
                          ": both must have the same whole number of columns of " +
                          std::to_string(n) + " entries");
    std::vector<solve_result> results;
    const std::size_t count = n == 0 ? 0 : b.size() / n;
    for (std::size_t first = 0; first < count; first += static_cast<std::size_t>(columns())) {
        const std::size_t some = std::min(count - first, static_cast<std::size_t>(columns()));
        for (auto& result : loop_->solve(b.subspan(first * n, some * n),
                                         x.subspan(first * n, some * n), static_cast<int>(some)))
            results.push_back(std::move(result));
    }
    if (loop_->options().on_failure == failure_policy::throw_error)
        for (const solve_result& result : results)
            if (!result.converged()) throw not_converged(result);
    return results;
}

template class multi_cg<double>;
template class multi_cg<float>;

} // namespace krylith

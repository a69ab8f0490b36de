// The loop for several right-hand sides, of any method that is written as passes
// (solvers/joint/column_pass.hpp): its vectors, its recording, and what is around it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/host/group_driver.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/solvers/iteration/exponents.hpp>
#include <krylith/solvers/iteration/iteration_control.hpp>
#include <krylith/solvers/iteration/scaling.hpp>
#include <krylith/solvers/joint/applied_steps.hpp>
#include <krylith/solvers/joint/column_basis.hpp>
#include <krylith/solvers/joint/column_convergence.hpp>
#include <krylith/solvers/joint/column_matrix.hpp>
#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/solvers/joint/column_scaling.hpp>
#include <krylith/solvers/joint/column_transfers.hpp>
#include <krylith/solvers/joint/joint_limits.hpp>
#include <krylith/solvers/joint/persistent_columns.hpp>
#include <krylith/solvers/table/joint_solver.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/ghosts/expect_ghosts.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith {

/// A Method numbers its vectors (those of scaling_parts first; `domain` are those that A
/// multiplies) and the numbers of a column, and has lists of steps, begin() and test(). A step is a
/// pass or apply_preconditioner. begins<from x> starts the recurrence; an iteration is before_test,
/// the test of all columns, after_test, and, if any column goes on, `next`. The devices repeat it
/// without the host until no column goes on. A Method that keeps_basis has instead of these lists
/// the pass multiply, w = A p, and v for the first vector of its basis; the devices then go through
/// a cycle without the host, and after it ends<> brings w = V y into x where M is a step of its
/// own.
template <class Method, class T>
class joint_loop {
public:
    /// `columns` is a number that there are kernels for.
    joint_loop(const communicator& comm, const csr_view<T>& a, int columns,
               const column_preconditioner<T>& m, const solver_options& options)
        : k_(columns),
          diagonal_(m.kind == joint_preconditioner::jacobi),
          a_(comm, a, k_, diagonal_, m.block_size),
          m_(Method::applied ? m.make(a_.of_columns()) : any_preconditioner<T>()),
          cycle_length_(static_cast<int>(std::clamp<std::int64_t>(
              std::min<std::int64_t>(options.restart, a_.rows()), 1, 1000))),
          run_(comm, sizes(options)),
          columns_(k_, at_.own(Method::numbers), Method::begin, sizeof(T), keeps_basis) {
        for (int v = 0; v < Method::vectors; ++v)
            vectors_.push_back(in(Method::domain, v) ? a_.make_domain_vector()
                                                     : a_.make_range_vector());
        if constexpr (keeps_basis) basis_.emplace(a_, k_, cycle_length_, vectors_[Method::v]);
        if constexpr (has_persistent) {
            launched_because_ = not_persistent_because(options, run_.mode());
            if (launched_because_.empty())
                launched_because_ = no_persistent_columns_because(comm, rows(), k_);
            if (launched_because_.empty()) persistent_.emplace(comm, rows(), k_);
        }
        run_.rest();
    }

    [[nodiscard]] int columns() const { return k_; }
    [[nodiscard]] std::int64_t rows() const { return a_.rows(); }
    [[nodiscard]] const any_preconditioner<T>& preconditioner() const { return m_; }

    /// Solves for `count` columns, at most columns() of them, which lie one after the other. The
    /// time that options.max_seconds limits began at `began`. options.rtol is set.
    [[nodiscard]] std::vector<solve_result> solve(std::span<const T> b, std::span<T> x, int count,
                                                  const solver_options& options,
                                                  std::chrono::steady_clock::time_point began) {
        const group_driver driver(a_.comm().devices());
        const joint_limits limits(options, rows(), began);
        columns_.reset();
        upload_columns(vectors_[Method::b], k_, b);
        a_.comm().synchronize();
        const auto first = std::chrono::steady_clock::now();
        measure_b();
        if (columns_.choose_scaled(b, rows())) rescale(b);
        columns_.begin(options, limits.iterations());
        upload_numbers();
        if (options.initial_guess)
            upload_guess(x);
        else
            vectors_[Method::x].zero();
        options.initial_guess ? start<true>() : start<false>();
        confirm();
        columns_.start();
        while (columns_.runs()) {
            const std::optional<reason> told = repeat(limits);
            start<true>();
            confirm();
            columns_.verify(told, persistent_ || run_.mode() == execution_mode::recorded);
        }
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - first).count();
        download_columns(vectors_[Method::x], k_, x);
        if (columns_.any_scaled()) unscale(x);
        std::vector<solve_result> results = columns_.results();
        results.resize(static_cast<std::size_t>(count)); // the rest of the columns was padding
        for (solve_result& result : results) {
            result.solve_seconds = seconds;
            if constexpr (has_persistent) {
                result.form = persistent_ ? "persistent" : "launched";
                result.form_because = launched_because_;
            }
        }
        return results;
    }

private:
    static constexpr bool has_persistent = [] {
        if constexpr (requires { Method::persistent; })
            return Method::persistent;
        else
            return false;
    }();
    static constexpr bool keeps_basis = requires { Method::keeps_basis; };

    [[nodiscard]] execution_options sizes(const solver_options& options) const {
        execution_options result{
            .mode = recordable_mode(options.mode, m_.recordable(), m_.name()),
            .unroll = iterations_a_trip(kernels_of(m_), options.unroll, m_.recordable()),
            .timeout_seconds = options.timeout_seconds,
            .largest_batch = std::max(8, 2 * k_),
            .array_size = at_.own(Method::numbers)};
        if constexpr (keeps_basis) column_basis<T>::enlarge(result, {k_, cycle_length_});
        return result;
    }

    [[nodiscard]] static constexpr bool in(unsigned set, int v) { return (set >> v & 1) != 0; }

    [[nodiscard]] column_operands<T> operands(int rank) {
        column_operands<T> a{};
        a.columns = k_;
        a.rows = a_.rows(rank);
        a.matrix = a_.local(rank);
        a.inverse_diagonal = a_.inverse_diagonal(rank);
        for (int v = 0; v < Method::vectors; ++v)
            a.vectors[v] = vectors_[static_cast<std::size_t>(v)].data(rank);
        a.before = a_.entries_before(rank);
        a.reduce = run_.partials(rank);
        return a;
    }
    [[nodiscard]] column_arguments<T> arguments(int rank) {
        column_arguments<T> a{};
        static_cast<column_operands<T>&>(a) = operands(rank);
        a.common = run_.at(rank);
        return a;
    }

    /// Opens an operation; it waits for the ghosts of a vector.
    void open(int reads) {
        const vector<T>* const read =
            reads != no_product ? &vectors_[static_cast<std::size_t>(reads)] : nullptr;
        if (read != nullptr) expect_ghosts(run_, *read);
        run_.open({});
        if (read != nullptr && read->exchange() != nullptr) run_.join_opened();
    }

    void put(unsigned set) {
        for (int v = 0; v < Method::vectors; ++v)
            if (in(set, v)) put_ghosts(run_, vectors_[static_cast<std::size_t>(v)]);
    }

    /// Enqueues a pass, and sends the ghosts that it has written but for those of x, which are
    /// needed at the end only.
    template <class Pass>
    void pass() {
        open(Pass::product);
        if (Pass::sums > 0) run_.publish_array(Pass::first_sum(at_), Pass::sums * k_);
        for (const int rank : run_.comm().local()) {
            device& d = run_.comm()[rank];
            KRYLITH_ON(d, run_pass<Pass>(d, arguments(rank)));
        }
        run_.close();
        put(Pass::writes & Method::domain & ~in_set(Method::x));
    }

    /// Enqueues a pass, or the application of M.
    template <class Step>
    void step() {
        if constexpr (requires { Step::from; }) {
            m_.apply(run_, vectors_[Step::from], vectors_[Step::to], {});
        } else {
            this->template pass<Step>();
        }
    }
    template <class Steps>
    void steps() {
        Steps::for_each([this]<class Step>() { this->template step<Step>(); });
    }

    void test() {
        open(no_product);
        const std::uint8_t running[] = {running_.number()};
        run_.publish(running);
        for (const int rank : run_.comm().local()) {
            device& d = run_.comm()[rank];
            KRYLITH_ON(d, run_test<Method>(d, arguments(rank)));
        }
        run_.close();
    }

    void iterate() {
        if constexpr (keeps_basis) {
            const auto multiply = [this] { this->template pass<typename Method::multiply>(); };
            const auto test = [this] { test_residual(running_.value()); };
            if constexpr (Method::applied)
                basis_->cycle(
                    run_, vectors_[Method::w], nullptr, running_, multiply,
                    [this](const vector<T>& v) { m_.apply(run_, v, vectors_[Method::p], {}); },
                    test);
            else
                basis_->cycle(
                    run_, vectors_[Method::w], &vectors_[Method::p], running_, multiply,
                    [this](const vector<T>&) { put(in_set(Method::p)); }, test);
        } else {
            this->template steps<typename Method::before_test>();
            test();
            this->template steps<typename Method::after_test>();
            test_residual(running_.value());
            this->template steps<typename Method::next>();
        }
    }

    /// Adds to x what a cycle has found, however it ended.
    void end_cycle() {
        if constexpr (keeps_basis)
            run_.unguarded([&] {
                if constexpr (Method::applied) {
                    vectors_[Method::w].zero();
                    basis_->add_to(run_, vectors_[Method::w]);
                    this->template steps<typename Method::ends>();
                } else {
                    basis_->add_to(run_, vectors_[Method::x]);
                }
                run_.flush();
            });
    }

    /// Begins the recurrence from r = b - A x (or b), and brings the sums to the host.
    template <bool FromX>
    void start() {
        run_.unguarded([&] {
            if (FromX) put(in_set(Method::x));
            this->template steps<typename Method::template begins<FromX>>();
            pass<scaling_parts::square>();
            run_.flush();
        });
        run_.comm().synchronize();
        download_numbers();
    }

    /// Sets x = b and r = A b, and brings their squared norms to the host.
    void measure_b() {
        upload_numbers();
        run_.unguarded([&] {
            pass<scaling_parts::copy>();
            put(in_set(Method::x));
            pass<scaling_parts::multiply>();
            run_.flush();
        });
        run_.comm().synchronize();
        download_numbers();
    }

    /// Calls body(j, column j of `columns`) for the columns whose squares leave the range.
    template <class Columns, class Body>
    void for_scaled(Columns& columns, const Body& body) {
        const auto n = static_cast<std::size_t>(rows());
        for (int j = 0; j < k_; ++j)
            if (columns_.scale(j).scaled)
                body(j, std::span(columns).subspan(static_cast<std::size_t>(j) * n, n));
    }

    /// Scales the columns whose squares leave the range as iteration::rescale() does. It is rare,
    /// and downloads vectors.
    void rescale(std::span<const T> b) {
        std::vector<T> scaled(b.begin(), b.end());
        for_scaled(scaled, [&](int j, std::span<T> column) {
            for (int step = 0; step < 2; ++step) // float's smallest numbers need a second one
                enlarge_b(j, column, -exponent(j, column));
        });
        scale_products(scaled);
        scale_preconditioner(scaled);
    }

    /// The exponent of the largest entry of column j.
    int exponent(int j, std::span<const T> column) {
        return exponent_of(column, columns_.scale(j).finite);
    }

    /// Multiplies column j of b by 2^by, as far as its scale can say.
    void enlarge_b(int j, std::span<T> column, int by) {
        column_scale& scale = columns_.scale(j);
        by = std::min(by, largest_exponent<double> - scale.b);
        shift(column, by);
        scale.b += by;
    }

    /// Finds the scales of A for the scaled columns of b, which it may enlarge.
    void scale_products(std::vector<T>& scaled) {
        std::vector<T> products(scaled.size());
        const auto multiply = [&] {
            upload_columns<T>(vectors_[Method::b], k_, scaled);
            measure_b();
            download_columns<T>(vectors_[scaling_parts::r], k_, products);
        };
        const auto b_of = [&](int j) {
            const auto n = static_cast<std::size_t>(rows());
            return std::span(scaled).subspan(static_cast<std::size_t>(j) * n, n);
        };
        multiply();
        bool enlarged = false;
        for_scaled(products, [&](int j, std::span<T> product) {
            column_scale& scale = columns_.scale(j);
            scale.a = -exponent(j, product);
            if (scale.a <= least_product<T> && columns_.product_square(j) != 0) return;
            enlarge_b(j, b_of(j), product_room<T>);
            enlarged = true;
        });
        if (!enlarged) return;
        multiply();
        for_scaled(products, [&](int j, std::span<T> product) {
            bool finite = true;
            const int of_b = exponent_of(std::span<const T>(b_of(j)),
                                         finite); // of size 1, or of that and some room
            columns_.scale(j).a =
                std::min(of_b - exponent(j, product), std::numeric_limits<T>::max_exponent - 1);
        });
    }

    /// Finds the scales of M^-1, if there is one. `applied` is overwritten.
    void scale_preconditioner(std::vector<T>& applied) {
        if (!Method::applied && !diagonal_) return;
        run_.unguarded([&] {
            if constexpr (Method::applied) {
                step<normalise<scaling_parts, residual_squares, scaling_parts::b,
                               scaling_parts::r>>();
                step<apply_preconditioner<scaling_parts::r, scaling_parts::x>>();
            } else {
                step<scaling_parts::precondition>();
            }
            run_.flush();
        });
        download_columns<T>(vectors_[Method::x], k_, applied);
        for_scaled(applied,
                   [&](int j, std::span<T> column) { columns_.scale(j).m = -exponent(j, column); });
    }

    void upload_guess(std::span<const T> x) {
        std::vector<T> scaled(x.begin(), x.end());
        const auto n = static_cast<std::size_t>(rows());
        for (int j = 0; (static_cast<std::size_t>(j) + 1) * n <= x.size(); ++j) {
            const auto column = std::span(scaled).subspan(static_cast<std::size_t>(j) * n, n);
            if (columns_.scale(j).zero) std::ranges::fill(column, T(0)); // its solution
            shift(column, -columns_.scale(j).x());
        }
        upload_columns<T>(vectors_[Method::x], k_, scaled);
    }

    /// Gives x back to the caller's scale. Entries that leave the range of T on the way don't come
    /// back, so the residual shows them.
    void unscale(std::span<T> x) {
        for_scaled(x, [&](int j, std::span<T> column) { shift(column, columns_.scale(j).x()); });
        upload_guess(x);
        start<true>();
        confirm();
        for_scaled(x, [&](int j, std::span<T>) { columns_.check_shifted(j); });
    }

    /// Replaces residuals that rounding may have brought below the target by those in doubled
    /// precision, of which they are the squared norms. It costs a product there, and in the first
    /// solve, which finds out how large A is.
    void confirm() {
        std::vector<residual_sums> sums;
        double factor = 0;
        for (int j = 0; j < k_; ++j) {
            if (!columns_.doubtful(j, a_.single().kept().norms.get())) continue;
            if (const double own = columns_.factor(j); sums.empty() || own != factor) {
                factor = own;
                vector<T> r = a_.make_range_vector();
                sums = a_.of_columns().doubled_residual(static_cast<T>(factor), vectors_[Method::x],
                                                        vectors_[Method::b], r);
            }
            columns_.set_exact(j, sums[static_cast<std::size_t>(j)]);
        }
    }

    void upload_numbers() {
        const std::vector<double>& numbers = columns_.numbers();
        for (const int rank : run_.comm().local())
            run_.comm()[rank].upload(run_.at(rank).array, numbers.data(),
                                     numbers.size() * sizeof(double));
    }
    void download_numbers() {
        std::vector<double>& numbers = columns_.numbers();
        run_.comm()[0].download(numbers.data(), run_.at(0).array, numbers.size() * sizeof(double));
    }

    /// Repeats iterations until no column goes on. Returns why the caller stopped them, if so.
    [[nodiscard]] std::optional<reason> repeat(const joint_limits& limits) {
        const auto done = static_cast<std::int64_t>(columns_.launch());
        upload_numbers();
        if (const std::optional<reason> told = limits.told_to_stop()) return told;
        if constexpr (has_persistent)
            if (persistent_) return repeat_persistent(limits, done);
        const std::optional<reason> told = repeat_launched(limits, done);
        end_cycle();
        return told;
    }

    /// The same by one kernel, after `done` iterations.
    [[nodiscard]] std::optional<reason> repeat_persistent(const joint_limits& limits,
                                                          std::int64_t done) {
        // The host looks between launches: a few thousand iterations take some 10 ms.
        const std::int64_t most = limits.watched() ? 2048 : limits.iterations();
        for (;;) {
            const std::int64_t iterations = std::min(most, limits.iterations() - done);
            persistent_->enqueue(run_, operands(0), diagonal_, iterations);
            (void)run_.get({control::state}); // waits, and reports a device that failed
            done += iterations;
            download_numbers();
            if (!columns_.runs() || done >= limits.iterations()) return std::nullopt;
            if (const std::optional<reason> told = limits.told_to_stop()) return told;
        }
    }

    /// The same by kernels that each iteration launches.
    [[nodiscard]] std::optional<reason> repeat_launched(const joint_limits& limits,
                                                        std::int64_t done) {
        set_controls(run_, done, limits.iterations());
        const auto body = [this] { iterate(); };
        if (!limits.watched()) {
            (void)run_.repeat(body);
            return std::nullopt;
        }
        std::optional<reason> told;
        const loop_watcher watcher{done, [&](std::span<const loop_post>) {
                                       if (!told) told = limits.told_to_stop();
                                       return told.has_value();
                                   }};
        (void)run_.repeat(body, watcher);
        return told;
    }

    int k_;
    bool diagonal_; ///< M is the inverse of the main diagonal
    column_places at_{k_};
    column_matrix<T> a_;
    any_preconditioner<T> m_; ///< that is applied as a step; M = I where there is none
    int cycle_length_;        ///< of a Method that keeps a basis
    execution run_;
    std::vector<vector<T>> vectors_;
    std::optional<column_basis<T>> basis_;
    scalar running_{run_}; ///< columns that go on; of passes: summed over the ranks
    std::optional<persistent_columns<T>> persistent_;
    std::string launched_because_; ///< why there is no persistent kernel
    column_convergence columns_;
};

} // namespace krylith

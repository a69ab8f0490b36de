// What the host knows of each column of a solve for several right-hand sides: the numbers that the
// devices work on, and the results that come of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>

namespace krylith {

class column_convergence {
public:
    /// Makes column j begin from the sums of its start, and returns the state that this leaves it
    /// in.
    using begin_function = loop_state (*)(double* numbers, const column_places& at, int j,
                                          int value_bytes);

    /// The devices have so many numbers. With `cycles` the loop ends at the end of a cycle, and
    /// columns go on with the next.
    column_convergence(int columns, int numbers, begin_function begin, std::size_t value_bytes,
                       bool cycles)
        : k_(columns),
          begin_(begin),
          value_bytes_(value_bytes),
          cycles_(cycles),
          numbers_(static_cast<std::size_t>(numbers)) {}

    /// The devices' numbers, at the places of column_places: downloaded after a residual was
    /// computed, uploaded before the loop.
    [[nodiscard]] std::vector<double>& numbers() { return numbers_; }

    /// Begins a solve, from numbers with the squared norms of b in the place of r'r. options.rtol
    /// is set.
    void begin(const solver_options& options, std::int64_t iteration_limit);
    /// Takes the residual of the initial guess, or that of x = 0 right after begin(), and tells the
    /// columns that iterate from those that have ended at the start.
    void start();

    /// Whether any column is to iterate.
    [[nodiscard]] bool runs() const;
    /// Remembers which columns the loop is about to iterate, and returns the number of iterations
    /// of the one that has most.
    [[nodiscard]] double launch();
    /// Ends what has stopped by the true residual. A column whose recurrence has run ahead of it,
    /// or has broken down, goes on from there, once for each time that this brings it to a quarter
    /// of what it was; with cycles as long as whole cycles bring it down at all. `told` is the
    /// caller's reason to stop, which ends what would go on.
    void verify(std::optional<reason> told, bool recorded);

    [[nodiscard]] std::vector<solve_result>& results() { return results_; }

private:
    [[nodiscard]] double number(int place, int j) const {
        return numbers_[static_cast<std::size_t>(place + j)];
    }
    void set(int place, int j, double value) {
        numbers_[static_cast<std::size_t>(place + j)] = value;
    }
    [[nodiscard]] solve_result& result(int j) { return results_[static_cast<std::size_t>(j)]; }
    [[nodiscard]] loop_state state(int j) const {
        return static_cast<loop_state>(static_cast<std::uint8_t>(number(at_.state(), j)));
    }
    [[nodiscard]] reason converged_reason(int j) const;
    /// Ends the column for good, by the residual in the numbers.
    void finish(int j, reason why);
    /// Lets the column go on from the residual in the numbers.
    void resume(int j);
    /// Lets the column begin the next cycle, unless the last one shows that it would be in vain.
    void begin_cycle(int j);

    int k_;
    column_places at_{k_};
    begin_function begin_;
    std::size_t value_bytes_;
    bool cycles_;
    solver_options options_;
    std::int64_t limit_ = 0;
    std::vector<double> numbers_;
    std::vector<double> kept_; ///< the numbers of begin(), with the squared norms of b
    std::vector<bool> started_;
    std::vector<double> best_; ///< r'r after the last cycle that was whole
    std::vector<solve_result> results_;
};

} // namespace krylith

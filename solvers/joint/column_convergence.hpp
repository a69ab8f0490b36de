// What the host knows of each column of a solve for several right-hand sides: the numbers that the
// devices work on, and the results that come of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/solvers/joint/column_scaling.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/spmv/facts/kept_facts.hpp>

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
          numbers_(static_cast<std::size_t>(numbers)),
          columns_(static_cast<std::size_t>(columns)) {}

    /// The devices' numbers, at the places of column_places: downloaded after a residual was
    /// computed, uploaded before the loop.
    [[nodiscard]] std::vector<double>& numbers() { return numbers_; }

    /// Forgets the solve before, and makes all factors 1.
    void reset();
    /// Finds the columns of b that must be scaled: those where b'b or the square of A b, which the
    /// numbers have in the places of r'r and of its neighbour, is not ordinary (is_ordinary).
    /// Returns whether there are any.
    template <class T>
    [[nodiscard]] bool choose_scaled(std::span<const T> b, std::int64_t rows);
    [[nodiscard]] bool any_scaled() const;
    [[nodiscard]] double factor(int j) const { return number(at_.factor(), j); }
    [[nodiscard]] double product_square(int j) const { return number(at_.extra(), j); }
    [[nodiscard]] column_scale& scale(int j) { return columns_[at(j)].scale; }
    /// Begins a solve, from numbers with the squared norms of b in the place of r'r, and makes the
    /// scales the columns' factors. options.rtol is set.
    void begin(const solver_options& options, std::int64_t iteration_limit);

    /// Takes the residual of the initial guess, or b, and tells the columns that iterate from those
    /// that have ended at the start.
    void start();

    /// Whether rounding may have brought the residual in the numbers below the target of column j,
    /// which could end by it.
    [[nodiscard]] bool doubtful(int j, const std::optional<matrix_norms>& norms) const;
    /// Takes the residual in doubled precision of a doubtful column, with which the column ends.
    void set_exact(int j, const residual_sums& sums);

    /// Whether any column is to iterate.
    [[nodiscard]] bool runs() const;
    /// Remembers which columns the loop is about to iterate, and returns the number of iterations
    /// of the one that has most.
    [[nodiscard]] double launch();
    /// Ends what has stopped by the true residual. A column whose recurrence has run ahead of it,
    /// or has broken down, goes on from there, as a solve of its own does
    /// (iteration_control::check_convergence); with cycles as long as whole cycles bring it down at
    /// all. `told` is the caller's reason to stop, which ends what would go on.
    void verify(std::optional<reason> told, bool recorded);
    /// Decides again for a column that is given back in another scale than it was iterated in, by
    /// the residual of what is given back.
    void check_shifted(int j);

    [[nodiscard]] std::vector<solve_result> results() const;

private:
    struct column {
        column_scale scale;
        solve_result result;
        double bb = 0;        ///< squared norm of the scaled b
        double target = 0;    ///< of the scaled residual's norm
        double previous = -1; ///< squared residual at the last verification
        double best = 0;      ///< r'r after the last cycle that was whole
        bool started = false; ///< the loop iterates it
        bool exact = false;   ///< r'r is of doubled precision
    };

    [[nodiscard]] static std::size_t at(int j) { return static_cast<std::size_t>(j); }
    [[nodiscard]] double number(int place, int j) const { return numbers_[at(place + j)]; }
    void set(int place, int j, double value) { numbers_[at(place + j)] = value; }
    [[nodiscard]] loop_state state(int j) const {
        return static_cast<loop_state>(static_cast<std::uint8_t>(number(at_.state(), j)));
    }
    /// Whether the residual in the numbers is small enough.
    [[nodiscard]] bool reached(int j) const;
    [[nodiscard]] reason converged_reason(int j) const;
    /// Ends the column for good, by the residual in the numbers.
    void finish(int j, reason why);
    /// Lets the column go on from the residual in the numbers.
    void resume(int j);
    /// Decides by what has ended the recurrence whether the column goes on, where the residual is
    /// not small enough.
    void judge(int j, loop_state why);
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
    std::vector<column> columns_;
};

} // namespace krylith

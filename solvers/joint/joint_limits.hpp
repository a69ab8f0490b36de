// What ends a joint loop besides its columns: iterations, time, and the caller.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

class joint_limits {
public:
    /// For a matrix of so many rows. The time that options.max_seconds limits began at `began`. The
    /// options outlive it.
    joint_limits(const solver_options& options, std::int64_t rows,
                 std::chrono::steady_clock::time_point began);

    [[nodiscard]] std::int64_t iterations() const { return iterations_; }
    /// Whether the caller may stop the solve.
    [[nodiscard]] bool watched() const;
    [[nodiscard]] std::optional<reason> told_to_stop() const;

private:
    const solver_options& options_;
    std::int64_t iterations_;
    std::chrono::steady_clock::time_point began_;
};

/// Returns the mode of a loop with M: eager where M can't be recorded. Throws usage_error where
/// recording was asked for all the same.
[[nodiscard]] execution_mode recordable_mode(execution_mode asked, bool recordable,
                                             const std::string& name);

/// Sets the control registers for a loop that stops when the number of columns that go on is 0.
void set_controls(execution& run, std::int64_t done, std::int64_t limit);

/// Says what in the options asks for launched kernels; empty: nothing.
[[nodiscard]] std::string not_persistent_because(const solver_options& options,
                                                 execution_mode mode);

} // namespace krylith

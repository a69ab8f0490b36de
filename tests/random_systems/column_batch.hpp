// Several right-hand sides of one system, drawn from a seed and an index; solved at once and one by
// one, and held side by side.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include <krylith/device/device_group.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/solver_table.hpp>

#include <krylith/tests/random_systems/linear_system.hpp>
#include <krylith/tests/random_systems/trial.hpp>

namespace random_systems {

struct column_batch {
    std::uint64_t index = 0;
    const kind* family = nullptr;
    int rows = 1;
    int columns = 2;
    const krylith::solver_method* solver = &krylith::solver_rows::cg;
    bool single = false;                                            ///< fp32
    const krylith::preconditioner_method* preconditioner = nullptr; ///< null: none
    double matrix_size = 0; ///< A is multiplied by 10 to this part of the precision's range
    int devices = 1;
    krylith::solver_options options;

    [[nodiscard]] std::string describe() const;
};

/// Draws the batch of an index; `group_sizes` are the numbers of devices to choose from.
[[nodiscard]] column_batch draw_columns(std::uint64_t seed, std::uint64_t index,
                                        std::initializer_list<int> group_sizes);

/// Solves a batch at once and one by one. It is sound where each column converges as it does by
/// itself, in about as many iterations, or ends for the same reason or one as good. `random`
/// continues where draw_columns() ended: the system's values, right-hand sides and guesses.
[[nodiscard]] outcome run(const column_batch& t, const krylith::device_group& group,
                          std::uint64_t seed);

} // namespace random_systems

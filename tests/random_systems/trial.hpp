// One system and one way to solve it, drawn from a seed and an index; run and judged.
#pragma once

#include <cstdint>
#include <string>

#include <krylith/device/device_group.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/random_systems/linear_system.hpp>

namespace random_systems {

enum class start { from_zero, given_zero, random, exact };

struct trial {
    std::uint64_t index = 0;
    const kind* family = nullptr;
    int rows = 1;
    const krylith::solver_method* solver = &krylith::solver_rows::cg;
    bool single = false;                                            ///< fp32
    const krylith::preconditioner_method* preconditioner = nullptr; ///< null: none
    bool aliased = false;                                           ///< b and x are one vector
    start from = start::from_zero;
    int devices = 1;
    double relative_atol = 0; ///< options.atol / ||b||
    krylith::operator_options operator_options;
    krylith::solver_options options;

    [[nodiscard]] std::string describe() const;
};

enum class finding { sound, false_convergence, misreported, failed };

struct outcome {
    finding found = finding::sound;
    std::string ending;  ///< a reason, "refused", or what was thrown
    std::string details; ///< the details where it isn't sound
    bool converged = false;
};

/// Draws the trial of an index; `group_sizes` are the numbers of devices to choose from.
[[nodiscard]] trial draw(std::uint64_t seed, std::uint64_t index,
                         std::initializer_list<int> group_sizes);

/// Runs a trial. `random` continues where draw() ended: the system's values.
[[nodiscard]] outcome run(const trial& t, const krylith::device_group& group, std::uint64_t seed);

} // namespace random_systems

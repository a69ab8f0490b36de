// Arithmetic on device scalars, evaluated at the start of the kernel that needs the results.
//
// The host records assignments such as `alpha = rho / pq` as instructions on registers. The next
// kernel loads the registers that it needs, adds up the reductions that are under way, runs the
// instructions and stores what changed. Every block does this for itself and only block 0 stores,
// so a scalar has two places and each assignment goes to the one that no block reads (`slot`).
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

inline constexpr int max_registers = 64; ///< scalars of one execution, temporaries included
inline constexpr int max_instructions =
    40; ///< of one kernel; more are run by a kernel of their own
inline constexpr int max_immediates = 16;
inline constexpr int max_sums = 8; ///< dot products of one pass that go to named scalars

/// Registers that control the loop. The others are scalars of the solver.
namespace control {
enum : std::uint8_t {
    state,     ///< 0 while running, else a loop_state
    iteration, ///< iterations finished
    target,    ///< squared residual norm that counts as converged
    limit,     ///< iterations at which to give up
    pause_at,  ///< iterations at which the loop pauses for the host
    ceiling,   ///< squared residual norm that counts as diverged
    residual,  ///< squared residual norm last tested
    best,      ///< smallest squared residual norm that counted as progress
    best_at,   ///< its iteration
    patience,  ///< patience_with(): what counts as stagnation
    watched,   ///< the number of the launch, 0 where the host doesn't watch the loop
    posted,    ///< iterations whose residuals the host has been told
    count
};
} // namespace control

/// One register for two numbers: so many iterations in a row without progress are stagnation, and
/// progress is a squared residual norm below `gain`, of (0, 1], times the smallest so far. Kernels
/// read their registers, and programs that name one more may not fit into them.
[[nodiscard]] inline double patience_with(double iterations, double gain) {
    constexpr double below_one = 1 - 1e-6;
    return iterations + (gain < below_one ? gain : below_one);
}

/// The reason why the device-side loop stopped. The solver maps it to a reason of its result.
enum class loop_state : std::uint8_t {
    running,
    converged, ///< by the recurrence
    limit,
    pause,
    diverged,
    stagnated,
    not_a_number,
    breakdown,
    indefinite_matrix,
    indefinite_preconditioner,
    stopped, ///< the host said so
    extreme  ///< squares leave the ordinary range: the host scales the system and begins anew
};

enum class scalar_opcode : std::uint8_t {
    set,  ///< to = immediate[a]
    copy, ///< to = a
    add,
    subtract,
    multiply,
    divide,
    divide_or_zero, ///< a / b, 0 if b is 0
    square_root,
    negate,
    test,     ///< a: squared residual norm after an iteration: counts it, records it, may stop; b
              ///< and `to` are recorded beside it unless b is control::state
    estimate, ///< a: the same for an estimate inside a cycle: only ends the cycle
    positive, ///< stops with loop_state(b) unless a > 0; not_a_number where a is NaN
    nonzero,  ///< stops with loop_state(b) if |a| <= eps * to; not_a_number where a is not finite
    pause,    ///< stops at pause_at iterations; only at the end of the body, where the loop goes on
    finish,   ///< a: squared norm of the true residual at the end of a cycle: stops or goes on
    stop,     ///< sets loop_state(b)
    maximum,
    start,   ///< a: squared residual norm before the first iteration: may stop
    ordinary ///< stops with loop_state(b) unless is_ordinary(a, to)
};

struct scalar_instruction {
    scalar_opcode code;
    std::uint8_t to;
    std::uint8_t a;
    std::uint8_t b;
};

/// A register and its place in the device's slots.
struct scalar_place {
    std::uint8_t number;
    std::uint8_t slot;
};

struct scalar_program {
    scalar_instruction instructions[max_instructions];
    double immediates[max_immediates];
    scalar_place loads[max_registers];
    scalar_place stores[max_registers];
    std::uint8_t sums[max_sums]; ///< registers that take the values of the batch under way
    std::uint8_t instruction_count;
    std::uint8_t immediate_count;
    std::uint8_t load_count;
    std::uint8_t store_count;

    [[nodiscard]] KRYLITH_HD int size() const { return instruction_count; }
    [[nodiscard]] KRYLITH_HD scalar_instruction instruction(int i) const { return instructions[i]; }
    [[nodiscard]] KRYLITH_HD double immediate(int i) const { return immediates[i]; }
};

[[nodiscard]] KRYLITH_HD inline double as_register(loop_state s) {
    return static_cast<double>(static_cast<std::uint8_t>(s));
}

/// Whether a vector of this squared norm, its products with other such vectors, and both after the
/// largest decrease that the precision allows, stay normal numbers: 1e-80 to 1e80, for float 1e-30
/// to 1e30 (where entries are float but sums are not).
[[nodiscard]] KRYLITH_HD constexpr bool is_ordinary(double squared_norm, int value_bytes) {
    const double most = value_bytes == 8 ? 1e80 : 1e30;
    return squared_norm >= 1 / most && squared_norm <= most; // false for NaN
}

namespace detail {

KRYLITH_HD inline void stop(double* reg, loop_state why) {
    if (reg[control::state] == 0.0) reg[control::state] = as_register(why);
}

KRYLITH_HD inline bool finite(double x) {
    return x - x == 0.0;
}

/// The tests are in the order of importance: a NaN is never "not converged", and convergence at the
/// last allowed iteration counts.
KRYLITH_HD inline void test(double* reg, double rr) {
    reg[control::residual] = rr;
    if (!finite(rr)) return stop(reg, loop_state::not_a_number);
    if (rr <= reg[control::target]) return stop(reg, loop_state::converged);
    if (rr > reg[control::ceiling]) return stop(reg, loop_state::diverged);
    if (reg[control::iteration] >= reg[control::limit]) return stop(reg, loop_state::limit);
    const double iterations = floor(reg[control::patience]);
    const double gain = reg[control::patience] - iterations; // NaN, and no progress, with infinity
    if (rr < gain * reg[control::best]) {
        reg[control::best] = rr;
        reg[control::best_at] = reg[control::iteration];
    } else if (reg[control::iteration] - reg[control::best_at] >= iterations) {
        stop(reg, loop_state::stagnated);
    }
}

/// Tests an estimate inside a cycle, where only convergence and the limits matter: the end of the
/// cycle tests the rest.
KRYLITH_HD inline void test_estimate(double* reg, double rr) {
    reg[control::residual] = rr;
    if (!finite(rr)) return stop(reg, loop_state::not_a_number);
    if (rr <= reg[control::target]) return stop(reg, loop_state::converged);
    if (reg[control::iteration] >= reg[control::limit]) stop(reg, loop_state::limit);
}

/// Ends a cycle: whatever stopped it, the true residual decides. No progress in a whole cycle is
/// stagnation, since the next cycle would be the same.
KRYLITH_HD inline void finish(double* reg, double rr) {
    const double state = reg[control::state];
    const bool open = state == as_register(loop_state::running) ||
                      state == as_register(loop_state::converged) ||
                      state == as_register(loop_state::limit);
    if (!open) return;
    reg[control::state] = 0.0;
    reg[control::residual] = rr;
    const bool progress = rr < (1 - 1e-6) * reg[control::best];
    reg[control::best] = rr;
    if (!finite(rr)) return stop(reg, loop_state::not_a_number);
    if (rr <= reg[control::target]) return stop(reg, loop_state::converged);
    if (rr > reg[control::ceiling]) return stop(reg, loop_state::diverged);
    if (reg[control::iteration] >= reg[control::limit]) return stop(reg, loop_state::limit);
    if (!progress) stop(reg, loop_state::stagnated);
}

} // namespace detail

/// Where a loop records its iterations: planes of mask + 1 values, a power of two. The first plane
/// has squared residual norms, that of iteration k at k & mask; two more, where there are three,
/// have other scalars of the iteration.
struct iteration_record {
    double* values; ///< or null
    std::int64_t mask;
    std::int64_t planes; ///< 1 or 3

    [[nodiscard]] KRYLITH_HD double& at(double iteration, int plane = 0) const {
        return values[(static_cast<std::int64_t>(iteration) & mask) + plane * (mask + 1)];
    }
};

/// Runs the instructions on `reg`. Iterations are recorded when `record` is set, which one block
/// does. A guarded program ends with the instruction that stops the loop: what follows it belongs
/// to a kernel that will not run. A Program has size(), instruction(i) and immediate(i).
template <class Program>
KRYLITH_HD inline void run(const Program& program, double* reg, const iteration_record& history,
                           bool record, bool guarded) {
    for (int i = 0; i < program.size(); ++i) {
        if (guarded && reg[control::state] != 0.0) return;
        const scalar_instruction in = program.instruction(i);
        const double a = reg[in.a];
        const double b = reg[in.b];
        switch (in.code) {
        case scalar_opcode::set: reg[in.to] = program.immediate(in.a); break;
        case scalar_opcode::copy: reg[in.to] = a; break;
        case scalar_opcode::add: reg[in.to] = a + b; break;
        case scalar_opcode::subtract: reg[in.to] = a - b; break;
        case scalar_opcode::multiply: reg[in.to] = a * b; break;
        case scalar_opcode::divide: reg[in.to] = a / b; break;
        case scalar_opcode::divide_or_zero: reg[in.to] = b == 0.0 ? 0.0 : a / b; break;
        case scalar_opcode::square_root: reg[in.to] = sqrt(a); break;
        case scalar_opcode::negate: reg[in.to] = -a; break;
        case scalar_opcode::test:
        case scalar_opcode::estimate:
            if (reg[control::state] != 0.0) break;
            reg[control::iteration] += 1.0;
            if (record && history.values != nullptr) {
                history.at(reg[control::iteration]) = a;
                if (in.b != control::state && history.planes == 3) {
                    history.at(reg[control::iteration], 1) = reg[in.to];
                    history.at(reg[control::iteration], 2) = b;
                }
            }
            in.code == scalar_opcode::test ? detail::test(reg, a) : detail::test_estimate(reg, a);
            break;
        case scalar_opcode::positive:
            if (!detail::finite(a)) detail::stop(reg, loop_state::not_a_number);
            if (!(a > 0.0)) detail::stop(reg, static_cast<loop_state>(in.b));
            break;
        case scalar_opcode::nonzero:
            if (!detail::finite(a)) detail::stop(reg, loop_state::not_a_number);
            if (fabs(a) <= 2.220446049250313e-16 * fabs(reg[in.to]))
                detail::stop(reg, static_cast<loop_state>(in.b));
            break;
        case scalar_opcode::finish: detail::finish(reg, a); break;
        case scalar_opcode::pause:
            if (reg[control::iteration] >= reg[control::pause_at])
                detail::stop(reg, loop_state::pause);
            break;
        case scalar_opcode::stop: detail::stop(reg, static_cast<loop_state>(in.b)); break;
        case scalar_opcode::maximum: reg[in.to] = a < b ? b : a; break;
        case scalar_opcode::start:
            reg[control::residual] = a;
            if (a <= reg[control::target]) detail::stop(reg, loop_state::converged);
            break;
        case scalar_opcode::ordinary:
            if (!is_ordinary(a, in.to)) detail::stop(reg, static_cast<loop_state>(in.b));
            break;
        }
    }
}

} // namespace krylith

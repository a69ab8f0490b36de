// Chooses among operators by timing them (operator_options::measure).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Seconds of the work of one iteration of CG: product, two updates, three dot products. Ten
/// iterations and more, in about `seconds`.
template <class T>
[[nodiscard]] double time_iteration(const matrix_operator<T>& a, double seconds = 0.05);

/// Whose fastest operator is kept, and read again, under (machine, pattern, "operator fp64").
struct trial_subject {
    device_group group;
    std::uint64_t pattern; ///< pattern_hash()
};

/// Slower predictions than this, relative to the best, are not tried.
inline constexpr double worth_a_trial = 1.3;

/// The operator that an earlier trial took, else the clear_choice() of a trial of all predictions
/// in `choice` within worth_a_trial of the first. One operator is in memory at a time, so the
/// fastest may be built twice; one that memory is too short for is left out. Fills choice.measured
/// and choice.because. `build` makes an operator. Throws device_error where none could be built.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
try_operators(const trial_subject& subject,
              const std::function<std::unique_ptr<matrix_operator<T>>(operator_kind)>& build,
              operator_choice& choice);

} // namespace krylith

// Chooses among operators by timing them (operator_options::measure).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Returns the seconds of the work of one iteration of CG: a product, two updates, three dot
/// products; for a matrix that is not square, whose two sides can't be added, of as many passes
/// over vectors. It times ten iterations or more, in about `seconds`.
template <class T>
[[nodiscard]] double time_iteration(const matrix_operator<T>& a, double seconds = 0.05);

/// The key of a trial: the fastest operator is kept under (machine, pattern, "operator fp64").
struct trial_subject {
    communicator comm;
    std::uint64_t pattern; ///< pattern_hash()
};

/// Predictions slower than this, relative to the best, are not tried.
inline constexpr double worth_a_trial = 1.3;

/// Returns the operator that an earlier trial took, else the clear_choice() of a trial of all
/// predictions in `choice` within worth_a_trial of the first. `build` makes an operator. One
/// operator is in memory at a time, so the fastest may be built twice; one that memory is too short
/// for is left out. Fills choice.measured and choice.because. Throws device_error where none could
/// be built.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
try_operators(const trial_subject& subject,
              const std::function<std::unique_ptr<matrix_operator<T>>(operator_kind)>& build,
              operator_choice& choice);

} // namespace krylith

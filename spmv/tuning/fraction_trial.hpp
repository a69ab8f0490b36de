// Tunes the fractions of operators lra and lra-rc by timing them (operator_options::measure).
//
// Tuning runs before a solve and not in its first iterations: a recorded loop can't change its
// operator, and each point assigns other rows to the devices, so that its blocks are made and
// uploaded anew. A later solve of the same pattern reads the result
// (matrix/files/tuning_file.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <krylith/matrix/files/tuning_file.hpp>
#include <krylith/spmv/fractions/fraction_search.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/tuning/operator_trial.hpp>

namespace krylith {

/// Returns the fractions that the caller left open; lra has no redundant fraction.
[[nodiscard]] free_fractions open_fractions(operator_kind kind, const operator_options& options);

/// Returns the key under which fractions of lra or lra-rc are kept: "lra-rc fractions fp64", and
/// whatever else their times depend on and is not automatic: format, transport, a fraction that is
/// fixed.
[[nodiscard]] tuning_key fractions_key(const trial_subject& subject, operator_kind kind,
                                       const operator_options& options, std::size_t value_bytes);

/// Returns what an earlier trial kept; nothing where its text is broken.
[[nodiscard]] std::optional<fraction_choice> recall_fractions(const tuning_key& key,
                                                              const row_fractions& rule);

/// Returns the operator with the fractions that an earlier trial kept, else with the best that a
/// search finds, which is then kept. One operator is in memory at a time, so the best may be built
/// twice; a point that memory is too short for is left out. It costs up to most_fraction_points
/// setups and 0.05 s for each. Fills choice.fractions and choice.because. Throws device_error where
/// none could be built.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
try_fractions(const tuning_key& key, const row_fractions& rule, free_fractions free,
              const std::function<std::unique_ptr<matrix_operator<T>>(const row_fractions&)>& build,
              operator_choice& choice);

} // namespace krylith

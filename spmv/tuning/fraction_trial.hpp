// Tunes the shares of operators lra and lra-rc by timing them (operator_options::measure).
//
// It is done before a solve and not in its first iterations: a recorded loop can't change its
// operator, and each point deals other rows to the devices, so that its blocks are made and
// uploaded anew. A solve of the same pattern later reads the result (tuning_file.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <krylith/matrix/files/tuning_file.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/tuning/fraction_search.hpp>
#include <krylith/spmv/tuning/operator_trial.hpp>

namespace krylith {

/// What the caller left open: lra's redundant share is none.
[[nodiscard]] free_fractions open_fractions(operator_kind kind, const operator_options& options);

/// Under which the shares of lra or lra-rc are kept: "lra-rc shares fp64", and what else their
/// times hang on where it is not automatic: format, transfer, the share that is fixed.
[[nodiscard]] tuning_key fractions_key(const trial_subject& subject, operator_kind kind,
                                       const operator_options& options, std::size_t value_bytes);

/// What an earlier trial kept; nothing where it is broken.
[[nodiscard]] std::optional<fraction_choice> recall_fractions(const tuning_key& key,
                                                              const row_fractions& rule);

/// The operator with the shares that an earlier trial kept, else with the best that a search finds
/// now, which is kept. One operator is in memory at a time, so the best may be built twice; a point
/// that memory is too short for is left out. Costs up to most_fraction_points setups and 0.05 s for
/// each. Fills choice.shares and choice.because. Throws device_error where none could be built.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
try_fractions(const tuning_key& key, const row_fractions& rule, free_fractions free,
              const std::function<std::unique_ptr<matrix_operator<T>>(const row_fractions&)>& build,
              operator_choice& choice);

} // namespace krylith

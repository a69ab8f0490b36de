// Searches the fractions of rows with which operators lra and lra-rc are fastest: a few points
// around the rule's, judged by their times alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/partition/replicated/block_partition.hpp>

namespace krylith {

struct timed_fractions {
    row_fractions fractions;
    double seconds = 0; ///< time of one iteration of CG
};

/// The result of a search, and its origin. Each point is timed once and the best has the least of
/// these times, so noise makes rule_loss larger rather than smaller.
struct fraction_choice {
    row_fractions best;
    row_fractions rule;   ///< usual_fractions(), with those that the caller fixed
    double rule_loss = 0; ///< the rule's time / the best time, 1 or more; 0: the rule's point
                          ///< couldn't be built
    std::vector<timed_fractions> tried; ///< in this order; empty where an earlier search's result
                                        ///< was read
    std::string from;                   ///< "measured", or "an earlier trial, in FILE"
};

/// The fractions that the search may change; the others stay the rule's.
struct free_fractions {
    bool long_rows = true;
    bool redundant = true;
};

/// The most points that are tried.
inline constexpr std::size_t most_fraction_points = 9;

/// Times the rule's point, then long fractions of 0.2, 0.35 and 0.5 with its redundant fraction,
/// then redundant fractions of 0, 0.05, 0.1, 0.2 and 0.3 with the best long one. A grid would have
/// 15 points, each of which is built and uploaded. No point is tried twice, and none whose
/// fractions add up to more than 1. `seconds` returns the time of an iteration, infinity where the
/// point can't be built; of equal points the first is best. Returns nothing if all were infinite.
[[nodiscard]] std::optional<fraction_choice>
search_fractions(const row_fractions& rule, free_fractions free,
                 const std::function<double(const row_fractions&)>& seconds);

/// Converts the best fractions and the rule's loss to a line of text and back; parsing returns
/// nothing for a line that format() didn't write. The rule, which is arithmetic, isn't kept.
[[nodiscard]] std::string format(const fraction_choice& choice);
[[nodiscard]] std::optional<fraction_choice> parse_fraction_choice(std::string_view line,
                                                                   const row_fractions& rule);

/// Returns text such as "long_fraction 0.35 and redundant_fraction 0.1 (measured); the rule's 0.35
/// and 0.2 take 1.04 times as long".
[[nodiscard]] std::string in_words(const fraction_choice& choice);

} // namespace krylith

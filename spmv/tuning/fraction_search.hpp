// Which fractions of the rows operators lra and lra-rc are fastest with: a search over a few points
// around the rule's, which sees nothing but their times.
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
    double seconds = 0; ///< of one iteration of CG
};

/// What a search found, and where that is from. Each point is timed once and the best is the least
/// of these times, so their noise makes rule_loss larger rather than smaller.
struct fraction_choice {
    row_fractions best;
    row_fractions rule;   ///< usual_fractions(), with what the caller fixed
    double rule_loss = 0; ///< rule's time / best time, 1 or more; 0: it couldn't be built
    std::vector<timed_fractions> tried; ///< in this order; empty where an earlier search was read
    std::string from;                   ///< "measured", or "an earlier trial, in FILE"
};

/// Which shares the search may change; the others stay the rule's.
struct free_fractions {
    bool long_rows = true;
    bool redundant = true;
};

/// Most points that are tried.
inline constexpr std::size_t most_fraction_points = 9;

/// Times the rule's point, then long shares of 0.2, 0.35 and 0.5 beside its redundant share, then
/// redundant shares of 0, 0.05, 0.1, 0.2 and 0.3 beside the best long one: one share after the
/// other, since a grid would have 15 points, and each is built and uploaded. No point twice, none
/// whose shares are more than 1 together. `seconds` says how long an iteration takes, infinity
/// where the point can't be built; of equals the first is best. Nothing if all were infinite.
[[nodiscard]] std::optional<fraction_choice>
search_fractions(const row_fractions& rule, free_fractions free,
                 const std::function<double(const row_fractions&)>& seconds);

/// Best shares and the rule's loss as a line of text, and back; nothing where it is not what
/// format() writes. The rule, which is arithmetic, isn't kept.
[[nodiscard]] std::string format(const fraction_choice& choice);
[[nodiscard]] std::optional<fraction_choice> parse_fraction_choice(std::string_view line,
                                                                   const row_fractions& rule);

/// "long_fraction 0.35 and redundant_fraction 0.1 (measured); the rule's 0.35 and 0.2 take 1.04
/// times as long".
[[nodiscard]] std::string in_words(const fraction_choice& choice);

} // namespace krylith

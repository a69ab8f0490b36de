// What a Matrix Market file held that the matrix read from it no longer shows.
#pragma once

#include <cstdint>
#include <string>

namespace krylith {

struct market_report {
    std::string layout;       ///< of the banner: "coordinate" or "array"
    std::string field;        ///< "real", "integer" or "pattern"
    std::string symmetry;     ///< "general", "symmetric" or "skew-symmetric"
    std::int64_t entries = 0; ///< given by the file, one a line

    /// Of the entries of a coordinate file, those that stood at a place given before, and were
    /// added to it.
    std::int64_t duplicates = 0;
    /// Whole numbers of an integer file that T can't hold (beyond 2^53, float 2^24): each was
    /// rounded to the nearest.
    std::int64_t rounded = 0;
    /// Magnitudes too small for T that became zero.
    std::int64_t vanished = 0;
    /// Numbers behind the entries of a pattern file.
    std::int64_t ignored = 0;

    /// Whether an entry was added up, rounded, or lost a number: what a user should hear of.
    [[nodiscard]] bool changed_entries() const noexcept {
        return duplicates + rounded + vanished + ignored > 0;
    }

    friend bool operator==(const market_report&, const market_report&) = default;
};

/// "coordinate real symmetric, 7 entries; 2 duplicates were added to the first of their place".
/// Counts of 0 are left out.
[[nodiscard]] std::string in_words(const market_report& report);

/// What a caller may ask of the reader.
struct market_options {
    /// The most memory that reading may take beside the text, bytes; 0: what the machine has
    /// available. Small blocks of the reader itself (some 2 MiB a thread) don't count.
    std::int64_t memory = 0;
    /// Filled in where it isn't null.
    market_report* report = nullptr;
};

} // namespace krylith

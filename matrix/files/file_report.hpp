// The facts of a file that the matrix read from it no longer shows.
#pragma once

#include <cstdint>
#include <string>

namespace krylith {

struct file_report {
    /// Matrix Market: "coordinate" or "array"; else the format: "scipy.sparse csr".
    std::string layout;
    std::string field;        ///< "real", "integer", "pattern"; or NumPy's type: "<f8"
    std::string symmetry;     ///< "general", "symmetric", "skew-symmetric" ...
    std::int64_t entries = 0; ///< given by the file

    /// The number of entries that stood at a place given before, and were added to it.
    std::int64_t duplicates = 0;
    /// The number of whole numbers of an integer file that T can't hold (beyond 2^53, float 2^24):
    /// each was rounded to the nearest.
    std::int64_t rounded = 0;
    /// The number of magnitudes too small for T that became zero.
    std::int64_t vanished = 0;
    /// The number of numbers behind the entries of a pattern file.
    std::int64_t ignored = 0;

    /// Returns whether an entry was added up, rounded, or lost a number, which a user should hear
    /// of.
    [[nodiscard]] bool changed_entries() const noexcept {
        return duplicates + rounded + vanished + ignored > 0;
    }

    friend bool operator==(const file_report&, const file_report&) = default;
};

/// A text: "coordinate real symmetric, 7 entries; 2 duplicates were added to the first of their
/// place". Counts of 0 are left out.
[[nodiscard]] std::string in_words(const file_report& report);

/// The options of a reader.
struct load_options {
    /// The most memory that reading may take beside the text, bytes; 0 means what the machine has
    /// available. Small blocks of the reader itself (some 2 MiB a thread) don't count.
    std::int64_t memory = 0;
    /// The report, filled in where it isn't null.
    file_report* report = nullptr;
};

} // namespace krylith

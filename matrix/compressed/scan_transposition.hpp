// Transposition by a counting sort whose counters each thread has for itself: ScanTrans (Wang, Liu,
// Hou, Feng, Parallel Transposition of Sparse Data Structures, ICS 2016, section 4.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/compressed/compressed_pattern.hpp>
#include <krylith/matrix/compressed/entry_parts.hpp>

namespace krylith {

/// The place of each entry of a compressed matrix in the arrays of the other direction. Counter is
/// an integer that holds the number of nonzeros. Memory: a counter a column and part.
template <class Counter>
class scan_transposition {
public:
    /// Counts, with a thread for each of `parts` parts, and writes the offsets of the other
    /// direction, a.across + 1. The arrays must live as long as this object.
    scan_transposition(const compressed_pattern& a, std::span<std::int64_t> result_offsets,
                       int parts);

    /// Calls put(place, major, k) for each entry k, on several threads, each entry and each place
    /// once. The entries of a column come in ascending order of k. To be called once.
    template <class Put>
    void for_each_place(const Put& put) {
#pragma omp parallel for schedule(static, 1) num_threads(parts_)
        for (int part = 0; part < parts_; ++part) {
            Counter* const next = next_of(part);
            const std::int32_t* const indices = a_.indices.data();
            for_each_row(a_.offsets.data(), begins_[static_cast<std::size_t>(part)],
                         begins_[static_cast<std::size_t>(part) + 1],
                         [&](std::int64_t major, std::int64_t k, std::int64_t end) {
                             for (; k < end; ++k)
                                 put(static_cast<std::int64_t>(next[indices[k]]++), major, k);
                         });
        }
    }

private:
    [[nodiscard]] Counter* next_of(int part) noexcept {
        return next_.data() + std::int64_t{part} * a_.across;
    }
    void count();
    void scan(std::span<std::int64_t> result_offsets);

    compressed_pattern a_;
    int parts_;
    std::vector<entry_place> begins_;
    std::vector<Counter> next_; ///< by part and column: first counts, then places
};

} // namespace krylith

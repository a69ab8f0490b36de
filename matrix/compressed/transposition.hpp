// The counting sort that turns compressed rows into compressed columns.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace krylith {

/// The place of each entry of a compressed matrix in the compressed arrays of the other direction.
/// The major indices are the rows of CSR.
class transposition {
public:
    /// The arrays must have been validated, and live as long as this object. All indices are below
    /// `across`.
    transposition(std::span<const std::int64_t> offsets, std::span<const std::int32_t> indices,
                  std::int64_t across);

    /// Gives the offsets of the other direction away, across + 1 entries. To be called once.
    [[nodiscard]] std::vector<std::int64_t> take_offsets() { return std::move(result_offsets_); }

    /// Calls put(place, major, k) for each entry k, on several threads, each entry and each place
    /// once. The entries of a column come in ascending order of the major index. To be called once.
    template <class Put>
    void for_each_place(const Put& put) {
#pragma omp parallel for schedule(static, 1) num_threads(team_)
        for (int t = 0; t < team_; ++t) {
            std::int64_t* const next = next_of(t);
            for (std::int64_t major = first_major_[static_cast<std::size_t>(t)];
                 major < first_major_[static_cast<std::size_t>(t) + 1]; ++major) {
                const std::int64_t end = offsets_[static_cast<std::size_t>(major + 1)];
                for (std::int64_t k = offsets_[static_cast<std::size_t>(major)]; k < end; ++k) {
                    put(next[indices_[static_cast<std::size_t>(k)]]++, major, k);
                }
            }
        }
    }

private:
    [[nodiscard]] std::int64_t* next_of(int thread) noexcept {
        return next_.data() + static_cast<std::int64_t>(thread) * across_;
    }
    void divide_entries();
    void count();
    void scan();

    std::span<const std::int64_t> offsets_;
    std::span<const std::int32_t> indices_;
    std::int64_t across_;
    int team_;
    std::vector<std::int64_t> first_major_; ///< for each thread, and an end: about equal entries
    std::vector<std::int64_t> next_;        ///< by thread and column: first counts, then places
    std::vector<std::int64_t> result_offsets_;
};

} // namespace krylith

#include <krylith/solvers/automatic/row_sample.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith {

namespace {

constexpr std::uint64_t sample_seed = 0x726f7773;

template <class T>
class sampler {
public:
    explicit sampler(const csr_view<T>& a) : a_(a) {}

    void look_at(std::int64_t row) {
        ++found_.rows;
        const std::int64_t length = end_of(row) - begin_of(row);
        const double diagonal = diagonal_of(row);
        double sum = length > longest_sampled_row ? infinite : 0;
        entries_.clear();
        if (sum == 0) take_entries(row);
        for (const auto& [column, value] : entries_) {
            if (!std::isfinite(sum)) break;
            if (column == row) continue;
            const double size = std::sqrt(std::fabs(diagonal * diagonal_of(column)));
            const double scaled = value == 0 ? 0 : std::fabs(value) / size;
            sum += scaled;
            if (!std::isfinite(scaled)) continue;
            found_.off_diagonal += scaled;
            if ((value > 0) == (diagonal > 0)) found_.positive += scaled;
        }
        if (diagonal == 0 || !(sum < infinite)) sum = infinite;
        found_.largest_sum = std::max(found_.largest_sum, sum);
        if (0.9 * sum <= 1) ++found_.dominant;
    }

    [[nodiscard]] const row_sample& found() const { return found_; }

private:
    using entry = std::pair<std::int32_t, double>; ///< a column and its value

    static constexpr double infinite = std::numeric_limits<double>::infinity();

    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] std::int64_t begin_of(std::int64_t row) const { return a_.row_offsets[at(row)]; }
    [[nodiscard]] std::int64_t end_of(std::int64_t row) const {
        return a_.row_offsets[at(row + 1)];
    }

    /// Gives entries_, which is empty, those of a row; those at one place are added up.
    void take_entries(std::int64_t row) {
        for (std::int64_t k = begin_of(row); k < end_of(row); ++k)
            entries_.emplace_back(a_.column_indices[at(k)], static_cast<double>(a_.values[at(k)]));
        std::ranges::stable_sort(entries_, {}, &entry::first);
        std::size_t kept = 0;
        for (const entry& one : entries_)
            if (kept != 0 && entries_[kept - 1].first == one.first)
                entries_[kept - 1].second += one.second;
            else
                entries_[kept++] = one;
        entries_.resize(kept);
    }

    /// Of the first entries of a row, so that full rows cost no more than others.
    [[nodiscard]] double diagonal_of(std::int64_t row) const {
        const std::int64_t end = std::min(end_of(row), begin_of(row) + longest_sampled_row);
        double sum = 0;
        for (std::int64_t k = begin_of(row); k < end; ++k)
            if (a_.column_indices[at(k)] == row) sum += static_cast<double>(a_.values[at(k)]);
        return sum;
    }

    csr_view<T> a_;
    row_sample found_;
    std::vector<entry> entries_; ///< of the row that is looked at
};

} // namespace

template <class T>
row_sample sample_rows(const csr_view<T>& matrix, std::int64_t most) {
    sampler<T> sample(matrix);
    if (matrix.rows <= most) {
        for (std::int64_t row = 0; row < matrix.rows; ++row) sample.look_at(row);
        return sample.found();
    }
    const auto rows = static_cast<std::uint64_t>(matrix.rows);
    for (std::int64_t k = 0; k < most; ++k)
        sample.look_at(static_cast<std::int64_t>(
            counter_hash(sample_seed, static_cast<std::uint64_t>(k)) % rows));
    return sample.found();
}

#define KRYLITH_INSTANTIATE(T) template row_sample sample_rows(const csr_view<T>&, std::int64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

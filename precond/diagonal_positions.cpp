#include <krylith/precond/diagonal_positions.hpp>

namespace krylith {

namespace {

/// Fewer rows than this take less time than waking a team of threads.
constexpr std::int64_t worth_a_team = 32768;

} // namespace

diagonal_positions::diagonal_positions(std::span<const std::int64_t> row_offsets,
                                       std::span<const std::int32_t> columns)
    : first_(row_offsets.size() - 1, -1), entries_(static_cast<std::int64_t>(columns.size())) {
    const auto rows = static_cast<std::int64_t>(first_.size());
    bool repeated = false;
#pragma omp parallel for schedule(static) reduction(|| : repeated) if (rows > worth_a_team)
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto i = static_cast<std::size_t>(row);
        for (std::int64_t k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
            if (columns[static_cast<std::size_t>(k)] != row) continue;
            repeated = repeated || first_[i] >= 0;
            if (first_[i] < 0) first_[i] = k;
        }
    }
    if (!repeated) return;
    for (std::size_t row = 0; row < first_.size(); ++row)
        for (std::int64_t k = first_[row] + 1; first_[row] >= 0 && k < row_offsets[row + 1]; ++k)
            if (columns[static_cast<std::size_t>(k)] == static_cast<std::int64_t>(row))
                repeats_.emplace_back(row, k);
}

template <class T>
std::vector<T> diagonal_positions::gather(std::span<const T> values) const {
    std::vector<T> d(first_.size());
    const auto rows = static_cast<std::int64_t>(first_.size());
#pragma omp parallel for schedule(static) if (rows > worth_a_team)
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto i = static_cast<std::size_t>(row);
        d[i] = first_[i] < 0 ? T(0) : values[static_cast<std::size_t>(first_[i])];
    }
    for (const auto& [row, k] : repeats_) d[row] += values[static_cast<std::size_t>(k)];
    return d;
}

template std::vector<double> diagonal_positions::gather(std::span<const double>) const;
template std::vector<float> diagonal_positions::gather(std::span<const float>) const;

} // namespace krylith

#include <krylith/matrix/statistics.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The survey of some rows. Everything is a count, a minimum or a maximum, so that the order in
/// which surveys are joined doesn't show.
struct part {
    bandwidths bandwidth;
    value_statistics values{.smallest = infinity};
    diagonal_statistics diagonal{
        .least = infinity, .most = -infinity, .smallest = infinity, .worst_ratio = infinity};

    void worst(double ratio, std::int64_t row) {
        if (row < 0) return;
        auto& d = diagonal;
        if (d.worst_row >= 0 &&
            (ratio > d.worst_ratio || (ratio == d.worst_ratio && row > d.worst_row)))
            return;
        d.worst_ratio = ratio;
        d.worst_row = row;
    }

    void add(const part& other) {
        bandwidth.lower = std::max(bandwidth.lower, other.bandwidth.lower);
        bandwidth.upper = std::max(bandwidth.upper, other.bandwidth.upper);
        values.smallest = std::min(values.smallest, other.values.smallest);
        values.largest = std::max(values.largest, other.values.largest);
        values.zeros += other.values.zeros;
        values.not_finite += other.values.not_finite;
        values.zero_row_sums += other.values.zero_row_sums;
        const diagonal_statistics& d = other.diagonal;
        diagonal.missing += d.missing;
        diagonal.zeros += d.zeros;
        diagonal.positive += d.positive;
        diagonal.negative += d.negative;
        diagonal.least = std::min(diagonal.least, d.least);
        diagonal.most = std::max(diagonal.most, d.most);
        diagonal.smallest = std::min(diagonal.smallest, d.smallest);
        diagonal.weakly_dominant += d.weakly_dominant;
        diagonal.strictly_dominant += d.strictly_dominant;
        worst(d.worst_ratio, d.worst_row);
    }
};

#pragma omp declare reduction(add:part : omp_out.add(omp_in))

/// Compares a row's diagonal entry with the sum of its other magnitudes.
void judge_diagonal(part& p, bool stored, double d, double others, double rounding,
                    std::int64_t row) {
    auto& all = p.diagonal;
    if (!stored) ++all.missing;
    if (stored && d == 0) ++all.zeros;
    if (d > 0) ++all.positive;
    if (d < 0) ++all.negative;
    all.least = std::min(all.least, d);
    all.most = std::max(all.most, d);
    const double size = std::fabs(d);
    if (size > 0) all.smallest = std::min(all.smallest, size);
    if (size - others >= -rounding) ++all.weakly_dominant;
    if (size - others > rounding) ++all.strictly_dominant;
    if (others > 0) p.worst(size / others, row);
}

template <class T>
void survey_row(const csr_view<T>& a, std::int64_t row, part& p) {
    const std::int64_t begin = a.row_offsets[as_size(row)];
    const std::int64_t end = a.row_offsets[as_size(row) + 1];
    const T* const value = a.values.data();
    const std::int32_t* const column = a.column_indices.data();
    bool stored = false;
    double d = 0;
    double sum = 0;
    double sizes = 0; // the sum over all entries but the diagonal
    for (std::int64_t k = begin; k < end; ++k) {
        const auto v = static_cast<double>(value[k]);
        const double size = std::fabs(v);
        if (size == 0) ++p.values.zeros;
        if (!(size < infinity)) ++p.values.not_finite;
        if (size > 0) p.values.smallest = std::min(p.values.smallest, size);
        p.values.largest = std::max(p.values.largest, size);
        sum += v;
        if (column[k] == row) {
            stored = true;
            d = v;
        } else {
            sizes += size;
        }
    }
    const double rounding = std::numeric_limits<T>::epsilon() * static_cast<double>(end - begin) *
                            (sizes + std::fabs(d));
    if (begin < end) {
        p.bandwidth.lower = std::max(p.bandwidth.lower, row - column[begin]);
        p.bandwidth.upper = std::max(p.bandwidth.upper, column[end - 1] - row);
        if (std::fabs(sum) <= rounding) ++p.values.zero_row_sums;
    }
    if (row < a.columns) judge_diagonal(p, stored, d, sizes, rounding, row);
}

} // namespace

template <class T>
entry_survey survey_entries(const csr_view<T>& a) {
    part all;
#pragma omp parallel for schedule(dynamic, 2048) reduction(add : all)
    for (std::int64_t row = 0; row < a.rows; ++row) survey_row(a, row, all);
    entry_survey result{all.bandwidth, all.values, all.diagonal};
    result.diagonal.length = std::min(a.rows, a.columns);
    // There was nothing to take a minimum of.
    if (result.values.smallest == infinity) result.values.smallest = result.values.largest;
    auto& d = result.diagonal;
    if (d.length == 0) d.least = d.most = 0;
    if (d.smallest == infinity) d.smallest = std::fabs(d.most);
    if (d.worst_row < 0) d.worst_ratio = 0;
    return result;
}

template <class T>
std::int64_t count_empty_columns(const csr_view<T>& a) {
    std::vector<std::uint8_t> seen(as_size(a.columns), 0);
    const std::int64_t nnz = a.nnz();
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < nnz; ++k) {
        const std::atomic_ref<std::uint8_t> here(seen[as_size(a.column_indices[as_size(k)])]);
        if (here.load(std::memory_order_relaxed) == 0) here.store(1, std::memory_order_relaxed);
    }
    return std::count(seen.begin(), seen.end(), 0);
}

#define KRYLITH_INSTANTIATE(T) template struct instances<survey_entries<T>, count_empty_columns<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

#include <krylith/matrix/statistics.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// The position where (row, column) is stored; -1 where it isn't.
template <class T>
std::int64_t find(const csr_view<T>& a, std::int64_t row, std::int64_t column) {
    const auto end = a.column_indices.data() + a.row_offsets[as_size(row) + 1];
    const auto at =
        std::lower_bound(a.column_indices.data() + a.row_offsets[as_size(row)], end, column);
    return at == end || *at != column ? -1 : at - a.column_indices.data();
}

/// Whether two values are equal up to the differences of some ulps that another order of assembly
/// leaves.
template <class T>
bool agree(T a, T b) {
    static const T harmless = std::sqrt(std::numeric_limits<T>::epsilon());
    if (a == b) return true;
    if (!std::isfinite(a) || !std::isfinite(b)) return std::isnan(a) && std::isnan(b);
    return std::fabs(a - b) <= harmless * std::max(std::fabs(a), std::fabs(b));
}

/// The roots of the diagonal's magnitudes: what rounding left between a_ij and a_ji is measured by
/// sqrt|a_ii a_jj|, which no |a_ij| of a definite matrix exceeds.
template <class T>
std::vector<double> roots_of_diagonal(const csr_view<T>& a) {
    const std::vector<T> d = diagonal(a);
    std::vector<double> roots(d.size());
    for (std::size_t row = 0; row < roots.size(); ++row)
        roots[row] = std::sqrt(std::fabs(static_cast<double>(d[row])));
    return roots;
}

/// The contribution of entries, each of a pair counted.
struct tally {
    std::int64_t upper = 0;
    std::int64_t lower = 0;
    std::int64_t places = 0;
    std::int64_t values = 0;
    std::int64_t negated = 0;
    double difference = 0;
    std::int64_t first = std::numeric_limits<std::int64_t>::max(); ///< position that disagrees
    std::int64_t first_row = 0;

    /// `root` and `other` point to the roots of a_ii and a_jj, which are mostly not needed.
    template <class T>
    void compare(T here, T there, const double* root, const double* other, std::int64_t weight,
                 std::int64_t row, std::int64_t position) {
        constexpr double rounding = 8 * std::numeric_limits<T>::epsilon();
        const bool equal =
            agree(here, there) || std::fabs(here - there) <= rounding * *root * *other;
        if (equal) values += weight;
        if (agree(here, -there)) negated += weight;
        const double distance = std::fabs(static_cast<double>(here) - static_cast<double>(there));
        if (std::isfinite(distance)) difference = std::max(difference, distance);
        if (!equal) note(position, row);
    }
    void note(std::int64_t position, std::int64_t row) {
        if (position >= first) return;
        first = position;
        first_row = row;
    }
    void add(const tally& other) {
        upper += other.upper;
        lower += other.lower;
        places += other.places;
        values += other.values;
        negated += other.negated;
        difference = std::max(difference, other.difference);
        note(other.first, other.first_row);
    }
};

#pragma omp declare reduction(add:tally : omp_out.add(omp_in))

/// Upper entries that wait for their mirrors. A mirror may be anywhere, and its offset, column and
/// value are three cache misses one after the other: for a batch they are fetched side by side.
template <class T>
class mirror_batch {
public:
    mirror_batch(const csr_view<T>& a, const double* roots) : a_(a), roots_(roots) {}

    void add(std::int64_t row, std::int64_t k, tally& all) {
        waiting_[as_size(size_++)] = {row, k, 0};
        if (size_ == capacity) flush(all);
    }

    void flush(tally& all) {
        for (std::int64_t i = 0; i < size_; ++i)
            __builtin_prefetch(&a_.row_offsets[as_size(column(i))]);
        for (std::int64_t i = 0; i < size_; ++i)
            __builtin_prefetch(a_.column_indices.data() + a_.row_offsets[as_size(column(i))]);
        for (std::int64_t i = 0; i < size_; ++i) {
            pair& p = waiting_[as_size(i)];
            p.mirror = find(a_, column(i), p.row);
            if (p.mirror >= 0) __builtin_prefetch(a_.values.data() + p.mirror);
        }
        for (std::int64_t i = 0; i < size_; ++i) {
            const pair& p = waiting_[as_size(i)];
            const T there = p.mirror < 0 ? T(0) : a_.values[as_size(p.mirror)];
            if (p.mirror >= 0) all.places += 2;
            all.compare(a_.values[as_size(p.k)], there, roots_ + p.row, roots_ + column(i),
                        p.mirror < 0 ? 1 : 2, p.row, p.k);
        }
        size_ = 0;
    }

private:
    struct pair {
        std::int64_t row;
        std::int64_t k;
        std::int64_t mirror;
    };
    static constexpr std::int64_t capacity = 64;

    [[nodiscard]] std::int64_t column(std::int64_t i) const {
        return a_.column_indices[as_size(waiting_[as_size(i)].k)];
    }

    const csr_view<T>& a_;
    const double* roots_;
    std::array<pair, capacity> waiting_;
    std::int64_t size_ = 0;
};

template <class T>
tally upper_half(const csr_view<T>& a, const std::vector<double>& roots) {
    tally all;
#pragma omp parallel reduction(add : all)
    {
        mirror_batch<T> batch(a, roots.data());
#pragma omp for schedule(dynamic, 2048) nowait
        for (std::int64_t row = 0; row < a.rows; ++row) {
            const std::int64_t end = a.row_offsets[as_size(row) + 1];
            for (std::int64_t k = a.row_offsets[as_size(row)]; k < end; ++k) {
                const std::int64_t column = a.column_indices[as_size(k)];
                if (column < row) ++all.lower;
                if (column <= row) continue;
                ++all.upper;
                batch.add(row, k, all);
            }
        }
        batch.flush(all);
    }
    return all;
}

/// Counts the lower entries without partner.
template <class T>
tally lonely_lower_half(const csr_view<T>& a, const std::vector<double>& roots) {
    tally all;
#pragma omp parallel for schedule(dynamic, 2048) reduction(add : all)
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int64_t end = a.row_offsets[as_size(row) + 1];
        for (std::int64_t k = a.row_offsets[as_size(row)]; k < end; ++k) {
            const std::int64_t column = a.column_indices[as_size(k)];
            if (column >= row) break;
            if (find(a, column, row) < 0)
                all.compare(a.values[as_size(k)], T(0), roots.data() + row, roots.data() + column,
                            1, row, k);
        }
    }
    return all;
}

} // namespace

template <class T>
symmetry_statistics measure_symmetry(const csr_view<T>& a) {
    const std::vector<double> roots = roots_of_diagonal(a);
    tally all = upper_half(a, roots);
    if (2 * all.lower != all.places) all.add(lonely_lower_half(a, roots));
    symmetry_statistics result;
    result.off_diagonal = all.upper + all.lower;
    result.matched_places = all.places;
    result.matched_values = all.values;
    result.negated_values = all.negated;
    result.largest_difference = all.difference;
    if (all.values != result.off_diagonal) {
        const std::int64_t column = a.column_indices[as_size(all.first)];
        const std::int64_t mirror = find(a, column, all.first_row);
        result.first_difference = {
            all.first_row, column, static_cast<double>(a.values[as_size(all.first)]),
            mirror < 0 ? 0.0 : static_cast<double>(a.values[as_size(mirror)])};
    }
    return result;
}

template <class T>
std::optional<mirrored_entry> find_indefinite_minor(const csr_view<T>& a) {
    const std::vector<double> roots = roots_of_diagonal(a);
    constexpr double rounding = 1 - 8 * std::numeric_limits<double>::epsilon();
    tally all;
#pragma omp parallel for schedule(dynamic, 2048) reduction(add : all)
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int64_t end = a.row_offsets[as_size(row) + 1];
        for (std::int64_t k = a.row_offsets[as_size(row)]; k < end; ++k) {
            const std::int64_t column = a.column_indices[as_size(k)];
            const double size = std::fabs(static_cast<double>(a.values[as_size(k)]));
            if (column > row && size >= rounding * roots[as_size(row)] * roots[as_size(column)])
                all.note(k, row);
        }
    }
    if (all.first >= a.nnz()) return std::nullopt;
    const auto value = static_cast<double>(a.values[as_size(all.first)]);
    return mirrored_entry{all.first_row, a.column_indices[as_size(all.first)], value, value};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<measure_symmetry<T>, find_indefinite_minor<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

#include <krylith/sparse/csr/row_runs.hpp>

#include <algorithm>
#include <cstring>

#include <krylith/device/host/host_team.hpp>

namespace krylith::host {

namespace {

/// Whether entries are the same, one column further. `Length` is a constant where it is not 0.
template <int Length, class T>
inline bool same_entries(const std::int32_t* columns, const T* values, std::int64_t length,
                         const std::int32_t* next_columns, const T* next_values) {
    const auto count = static_cast<std::size_t>(Length != 0 ? Length : length);
    if (std::memcmp(values, next_values, count * sizeof(T)) != 0) return false;
    std::int32_t differs = 0;
    for (std::size_t k = 0; k < count; ++k) differs |= next_columns[k] - columns[k] - 1;
    return differs == 0;
}

/// Whether row i has the entries of row i - 1, one column further.
template <class T, class Offset>
inline bool goes_on(const csr_arrays<T, Offset>& a, std::int64_t i) {
    const Offset before = a.offsets[i - 1];
    const Offset first = a.offsets[i];
    const Offset length = first - before;
    if (a.offsets[i + 1] - first != length) return false;
    const auto same = [&](auto of) {
        return of(a.columns + before, a.values + before, static_cast<std::int64_t>(length),
                  a.columns + first, a.values + first);
    };
    switch (length) {
    case 5: return same(same_entries<5, T>);
    case 7: return same(same_entries<7, T>);
    case 27: return same(same_entries<27, T>);
    default: return same(same_entries<0, T>);
    }
}

/// Appends the first rows of the runs that begin in [begin, end). `block` begins one.
template <class T, class Offset>
void find_in_part(const csr_arrays<T, Offset>& a, std::int64_t begin, std::int64_t end,
                  std::vector<std::int64_t>& runs) {
    for (std::int64_t i = begin; i < end; ++i)
        if (i == 0 || !goes_on(a, i)) runs.push_back(i);
}

/// Sums of `Rows` neighbouring rows, a vector of each.
template <class T>
inline constexpr int rows_at_once = 64 / static_cast<int>(sizeof(T));

/// The sums of part_product(), for neighbouring rows.
template <int Length, class T>
inline void add_parts(const std::int32_t* columns, const T* values, const T* x, T* sums) {
    constexpr int rows = rows_at_once<T>;
    T even[rows] = {};
    T odd[rows] = {};
#pragma GCC unroll 16
    for (int k = 0; k + 1 < Length; k += 2) {
        const T* const one = x + columns[k];
        const T* const other = x + columns[k + 1];
#pragma omp simd
        for (int r = 0; r < rows; ++r) {
            even[r] = plus_product(even[r], values[k], one[r]);
            odd[r] = plus_product(odd[r], values[k + 1], other[r]);
        }
    }
    if constexpr (Length % 2 != 0) {
        const T* const one = x + columns[Length - 1];
#pragma omp simd
        for (int r = 0; r < rows; ++r) even[r] = plus_product(even[r], values[Length - 1], one[r]);
    }
#pragma omp simd
    for (int r = 0; r < rows; ++r) sums[r] += even[r] + odd[r];
}

/// The sums of row_product(), for neighbouring rows; `sums` are 0 before.
template <class T>
inline void add_rows(const std::int32_t* columns, const T* values, std::int64_t length, const T* x,
                     T* sums) {
    switch (length) {
    case 5: return add_parts<5>(columns, values, x, sums);
    case 7: return add_parts<7>(columns, values, x, sums);
    default: break;
    }
    std::int64_t k = 0;
    for (; k + 8 <= length; k += 8) add_parts<8>(columns + k, values + k, x, sums);
    constexpr int rows = rows_at_once<T>;
    T both[2][rows] = {}; // even and odd entries of what is left
    for (int odd = 0; k < length; ++k, odd = 1 - odd) {
        const T* const one = x + columns[k];
#pragma omp simd
        for (int r = 0; r < rows; ++r) both[odd][r] = plus_product(both[odd][r], values[k], one[r]);
    }
#pragma omp simd
    for (int r = 0; r < rows; ++r) sums[r] += both[0][r] + both[1][r];
}

/// y = alpha A x + beta y for `count` rows of a run, the first of which is y[0] and has the entries
/// of the run's first row, but with columns `shift` higher.
template <class T>
void multiply_run(const std::int32_t* columns, const T* values, std::int64_t length,
                  std::int64_t shift, const T* x, T* y, T alpha, T beta, std::int64_t count) {
    constexpr int rows = rows_at_once<T>;
    x += shift;
    const auto finish = [&](const T* sums, T* to, std::int64_t of) {
        if (beta == T{0})
            for (std::int64_t r = 0; r < of; ++r) to[r] = alpha * sums[r];
        else
            for (std::int64_t r = 0; r < of; ++r)
                to[r] = plus_product(alpha * sums[r], beta, to[r]);
    };
    std::int64_t i = 0;
    for (; i + rows <= count; i += rows) {
        T sums[rows] = {};
        add_rows(columns, values, length, x + i, sums);
        finish(sums, y + i, rows);
    }
    for (; i < count; ++i) {
        const T sum = row_product(columns, values, x + i, length);
        finish(&sum, y + i, 1);
    }
}

} // namespace

template <class T, class Offset>
bool has_row_runs(const csr_arrays<T, Offset>& a, std::int64_t rows) {
    constexpr std::int64_t sample = 4096;
    constexpr std::int64_t enough_rows = 4 * sample;
    if (rows < enough_rows) return false;
    std::int64_t alike = 0;
    for (std::int64_t i = rows / 2; i < rows / 2 + sample; ++i) alike += goes_on(a, i) ? 1 : 0;
    return 2 * alike >= sample;
}

template <class T, class Offset>
std::vector<std::int64_t> find_row_runs(const csr_arrays<T, Offset>& a, std::int64_t rows,
                                        int threads) {
    if (!has_row_runs(a, rows)) return {};
    std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(threads));
    in_team(threads, [&](std::int64_t thread, std::int64_t team) {
        const auto all = static_cast<std::int64_t>(parts.size());
        for (std::int64_t part = thread; part < all; part += team)
            find_in_part(a, rows * part / all, rows * (part + 1) / all,
                         parts[static_cast<std::size_t>(part)]);
    });
    std::vector<std::int64_t> runs;
    for (const auto& part : parts) runs.insert(runs.end(), part.begin(), part.end());
    runs.push_back(rows);
    std::int64_t in_long_runs = 0;
    for (std::size_t r = 0; r + 1 < runs.size(); ++r)
        if (const std::int64_t length = runs[r + 1] - runs[r]; length >= least_run)
            in_long_runs += length;
    if (2 * in_long_runs < rows) return {};
    return runs;
}

template <class T, class Offset>
void multiply_in_runs(const csr_arrays<T, Offset>& a, const std::int64_t* runs, std::int64_t count,
                      const T* x, T* y, T alpha, T beta, std::int64_t begin, std::int64_t end) {
    const std::int64_t* run = std::upper_bound(runs, runs + count, begin) - 1;
    for (std::int64_t i = begin; i < end; ++run) {
        const std::int64_t behind = std::min(run[1], end);
        if (run[1] - run[0] < least_run) {
            multiply_rows(a, x, y + (i - begin), alpha, beta, i, behind);
        } else {
            const Offset first = a.offsets[*run];
            multiply_run(a.columns + first, a.values + first,
                         static_cast<std::int64_t>(a.offsets[*run + 1] - first), i - *run, x,
                         y + (i - begin), alpha, beta, behind - i);
        }
        i = behind;
    }
}

#define KRYLITH_INSTANTIATE(T, Offset)                                                             \
    template bool has_row_runs(const csr_arrays<T, Offset>&, std::int64_t);                        \
    template std::vector<std::int64_t> find_row_runs(const csr_arrays<T, Offset>&, std::int64_t,   \
                                                     int);                                         \
    template void multiply_in_runs(const csr_arrays<T, Offset>&, const std::int64_t*,              \
                                   std::int64_t, const T*, T*, T, T, std::int64_t, std::int64_t);

KRYLITH_INSTANTIATE(double, std::int32_t)
KRYLITH_INSTANTIATE(double, std::int64_t)
KRYLITH_INSTANTIATE(float, std::int32_t)
KRYLITH_INSTANTIATE(float, std::int64_t)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::host

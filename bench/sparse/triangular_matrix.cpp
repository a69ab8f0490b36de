#include <krylith/bench/sparse/triangular_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith::bench {

namespace {

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

template <class T>
std::vector<std::int32_t> greedy_colours(const csr_matrix<T>& a) {
    std::vector<std::int32_t> colours(index(a.rows), -1);
    std::vector<std::int64_t> seen_by; // the last row that has a neighbour of this colour
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (auto k = a.row_offsets[index(i)]; k < a.row_offsets[index(i + 1)]; ++k) {
            const std::int32_t other = colours[index(a.column_indices[index(k)])];
            if (other >= 0) seen_by[index(other)] = i;
        }
        const auto free = std::find_if(seen_by.begin(), seen_by.end(),
                                       [i](std::int64_t row) { return row != i; });
        colours[index(i)] = static_cast<std::int32_t>(free - seen_by.begin());
        if (free == seen_by.end()) seen_by.push_back(-1);
    }
    return colours;
}

} // namespace

template <class T>
csr_matrix<T> with_dominant_diagonal(const csr_matrix<T>& a) {
    if (a.rows != a.columns)
        throw input_error("a triangle is that of a square matrix; this one has " +
                          std::to_string(a.rows) + " rows and " + std::to_string(a.columns) +
                          " columns");
    csr_matrix<T> result;
    result.rows = result.columns = a.rows;
    result.row_offsets.reserve(index(a.rows) + 1);
    result.column_indices.reserve(index(a.nnz()));
    result.values.reserve(index(a.nnz()));
    for (std::int64_t i = 0; i < a.rows; ++i) {
        T sum = 1;
        bool placed = false;
        std::size_t diagonal = 0;
        const auto place = [&] {
            diagonal = result.values.size();
            result.column_indices.push_back(static_cast<std::int32_t>(i));
            result.values.push_back(0);
            placed = true;
        };
        for (auto k = a.row_offsets[index(i)]; k < a.row_offsets[index(i + 1)]; ++k) {
            const std::int64_t column = a.column_indices[index(k)];
            if (column >= i && !placed) place();
            if (column == i) continue;
            result.column_indices.push_back(static_cast<std::int32_t>(column));
            result.values.push_back(a.values[index(k)]);
            sum += std::abs(a.values[index(k)]);
        }
        if (!placed) place();
        result.values[diagonal] = sum;
        result.row_offsets.push_back(result.nnz());
    }
    return result;
}

template <class T>
csr_matrix<T> by_colour(const csr_matrix<T>& a) {
    const std::vector<std::int32_t> colours = greedy_colours(a);
    std::vector<std::int32_t> order(index(a.rows));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t one, std::int32_t other) {
        return colours[index(one)] < colours[index(other)];
    });
    std::vector<std::int32_t> places(order.size());
    for (std::size_t p = 0; p < order.size(); ++p)
        places[index(order[p])] = static_cast<std::int32_t>(p);
    csr_matrix<T> result;
    result.rows = result.columns = a.rows;
    result.column_indices.reserve(index(a.nnz()));
    result.values.reserve(index(a.nnz()));
    std::vector<std::pair<std::int32_t, T>> entries;
    for (const std::int32_t row : order) {
        entries.clear();
        for (auto k = a.row_offsets[index(row)]; k < a.row_offsets[index(row + std::int64_t{1})];
             ++k)
            entries.emplace_back(places[index(a.column_indices[index(k)])], a.values[index(k)]);
        std::sort(entries.begin(), entries.end(),
                  [](const auto& one, const auto& other) { return one.first < other.first; });
        for (const auto& [column, value] : entries) {
            result.column_indices.push_back(column);
            result.values.push_back(value);
        }
        result.row_offsets.push_back(result.nnz());
    }
    return result;
}

template <class T>
std::vector<T> substitute(const csr_matrix<T>& a, bool upper, const std::vector<T>& b) {
    std::vector<T> x(b.size());
    for (std::int64_t step = 0; step < a.rows; ++step) {
        const std::int64_t i = upper ? a.rows - 1 - step : step;
        long double sum = b[index(i)];
        long double pivot = 1;
        for (auto k = a.row_offsets[index(i)]; k < a.row_offsets[index(i + 1)]; ++k) {
            const std::int64_t j = a.column_indices[index(k)];
            if (j == i) pivot = a.values[index(k)];
            if (upper ? j > i : j < i)
                sum -= static_cast<long double>(a.values[index(k)]) * x[index(j)];
        }
        x[index(i)] = static_cast<T>(sum / pivot);
    }
    return x;
}

template csr_matrix<double> with_dominant_diagonal(const csr_matrix<double>&);
template csr_matrix<float> with_dominant_diagonal(const csr_matrix<float>&);
template csr_matrix<double> by_colour(const csr_matrix<double>&);
template csr_matrix<float> by_colour(const csr_matrix<float>&);
template std::vector<double> substitute(const csr_matrix<double>&, bool,
                                        const std::vector<double>&);
template std::vector<float> substitute(const csr_matrix<float>&, bool, const std::vector<float>&);

} // namespace krylith::bench

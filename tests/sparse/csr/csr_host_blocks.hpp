// Blocks of rows for tests of the host's CSR product, and its dense oracle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/tests/vector/host_ranks.hpp>

namespace krylith::csr_host_tests {

using testing::host_ranks;

inline constexpr std::uint8_t first_sum = 30;

template <class T>
struct block_data {
    std::int64_t columns = 0;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> indices;
    std::vector<T> values;
    std::vector<std::uint8_t> boundary;

    [[nodiscard]] std::int64_t rows() const {
        return static_cast<std::int64_t>(offsets.size()) - 1;
    }
    [[nodiscard]] local_csr<T> view() const {
        return {rows(), columns, offsets, indices, values, boundary};
    }
};

/// Makes a block whose row i has length(i) entries in ascending columns. Offsets start at `origin`.
template <class T, class Length>
block_data<T> random_block(std::int64_t rows, std::int64_t columns, const Length& length,
                           std::int64_t origin = 0) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> values(-1, 1);
    block_data<T> b;
    b.columns = columns;
    b.offsets.push_back(origin);
    for (std::int64_t i = 0; i < rows; ++i) {
        std::set<std::int32_t> row;
        const auto count = static_cast<std::size_t>(std::min<std::int64_t>(length(i), columns));
        while (row.size() < count)
            row.insert(static_cast<std::int32_t>(random() % static_cast<unsigned>(columns)));
        for (const auto column : row) {
            b.indices.push_back(column);
            b.values.push_back(static_cast<T>(values(random)));
        }
        b.offsets.push_back(origin + static_cast<std::int64_t>(b.indices.size()));
    }
    return b;
}

template <class T>
std::vector<T> random_vector(std::int64_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> values(-1, 1);
    std::vector<T> v(static_cast<std::size_t>(size));
    for (auto& x : v) x = static_cast<T>(values(random));
    return v;
}

template <class T>
std::vector<double> dense_product(const block_data<T>& b, const std::vector<T>& x) {
    std::vector<double> y;
    for (std::int64_t i = 0; i < b.rows(); ++i) {
        std::vector<double> row(static_cast<std::size_t>(b.columns));
        for (auto k = b.offsets[static_cast<std::size_t>(i)];
             k < b.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
            const auto at = static_cast<std::size_t>(k - b.offsets.front());
            row[static_cast<std::size_t>(b.indices[at])] = static_cast<double>(b.values[at]);
        }
        double sum = 0;
        for (std::size_t j = 0; j < row.size(); ++j) sum += row[j] * static_cast<double>(x[j]);
        y.push_back(sum);
    }
    return y;
}

/// A handle to the device of a rank, which does not own it.
inline std::shared_ptr<device> handle(host_ranks& ranks, int rank) {
    return {&ranks[rank], [](device*) {}};
}

inline std::vector<double> sums(host_ranks& ranks, int rank, int count) {
    kernel_context context = ranks.make_context(rank);
    host_ranks::take_batch(context, count, first_sum);
    ranks.scalars(rank, context);
    ranks[rank].synchronize();
    std::vector<double> values;
    for (int v = 0; v < count; ++v)
        values.push_back(ranks.slot(rank, static_cast<std::uint8_t>(first_sum + v)));
    return values;
}

} // namespace krylith::csr_host_tests

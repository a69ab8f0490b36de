// Sparsity patterns with known properties.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

/// Returns where rows of these lengths begin and end.
[[nodiscard]] inline std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths,
                                                          std::int64_t base = 0) {
    std::vector<std::int64_t> offsets{base};
    for (const auto length : lengths) offsets.push_back(offsets.back() + length);
    return offsets;
}

struct pattern {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> indices;

    void add_row(const std::vector<std::int32_t>& columns) {
        indices.insert(indices.end(), columns.begin(), columns.end());
        offsets.push_back(static_cast<std::int64_t>(indices.size()));
    }
    [[nodiscard]] std::int64_t rows() const {
        return static_cast<std::int64_t>(offsets.size()) - 1;
    }
};

/// Returns the pattern of 7 or 27 points on a grid of `nx` x ny x nz, without neighbours beyond
/// its sides.
[[nodiscard]] inline pattern stencil(int points, int nx, int ny, int nz) {
    pattern p;
    for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) {
                std::vector<std::int32_t> columns;
                for (int dz = -1; dz <= 1; ++dz)
                    for (int dy = -1; dy <= 1; ++dy)
                        for (int dx = -1; dx <= 1; ++dx) {
                            const int far = (dx != 0) + (dy != 0) + (dz != 0);
                            const bool inside = x + dx >= 0 && x + dx < nx && y + dy >= 0 &&
                                                y + dy < ny && z + dz >= 0 && z + dz < nz;
                            if (inside && (points == 27 || far <= 1))
                                columns.push_back(((z + dz) * ny + y + dy) * nx + x + dx);
                        }
                p.add_row(columns);
            }
    return p;
}

/// Returns `rows` rows of at most `longest` columns below `columns`, ascending.
[[nodiscard]] inline pattern random_pattern(std::int64_t rows, int longest, int columns,
                                            std::uint64_t seed) {
    random_numbers random(seed);
    pattern p;
    for (std::int64_t r = 0; r < rows; ++r) {
        std::vector<std::int32_t> row(static_cast<std::size_t>(random.below(longest + 1)));
        for (auto& column : row) column = random.below(columns);
        std::sort(row.begin(), row.end());
        p.add_row(row);
    }
    return p;
}

/// Returns the same rows, each in another order.
[[nodiscard]] inline pattern shuffled(pattern p, std::uint64_t seed) {
    random_numbers random(seed);
    for (std::size_t r = 0; r + 1 < p.offsets.size(); ++r)
        for (std::int64_t k = p.offsets[r + 1] - 1; k > p.offsets[r]; --k) {
            const auto other = p.offsets[r] + random.below(static_cast<int>(k - p.offsets[r] + 1));
            std::swap(p.indices[static_cast<std::size_t>(k)],
                      p.indices[static_cast<std::size_t>(other)]);
        }
    return p;
}

/// Returns the same rows with each entry twice in succession.
[[nodiscard]] inline pattern doubled(const pattern& p) {
    pattern twice;
    for (std::size_t r = 0; r + 1 < p.offsets.size(); ++r) {
        std::vector<std::int32_t> row;
        for (std::int64_t k = p.offsets[r]; k < p.offsets[r + 1]; ++k)
            row.insert(row.end(), 2, p.indices[static_cast<std::size_t>(k)]);
        twice.add_row(row);
    }
    return twice;
}

/// Returns the pattern with a full block of 3 x 3 for each entry.
[[nodiscard]] inline pattern triples_of(const pattern& p) {
    pattern blocks;
    for (std::size_t r = 0; r + 1 < p.offsets.size(); ++r) {
        std::vector<std::int32_t> row;
        for (std::int64_t k = p.offsets[r]; k < p.offsets[r + 1]; ++k)
            for (std::int32_t j = 0; j < 3; ++j)
                row.push_back(3 * p.indices[static_cast<std::size_t>(k)] + j);
        for (int i = 0; i < 3; ++i) blocks.add_row(row);
    }
    return blocks;
}

} // namespace krylith::testing

// A random symmetric positive definite matrix.
#include <krylith/matrix/gallery/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/random_pairing.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

constexpr std::int64_t most_per_row = 256;

/// The distinct columns of a row, ascending, the diagonal among them.
class row_places {
public:
    row_places(const std::vector<random_pairing>& pairings, std::int64_t row) {
        columns_[0] = static_cast<std::int32_t>(row);
        std::size_t count = 1;
        for (const random_pairing& pairing : pairings) {
            columns_[count++] = static_cast<std::int32_t>(pairing.partner(row));
        }
        const auto end = columns_.begin() + static_cast<std::ptrdiff_t>(count);
        std::sort(columns_.begin(), end);
        end_ = std::unique(columns_.begin(), end);
    }
    row_places(const row_places&) = delete;
    row_places& operator=(const row_places&) = delete;

    [[nodiscard]] auto begin() const { return columns_.begin(); }
    [[nodiscard]] std::array<std::int32_t, most_per_row>::const_iterator end() const {
        return end_;
    }

private:
    std::array<std::int32_t, most_per_row> columns_;
    std::array<std::int32_t, most_per_row>::const_iterator end_;
};

/// A value uniform in [-1, 1), the same for (i, j) and (j, i).
double off_diagonal(std::uint64_t seed, std::int64_t i, std::int64_t j) {
    const auto [low, high] = std::minmax(i, j);
    return 2 * unit_interval(counter_hash(seed, static_cast<std::uint64_t>(low),
                                          static_cast<std::uint64_t>(high))) -
           1;
}

} // namespace

template <class T>
csr_matrix<T> random_spd(std::int64_t n, std::int64_t nnz_per_row, std::uint64_t seed) {
    if (n < 1 || n > index_limit) {
        throw usage_error("random_spd: n is " + std::to_string(n) + ", allowed are 1 to " +
                          std::to_string(index_limit));
    }
    if (nnz_per_row < 1 || nnz_per_row > most_per_row) {
        throw usage_error("random_spd: nnz_per_row is " + std::to_string(nnz_per_row) +
                          ", allowed are 1 to " + std::to_string(most_per_row));
    }
    std::vector<random_pairing> pairings;
    for (std::int64_t k = 1; k < nnz_per_row; ++k) {
        pairings.emplace_back(n, counter_hash(seed, static_cast<std::uint64_t>(k)));
    }
    const auto length = [&](std::int64_t row) {
        const row_places places(pairings, row);
        return static_cast<std::int64_t>(places.end() - places.begin());
    };
    const auto fill = [&](std::int64_t row, std::int32_t* columns, T* values) {
        T* centre = nullptr;
        double magnitudes = 0;
        for (const std::int32_t column : row_places(pairings, row)) {
            if (column == row) {
                centre = values;
            } else {
                *values = static_cast<T>(off_diagonal(seed, row, column));
                magnitudes += std::abs(static_cast<double>(*values));
            }
            *columns++ = column;
            ++values;
        }
        *centre = static_cast<T>(1 + magnitudes);
    };
    return build_by_rows<T>(n, n, length, fill);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> random_spd(std::int64_t, std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

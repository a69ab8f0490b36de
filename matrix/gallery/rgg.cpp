// Random geometric graphs.
#include <krylith/matrix/gallery/graphs.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/edge_weight.hpp>

namespace krylith {
namespace {

/// Coordinates in units of 2^-32, so that distances are exact: y in the upper half, x in the lower.
using packed_point = std::uint64_t;

std::int64_t x_of(packed_point p) {
    return static_cast<std::int64_t>(p & 0xffffffff);
}
std::int64_t y_of(packed_point p) {
    return static_cast<std::int64_t>(p >> 32);
}

/// Points in the order of the square cells that they lie in, row by row; no cell is narrower than
/// the radius, so that neighbours are in the 9 cells around.
class sorted_points {
public:
    sorted_points(std::int64_t k, std::uint64_t seed) : seed_(seed), count_(std::int64_t{1} << k) {
        const auto n = static_cast<double>(count_);
        const double log_n = static_cast<double>(k) * std::numbers::ln2;
        radius_ = static_cast<std::int64_t>(0.55 * std::sqrt(log_n / n) * 0x1p32);
        cells_ = std::max<std::int64_t>(1, (std::int64_t{1} << 32) / radius_);
        // More cells would cost time and memory: most would have no point.
        cells_ = std::min(cells_, static_cast<std::int64_t>(std::sqrt(n)));
        require_memory(count_, n * sizeof(packed_point) +
                                   static_cast<double>(cells_ * cells_) * sizeof(std::int64_t));
        resize_in_parallel(first_, as_size(cells_ * cells_) + 1);
        resize_in_parallel(points_, as_size(count_));
        sort_into_cells();
    }

    /// Calls act(j) for the neighbours of point i, ascending.
    template <class Act>
    void for_neighbours(std::int64_t i, const Act& act) const {
        const packed_point p = points_[as_size(i)];
        const std::int64_t cx = cell_of(x_of(p));
        const std::int64_t cy = cell_of(y_of(p));
        const std::int64_t left = std::max<std::int64_t>(cx - 1, 0);
        const std::int64_t right = std::min(cx + 1, cells_ - 1);
        for (std::int64_t y = std::max<std::int64_t>(cy - 1, 0); y <= std::min(cy + 1, cells_ - 1);
             ++y) {
            const std::int64_t end = first_[as_size(y * cells_ + right + 1)];
            for (std::int64_t j = first_[as_size(y * cells_ + left)]; j < end; ++j) {
                if (j != i && near(p, points_[as_size(j)])) {
                    act(j);
                }
            }
        }
    }

private:
    [[nodiscard]] packed_point draw(std::int64_t i) const {
        return counter_hash(seed_, static_cast<std::uint64_t>(i));
    }
    [[nodiscard]] std::int64_t cell_of(std::int64_t coordinate) const {
        return coordinate * cells_ >> 32;
    }
    [[nodiscard]] std::int64_t cell_of_point(packed_point p) const {
        return cell_of(y_of(p)) * cells_ + cell_of(x_of(p));
    }
    /// Returns whether p and q are neighbours. |dx| <= radius is asked first: then the squares fit.
    [[nodiscard]] bool near(packed_point p, packed_point q) const {
        const std::int64_t dx = x_of(p) - x_of(q);
        const std::int64_t dy = y_of(p) - y_of(q);
        return std::abs(dx) <= radius_ && std::abs(dy) <= radius_ &&
               dx * dx + dy * dy < radius_ * radius_;
    }

    /// Sorts points into cells: a counting sort whose order within cells depends on the threads,
    /// and a sort of each cell.
    void sort_into_cells() {
        std::int64_t* const next = first_.data();
        packed_point* const points = points_.data();
        const std::int64_t cells = cells_ * cells_;
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < count_; ++i) {
            std::atomic_ref<std::int64_t>(next[cell_of_point(draw(i))])
                .fetch_add(1, std::memory_order_relaxed);
        }
        std::partial_sum(next, next + cells + 1, next);
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < count_; ++i) {
            const packed_point p = draw(i);
            const std::int64_t behind = std::atomic_ref<std::int64_t>(next[cell_of_point(p)])
                                            .fetch_sub(1, std::memory_order_relaxed);
            points[behind - 1] = p;
        }
#pragma omp parallel for schedule(static)
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            std::sort(points + next[cell], points + next[cell + 1]);
        }
    }

    std::uint64_t seed_;
    std::int64_t count_;
    std::int64_t radius_ = 0; ///< the radius in units of 2^-32; below 2^31
    std::int64_t cells_ = 0;  ///< cells along each axis
    std::vector<std::int64_t> first_;
    std::vector<packed_point> points_;
};

} // namespace

template <class T>
csr_matrix<T> rgg(std::int64_t k, std::uint64_t seed) {
    check_argument<std::int64_t>("rgg", "k", k, 1, 30);
    const sorted_points points(k, seed);
    const auto length = [&](std::int64_t row) {
        std::int64_t count = 0;
        points.for_neighbours(row, [&](std::int64_t) { ++count; });
        return count;
    };
    const auto fill = [&](std::int64_t row, std::int32_t* columns, T* values) {
        points.for_neighbours(row, [&](std::int64_t column) {
            *columns++ = static_cast<std::int32_t>(column);
            *values++ = static_cast<T>(edge_weight(seed, row, column));
        });
    };
    return build_by_rows<T>(std::int64_t{1} << k, std::int64_t{1} << k, length, fill);
}

#define KRYLITH_INSTANTIATE(T) template csr_matrix<T> rgg(std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

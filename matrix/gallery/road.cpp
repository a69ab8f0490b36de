// Road networks.
#include <krylith/matrix/gallery/graphs.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/neighbours.hpp>
#include <krylith/matrix/gallery/undirected.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

/// Crossing (x, y) may have a road to (x - 1, y) and one to (x, y - 1). Rows are in this order: a
/// crossing, the vertices on its first road from here to there, those on its second, and so on, row
/// by row.
class road_map {
public:
    road_map(std::int64_t n, std::uint64_t seed) : n_(n), seed_(seed) {
        require_memory(n * n, static_cast<double>(n * n) * sizeof(std::int32_t));
        resize_in_parallel(first_, as_size(n * n) + 1);
#pragma omp parallel for schedule(static)
        for (std::int64_t c = 0; c < n_ * n_; ++c) {
            const roads r = roads_of(c);
            first_[as_size(c + 1)] =
                static_cast<std::int32_t>(1 + r.to_left.length() + r.down.length());
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
    }

    [[nodiscard]] std::int64_t rows() const {
        return first_.back();
    }

    [[nodiscard]] neighbours<4> of(std::int64_t row) const {
        const std::int64_t c =
            std::upper_bound(first_.begin(), first_.end(), row) - first_.begin() - 1;
        const roads r = roads_of(c);
        neighbours<4> found;
        std::int64_t way = row - first_[as_size(c)]; // how far along a road; 0: a crossing
        if (way == 0) {
            add_crossing(found, c, r);
        } else if (way <= r.to_left.length()) {
            add_between(found, c, row, way, r.to_left.length(), c - 1);
        } else {
            way -= r.to_left.length();
            add_between(found, c, row, way, r.down.length(), c - n_);
        }
        return found;
    }

private:
    struct road {
        bool there;
        std::int64_t vertices; ///< on its way

        [[nodiscard]] std::int64_t length() const { return there ? vertices : 0; }
    };
    struct roads {
        road to_left;
        road down;
    };

    [[nodiscard]] roads roads_of(std::int64_t crossing) const {
        const bool can_left = crossing % n_ > 0;
        const bool can_down = crossing >= n_;
        const std::uint64_t random = counter_hash(seed_, static_cast<std::uint64_t>(crossing));
        const bool left_first = (random & 1) != 0;
        const bool second = below(5, random << 8) < 2;
        return {{can_left && (left_first || second || !can_down),
                 static_cast<std::int64_t>(random >> 1 & 3)},
                {can_down && (!left_first || second || !can_left),
                 static_cast<std::int64_t>(random >> 3 & 3)}};
    }

    [[nodiscard]] std::int64_t row_of(std::int64_t crossing) const {
        return first_[as_size(crossing)];
    }

    void add_crossing(neighbours<4>& found, std::int64_t c, const roads& r) const {
        const std::int64_t here = row_of(c);
        if (r.to_left.there) {
            found.add(r.to_left.vertices > 0 ? here + 1 : row_of(c - 1));
        }
        if (r.down.there) {
            found.add(r.down.vertices > 0 ? here + r.to_left.length() + 1 : row_of(c - n_));
        }
        if (c % n_ + 1 < n_) {
            if (const roads right = roads_of(c + 1); right.to_left.there) {
                found.add(row_of(c + 1) + right.to_left.vertices);
            }
        }
        if (c + n_ < n_ * n_) {
            if (const roads above = roads_of(c + n_); above.down.there) {
                const std::int64_t before = above.down.vertices > 0 ? above.to_left.length() : 0;
                found.add(row_of(c + n_) + before + above.down.vertices);
            }
        }
    }

    /// Vertex `way` of the road of crossing c that ends at the crossing `end`.
    void add_between(neighbours<4>& found, std::int64_t c, std::int64_t row, std::int64_t way,
                     std::int64_t length, std::int64_t end) const {
        found.add(way > 1 ? row - 1 : row_of(c));
        found.add(way < length ? row + 1 : row_of(end));
    }

    std::int64_t n_;
    std::uint64_t seed_;
    std::vector<std::int32_t> first_; ///< row of each crossing
};

} // namespace

template <class T>
csr_matrix<T> road(std::int64_t n, std::uint64_t seed) {
    // The bound lets the rows be numbered even with 6 vertices on every crossing's roads.
    check_argument<std::int64_t>("road", "n", n, 2, 17515);
    const road_map map(n, seed);
    return build_undirected<T>(map.rows(), seed, [&](std::int64_t row) { return map.of(row); });
}

#define KRYLITH_INSTANTIATE(T) template csr_matrix<T> road(std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

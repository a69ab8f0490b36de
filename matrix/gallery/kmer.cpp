// Graphs of overlapping words of a genome.
#include <krylith/matrix/gallery/graphs.hpp>

#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/neighbours.hpp>
#include <krylith/matrix/gallery/scramble.hpp>
#include <krylith/matrix/gallery/undirected.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

/// Paths with branches. Vertices stand in a line: neighbours in it are joined but for gaps, and in
/// every segment of 64 one vertex, the hub, is joined to some others too. The line is scattered
/// over the rows.
class branched_paths {
public:
    branched_paths(std::int64_t n, std::uint64_t seed)
        : n_(n), seed_(seed), rows_(n, counter_hash(seed, 0x6b6d6572)) {}

    [[nodiscard]] neighbours<40> of(std::int64_t row) const {
        const std::int64_t place = rows_.backward(row);
        neighbours<40> found;
        const auto add = [&](std::int64_t other) {
            if (other < n_) {
                found.add(rows_.forward(other));
            }
        };
        if (place > 0 && !gap_behind(place - 1)) {
            add(place - 1);
        }
        if (!gap_behind(place)) {
            add(place + 1);
        }
        const segment here(seed_, place / segment::length);
        const std::int64_t rank = here.rank_of(place % segment::length);
        if (rank == 0) {
            for (std::int64_t k = 1; k <= here.branches; ++k) {
                add(here.begin + here.place_of(k));
            }
        } else if (rank <= here.branches && here.begin + here.place_of(0) < n_) {
            add(here.begin + here.place_of(0));
        }
        return found;
    }

private:
    struct segment {
        static constexpr std::int64_t length = 64;

        std::int64_t begin;
        std::int64_t branches; ///< 1 to 38, 6 on average
        std::uint64_t random;

        segment(std::uint64_t seed, std::int64_t number)
            : begin(number * length),
              random(counter_hash(seed, static_cast<std::uint64_t>(number), 1)) {
            branches = static_cast<std::int64_t>(2 / (unit_interval(random) + 0.0525));
        }

        /// Ranks and places are odd multiples of each other modulo 64; the hub has rank 0.
        [[nodiscard]] std::int64_t place_of(std::int64_t rank) const {
            return (static_cast<std::int64_t>(random >> 6 & 63) + rank * step) & (length - 1);
        }
        [[nodiscard]] std::int64_t rank_of(std::int64_t place) const {
            return ((place - static_cast<std::int64_t>(random >> 6 & 63)) * inverse_of_step) &
                   (length - 1);
        }

    private:
        static constexpr std::int64_t step = 13;
        static constexpr std::int64_t inverse_of_step = 5; // 13 * 5 = 65
    };

    [[nodiscard]] bool gap_behind(std::int64_t place) const {
        return below(100, counter_hash(seed_, static_cast<std::uint64_t>(place))) == 0;
    }

    std::int64_t n_;
    std::uint64_t seed_;
    scramble rows_;
};

} // namespace

template <class T>
csr_matrix<T> kmer(std::int64_t n, std::uint64_t seed) {
    check_argument<std::int64_t>("kmer", "n", n, 2, index_limit);
    const branched_paths paths(n, seed);
    return build_undirected<T>(n, seed, [&](std::int64_t row) { return paths.of(row); });
}

#define KRYLITH_INSTANTIATE(T) template csr_matrix<T> kmer(std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

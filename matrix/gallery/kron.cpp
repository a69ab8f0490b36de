// The recursive random graphs of Graph500, undirected and directed.
#include <krylith/matrix/gallery/graphs.hpp>

#include <utility>

#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/edge_builder.hpp>
#include <krylith/matrix/gallery/edge_weight.hpp>
#include <krylith/matrix/gallery/scramble.hpp>

namespace krylith {
namespace {

/// Draws an edge by choosing, once a level, one quarter of the adjacency matrix.
class recursive_edges {
public:
    recursive_edges(std::int64_t k, std::uint64_t seed)
        : k_(k), seed_(seed), numbers_(std::int64_t{1} << k, counter_hash(seed, 0x6b726f6e)) {}

    [[nodiscard]] std::pair<std::int64_t, std::int64_t> operator()(std::int64_t edge) const {
        std::uint64_t state = counter_hash(seed_, static_cast<std::uint64_t>(edge));
        std::uint64_t from = 0;
        std::uint64_t to = 0;
        std::uint64_t random = 0;
        for (std::int64_t level = 0; level < k_; ++level) {
            if (level % levels_a_number == 0) {
                random = mix_bits(state += golden_step);
            }
            const std::uint64_t draw = random & (scale - 1);
            random >>= bits;
            // The quarter is found without branches, which no processor could predict.
            const auto lower = static_cast<std::uint64_t>(draw >= a + b);
            const auto right = static_cast<std::uint64_t>(draw >= a) ^ lower ^
                               static_cast<std::uint64_t>(draw >= a + b + c);
            from = from << 1 | lower;
            to = to << 1 | right;
        }
        return {numbers_.forward(static_cast<std::int64_t>(from)),
                numbers_.forward(static_cast<std::int64_t>(to))};
    }

private:
    static constexpr int bits = 16;
    static constexpr std::int64_t levels_a_number = 4;
    static constexpr std::uint64_t scale = std::uint64_t{1} << bits;
    static constexpr std::uint64_t a = scale * 57 / 100;
    static constexpr std::uint64_t b = scale * 19 / 100;
    static constexpr std::uint64_t c = b;

    std::int64_t k_;
    std::uint64_t seed_;
    scramble numbers_;
};

void check_graph_size(const char* name, std::int64_t k, std::int64_t edge_factor) {
    check_argument<std::int64_t>(name, "k", k, 1, 30);
    check_argument<std::int64_t>(name, "edge_factor", edge_factor, 1, 1024);
}

} // namespace

template <class T>
csr_matrix<T> kron(std::int64_t k, std::int64_t edge_factor, std::uint64_t seed) {
    check_graph_size("kron", k, edge_factor);
    const auto weight = [=](std::int64_t i, std::int64_t j) { return edge_weight(seed, i, j); };
    return build_by_edges<T>(std::int64_t{1} << k, edge_factor << k, true, recursive_edges(k, seed),
                             weight);
}

template <class T>
csr_matrix<T> rmat(std::int64_t k, std::int64_t edge_factor, std::uint64_t seed) {
    check_graph_size("rmat", k, edge_factor);
    const auto weight = [=](std::int64_t i, std::int64_t j) { return arc_weight(seed, i, j); };
    return build_by_edges<T>(std::int64_t{1} << k, edge_factor << k, false,
                             recursive_edges(k, seed), weight);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> kron(std::int64_t, std::int64_t, std::uint64_t);                        \
    template csr_matrix<T> rmat(std::int64_t, std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

#include <krylith/matrix/compressed/transpose_entries.hpp>

#include <algorithm>
#include <cstdlib>

namespace krylith {

namespace {

constexpr std::int64_t entries_worth_a_thread = 1 << 15;
/// Results of so many entries lie in the last cache of most processors.
constexpr std::int64_t entries_in_caches = 4 << 20;

/// The number of threads that count. Each has counters of its own, which together must not outgrow
/// the result.
int counting_threads(const compressed_pattern& a, int threads) {
    const std::int64_t worth = a.nonzeros() / std::max(entries_worth_a_thread, a.across / 2);
    return static_cast<int>(std::clamp<std::int64_t>(worth, 1, threads));
}

/// Whether most entries have no other near among the next 64, so that their places share no line of
/// the cache. Looks at 1000 entries.
bool scattered(const compressed_pattern& a) {
    constexpr std::int64_t samples = 1000;
    constexpr std::int64_t ahead = 64;
    constexpr std::int64_t near = 256;
    const std::int64_t step = std::max<std::int64_t>(1, (a.nonzeros() - ahead) / samples);
    std::int64_t alone = 0;
    std::int64_t looked_at = 0;
    const std::int32_t* const indices = a.indices.data();
    for (std::int64_t k = 0; k + ahead < a.nonzeros(); k += step) {
        const bool has_neighbour =
            std::any_of(indices + k + 1, indices + k + ahead, [&](std::int32_t other) {
                return std::abs(std::int64_t{other} - indices[k]) <= near;
            });
        ++looked_at;
        alone += has_neighbour ? 0 : 1;
    }
    return 2 * alone > looked_at;
}

} // namespace

transposition_plan plan_transposition(const compressed_pattern& a, int threads) {
    const int all = static_cast<int>(
        std::clamp<std::int64_t>(a.nonzeros() / entries_worth_a_thread, 1, threads));
    const int counting = counting_threads(a, threads);
    if (counting < all || (a.nonzeros() > entries_in_caches && all > 1 && scattered(a)))
        return {true, all};
    return {false, counting};
}

} // namespace krylith

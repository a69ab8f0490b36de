#include <krylith/tests/precond/coarsening/plain_aggregates.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <krylith/precond/coarsening/aggregate_keys.hpp>

#include <krylith/tests/support/matrices.hpp>

namespace krylith::testing {

namespace {

using graph = std::vector<std::vector<std::int64_t>>;

/// A maximal independent set of distance 2 among `candidates`; steps lead over `present` rows.
std::vector<bool> independent_set(const graph& strong, const std::vector<bool>& present,
                                  std::vector<bool> candidates, std::uint32_t first_round) {
    const std::size_t n = strong.size();
    std::vector<bool> chosen(n);
    for (std::uint32_t round = first_round;
         std::find(candidates.begin(), candidates.end(), true) != candidates.end(); ++round) {
        const auto within_two = [&](std::size_t i) {
            std::set<std::size_t> found{i};
            for (const auto j : strong[i]) {
                if (!present[at(j)]) continue;
                found.insert(at(j));
                for (const auto k : strong[at(j)])
                    if (present[at(k)]) found.insert(at(k));
            }
            return found;
        };
        std::vector<bool> added(n);
        const std::vector<bool> before = candidates; // those that leave in this round compete
        for (std::size_t i = 0; i < n; ++i) {
            if (!before[i]) continue;
            bool near = false;
            bool largest = true;
            const auto own = aggregation::key_of(static_cast<std::uint32_t>(i), round);
            for (const std::size_t j : within_two(i)) {
                near = near || chosen[j];
                largest =
                    largest &&
                    !(before[j] && aggregation::key_of(static_cast<std::uint32_t>(j), round) > own);
            }
            if (near)
                candidates[i] = false;
            else if (largest)
                added[i] = true;
        }
        for (std::size_t i = 0; i < n; ++i)
            if (added[i]) {
                chosen[i] = true;
                candidates[i] = false;
            }
    }
    return chosen;
}

} // namespace

template <class T>
plain_aggregates find_plain_aggregates(const csr_matrix<T>& a, double theta, bool aggressive) {
    const auto n = at(a.rows);
    plain_aggregates result;
    std::vector<T> root_of_diagonal(n);
    const auto each = [&](std::size_t i, const auto& body) {
        for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            body(at(a.column_indices[at(k)]), a.values[at(k)]);
    };
    for (std::size_t i = 0; i < n; ++i)
        each(i, [&](std::size_t j, T v) {
            if (i == j) root_of_diagonal[i] = std::sqrt(std::fabs(v));
        });
    std::vector<std::map<std::size_t, std::uint64_t>> coupling(n);
    result.strong.resize(n);
    for (std::size_t i = 0; i < n; ++i)
        each(i, [&](std::size_t j, T v) {
            const T scale = root_of_diagonal[i] * root_of_diagonal[j];
            if (i == j || v == T(0) || std::fabs(v) < T(theta) * scale) return;
            result.strong[i].push_back(static_cast<std::int64_t>(j));
            const double units = std::floor(static_cast<double>(std::fabs(v) / scale * T(256)));
            coupling[i][j] = static_cast<std::uint64_t>(std::clamp(units, 1.0, 255.0));
        });

    std::vector<bool> present(n);
    for (std::size_t i = 0; i < n; ++i) present[i] = !result.strong[i].empty();
    const auto first = independent_set(result.strong, present, present, 0);
    result.first_root = first;
    std::vector<bool> left = present;
    for (std::size_t i = 0; i < n; ++i) {
        if (first[i]) left[i] = false;
        for (const auto j : result.strong[i])
            if (first[at(j)]) left[i] = false;
    }
    std::vector<bool> candidates(n);
    for (std::size_t i = 0; i < n; ++i)
        candidates[i] = left[i] && std::count_if(result.strong[i].begin(), result.strong[i].end(),
                                                 [&](auto j) { return left[at(j)]; }) >= 2;
    const auto second = independent_set(result.strong, left, candidates, 64);

    std::vector<std::int32_t> number(n, -1);
    for (std::size_t i = 0; i < n; ++i)
        if (first[i] || second[i]) {
            number[i] = static_cast<std::int32_t>(result.roots.size());
            result.roots.push_back(static_cast<std::int64_t>(i));
        }
    result.aggregate = number;
    for (std::size_t i = 0; i < n; ++i) {
        if (number[i] >= 0 || !present[i]) continue;
        for (const auto j : result.strong[i])
            if (result.aggregate[i] < 0 && number[at(j)] >= 0 &&
                (left[i] ? second[at(j)] : first[at(j)]))
                result.aggregate[i] = number[at(j)];
    }
    const auto joined = result.aggregate;
    for (std::size_t i = 0; i < n; ++i) {
        if (joined[i] >= 0) continue;
        std::map<std::int32_t, std::uint64_t> sums;
        for (const auto j : result.strong[i])
            if (joined[at(j)] >= 0) sums[joined[at(j)]] += coupling[i][at(j)];
        std::uint64_t most = 0;
        for (const auto& [g, sum] : sums)
            if (sum > most) {
                most = sum;
                result.aggregate[i] = g;
            }
    }
    if (!aggressive) return result;

    std::vector<std::map<std::int32_t, std::uint64_t>> between(result.roots.size());
    for (std::size_t i = 0; i < n; ++i)
        for (const auto j : result.strong[i]) {
            const auto g = result.aggregate[i];
            const auto h = result.aggregate[at(j)];
            if (g >= 0 && h >= 0 && g != h) between[at(g)][h] += coupling[i][at(j)];
        }
    std::vector<std::int32_t> partner(result.roots.size(), -1);
    for (bool found = true; found;) {
        found = false;
        std::vector<std::int32_t> best(partner.size(), -1);
        for (std::size_t g = 0; g < partner.size(); ++g) {
            if (partner[g] >= 0) continue;
            std::tuple<std::uint64_t, std::uint32_t, std::int32_t> most{0, 0, 0};
            for (const auto& [h, sum] : between[g]) {
                if (partner[at(h)] >= 0) continue;
                const std::tuple<std::uint64_t, std::uint32_t, std::int32_t> offer{
                    sum, aggregation::pair_key(static_cast<std::int32_t>(g), h), -h};
                if (offer > most) {
                    most = offer;
                    best[g] = h;
                }
            }
        }
        for (std::size_t g = 0; g < partner.size(); ++g)
            if (best[g] >= 0 && best[at(best[g])] == static_cast<std::int32_t>(g)) {
                partner[g] = best[g];
                found = true;
            }
    }
    std::vector<std::int32_t> renumbered(partner.size());
    std::vector<std::int64_t> roots;
    for (std::size_t g = 0; g < partner.size(); ++g) {
        if (partner[g] >= 0 && partner[g] < static_cast<std::int32_t>(g)) {
            renumbered[g] = renumbered[at(partner[g])];
            continue;
        }
        renumbered[g] = static_cast<std::int32_t>(roots.size());
        roots.push_back(result.roots[g]);
    }
    for (auto& g : result.aggregate)
        if (g >= 0) g = renumbered[at(g)];
    result.roots = roots;
    return result;
}

template plain_aggregates find_plain_aggregates(const csr_matrix<double>&, double, bool);
template plain_aggregates find_plain_aggregates(const csr_matrix<float>&, double, bool);

} // namespace krylith::testing

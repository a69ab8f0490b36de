// Ghost puts between host devices. Data are plain arrays: ThreadSanitizer sees a missing wait.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include <krylith/tests/vector/host_ranks.hpp>
#include <krylith/vector/execution/host_signal.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith {

using testing::host_ranks;

namespace {

/// An exchange in which rank r receives entries[from][r].
struct rank_exchange {
    static constexpr std::int64_t size = 3000;

    struct rank_state {
        std::vector<double> values;          // own entries, then ghosts
        std::vector<std::pair<int, int>> of; // ghost -> rank and row
        std::vector<std::int32_t> first_entry{0};
        std::vector<put_entry> entries;
        std::vector<double*> ghosts;
        std::vector<std::uint64_t*> sents;
        std::vector<std::uint64_t*> peer_credits;
        std::vector<peer_count> sent;    // [senders]
        std::vector<peer_count> credits; // [receivers]
        std::uint64_t put_count = 0;
        std::uint64_t credited = 0;
    };
    std::vector<rank_state> ranks;

    /// wanted[r]: the ranks that r receives from.
    explicit rank_exchange(const std::vector<std::vector<int>>& wanted) : ranks(wanted.size()) {
        std::mt19937 random(11);
        const std::size_t p = wanted.size();
        for (std::size_t r = 0; r < p; ++r) {
            for (const int from : wanted[r]) {
                auto& sender = ranks[static_cast<std::size_t>(from)];
                ranks[r].sent.push_back({0, from});
                sender.credits.push_back({0, static_cast<std::int64_t>(r)});
                for (unsigned k = 0; k < 1 + random() % 200; ++k) {
                    const auto row = static_cast<int>(random() % size);
                    ranks[static_cast<std::size_t>(from)].entries.push_back(
                        {row, static_cast<std::int32_t>(ranks[r].of.size()),
                         static_cast<std::int32_t>(sender.credits.size()) - 1});
                    ranks[r].of.emplace_back(from, row);
                }
            }
            ranks[r].values.assign(size + ranks[r].of.size(), -1.0);
        }
        for (std::size_t r = 0; r < p; ++r) {
            auto& s = ranks[r];
            std::sort(s.entries.begin(), s.entries.end(), [](const auto& a, const auto& b) {
                return std::tuple(a.row / tile_size<double>, a.receiver, a.position) <
                       std::tuple(b.row / tile_size<double>, b.receiver, b.position);
            });
            for (std::size_t e = 1; e <= s.entries.size(); ++e)
                if (e == s.entries.size() || s.entries[e].row / tile_size<double> !=
                                                 s.entries[e - 1].row / tile_size<double>)
                    s.first_entry.push_back(static_cast<std::int32_t>(e));
            const auto of_rank = [&](std::vector<peer_count>& counts) {
                return &std::ranges::find(counts, static_cast<std::int64_t>(r), &peer_count::peer)
                            ->count;
            };
            for (const peer_count& receiver : s.credits) {
                auto& there = ranks[static_cast<std::size_t>(receiver.peer)];
                s.ghosts.push_back(there.values.data() + size);
                s.sents.push_back(of_rank(there.sent));
            }
            for (const peer_count& sender : s.sent)
                s.peer_credits.push_back(
                    of_rank(ranks[static_cast<std::size_t>(sender.peer)].credits));
        }
    }

    [[nodiscard]] channel_view channel(int rank) {
        auto& s = ranks[static_cast<std::size_t>(rank)];
        return {s.sents.data(),
                s.credits.data(),
                s.peer_credits.data(),
                s.sent.data(),
                &s.put_count,
                &s.credited,
                nullptr,
                static_cast<std::int32_t>(s.credits.size()),
                static_cast<std::int32_t>(s.sent.size())};
    }
    [[nodiscard]] ghost_put<double> put(int rank) {
        auto& s = ranks[static_cast<std::size_t>(rank)];
        return {nullptr,
                s.first_entry.data(),
                s.entries.data(),
                s.ghosts.data(),
                channel(rank),
                static_cast<std::int32_t>(s.first_entry.size()) - 1,
                false};
    }
    [[nodiscard]] put_signal arrived(int rank) { return channel(rank).arrived(); }
};

double entry(int rank, std::int64_t row, int trip) {
    return 1e6 * rank + static_cast<double>(row) + 1e-3 * trip;
}

/// A kernel that reads the ghosts, as a product would.
void enqueue_reader(host_ranks& ranks, rank_exchange& data, int rank, int trip, bool credit,
                    int& wrong) {
    kernel_context context = ranks.make_context(rank);
    context.signals[0] = data.arrived(rank);
    context.signal_count = 1;
    auto& s = data.ranks[static_cast<std::size_t>(rank)];
    ranks[rank].submit([=, &s, &wrong] {
        host::registers reg;
        if (!host::kernel_prologue(context, reg)) return;
        for (std::size_t g = 0; g < s.of.size(); ++g)
            if (s.values[rank_exchange::size + g] != entry(s.of[g].first, s.of[g].second, trip))
                ++wrong;
        if (!credit) return;
        host::tell(s.peer_credits.data(), static_cast<std::int32_t>(s.sent.size()), s.put_count);
        s.credited = s.put_count;
    });
}

void enqueue_writer(host_ranks& ranks, rank_exchange& data, int rank, int trip) {
    auto& values = data.ranks[static_cast<std::size_t>(rank)].values;
    ranks[rank].submit([&values, rank, trip] {
        for (std::int64_t i = 0; i < rank_exchange::size; ++i)
            values[static_cast<std::size_t>(i)] = entry(rank, i, trip);
    });
}

/// Patterns of exchange: p -> q -> ..., ranks that only send, only receive, and do neither.
const std::vector<std::vector<std::vector<int>>> patterns = {
    {{}},
    {{1}, {0}},
    {{1}, {}},
    {{1, 2}, {0}, {}, {}},
    {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}};

} // namespace

TEST_CASE("host puts deliver each trip's entries, however far ranks are apart") {
    for (const auto& pattern : patterns)
        for (const bool credit : {true, false}) {
            const int p = static_cast<int>(pattern.size());
            CAPTURE(p);
            CAPTURE(credit);
            host_ranks ranks(p);
            rank_exchange data(pattern);
            std::vector<int> wrong(pattern.size());
            for (int trip = 1; trip <= 40; ++trip)
                for (int r = 0; r < p; ++r) {
                    enqueue_writer(ranks, data, r, trip);
                    host::put(ranks[r], ranks.make_context(r),
                              data.ranks[static_cast<std::size_t>(r)].values.data(),
                              rank_exchange::size, data.put(r));
                    enqueue_reader(ranks, data, r, trip, credit,
                                   wrong[static_cast<std::size_t>(r)]);
                }
            ranks.synchronize();
            for (int r = 0; r < p; ++r) {
                CHECK(wrong[static_cast<std::size_t>(r)] == 0);
                CHECK(data.ranks[static_cast<std::size_t>(r)].put_count == 40);
                CHECK(ranks.failure(r) == 0);
            }
        }
}

TEST_CASE("a host fused update puts what it wrote") {
    host_ranks ranks(3, 2);
    rank_exchange data({{1, 2}, {0}, {1}});
    std::vector<std::vector<double>> other(3);
    std::vector<int> wrong(3);
    for (int trip = 1; trip <= 20; ++trip)
        for (int r = 0; r < 3; ++r) {
            // The update is own - other, where other makes the entries of the trip the result.
            auto& own = data.ranks[static_cast<std::size_t>(r)].values;
            auto& b = other[static_cast<std::size_t>(r)];
            b.resize(rank_exchange::size);
            ranks[r].submit([&own, &b, r, trip] {
                for (std::int64_t i = 0; i < rank_exchange::size; ++i) {
                    const auto at = static_cast<std::size_t>(i);
                    own[at] = 2 * entry(r, i, trip);
                    b[at] = entry(r, i, trip);
                }
            });
            fused_arguments<double> a{};
            a.common = ranks.make_context(r);
            a.shape.vectors = 2;
            a.shape.statements = 1;
            a.shape.statement[0] = {0, 2, {{0, -1, -1, false}, {1, -1, -1, true}}};
            a.vectors[0] = own.data();
            a.vectors[1] = b.data();
            a.size = rank_exchange::size;
            a.last_owned = rank_exchange::size;
            a.reduce = ranks.into(r, 0);
            a.put = data.put(r);
            a.put_index = 0;
            host::fused(ranks[r], a);
            enqueue_reader(ranks, data, r, trip, trip % 2 == 0, wrong[static_cast<std::size_t>(r)]);
        }
    ranks.synchronize();
    CHECK(wrong == std::vector<int>{0, 0, 0});
}

TEST_CASE("a skipped host put counts nothing and tells nobody") {
    host_ranks ranks(2);
    rank_exchange data({{1}, {0}});
    ranks.slot(0, control::state) = as_register(loop_state::converged);
    host::put(ranks[0], ranks.make_context(0), data.ranks[0].values.data(), rank_exchange::size,
              data.put(0));
    ranks.synchronize();
    CHECK(data.ranks[0].put_count == 0);
    CHECK(data.ranks[1].sent[0].count == 0);
    CHECK(data.ranks[1].values.back() == -1.0);
}

TEST_CASE("a peer that never frees its ghosts fails the put after the time-out") {
    host_ranks ranks(2, 1, 50'000'000);
    rank_exchange data({{1}, {0}});
    for (int trip = 0; trip < 2; ++trip) // the second waits for rank 0 to have read the first
        host::put(ranks[1], ranks.make_context(1), data.ranks[1].values.data(), rank_exchange::size,
                  data.put(1));
    ranks.synchronize();
    CHECK(ranks.failure(0) == 1);
    CHECK(ranks.failure(1) == 1);
    CHECK(data.ranks[1].put_count == 1);
}

} // namespace krylith

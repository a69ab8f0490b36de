// The CSR product of host devices that write into each other's vectors: replicated results, ghosts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/tests/vector/host_ranks.hpp>
#include <krylith/vector/kernels/kernels.hpp>

#include <krylith/tests/sparse/csr/csr_host_blocks.hpp>

namespace krylith::csr_host_tests {

namespace {

constexpr int peers = 3;
constexpr std::int64_t own = 500;

/// The counts that ranks write on each other, of a channel to all others or to some.
struct words {
    std::vector<peer_count> sent;
    std::vector<peer_count> credits;
    std::vector<std::uint64_t*> sents;
    std::vector<std::uint64_t*> peer_credits;
    std::uint64_t put_count = 0;
    std::uint64_t credited = 0;

    [[nodiscard]] channel_view channel() {
        return {sents.data(),
                credits.data(),
                peer_credits.data(),
                sent.data(),
                &put_count,
                &credited,
                nullptr,
                static_cast<std::int32_t>(sents.size()),
                static_cast<std::int32_t>(peer_credits.size())};
    }
};

/// `sends(from, to)` says who puts to whom.
template <class Sends>
std::vector<words> wire(const Sends& sends) {
    std::vector<words> w(peers);
    for (std::size_t r = 0; r < peers; ++r)
        for (std::size_t j = 0; j < peers; ++j) {
            if (sends(r, j)) w[r].credits.push_back({0, static_cast<std::int64_t>(j)});
            if (sends(j, r)) w[r].sent.push_back({0, static_cast<std::int64_t>(j)});
        }
    const auto of = [](std::vector<peer_count>& counts, std::size_t r) {
        return &std::ranges::find(counts, static_cast<std::int64_t>(r), &peer_count::peer)->count;
    };
    for (std::size_t r = 0; r < peers; ++r) {
        for (const peer_count& to : w[r].credits)
            w[r].sents.push_back(of(w[static_cast<std::size_t>(to.peer)].sent, r));
        for (const peer_count& from : w[r].sent)
            w[r].peer_credits.push_back(of(w[static_cast<std::size_t>(from.peer)].credits, r));
    }
    return w;
}

bool to_others(std::size_t from, std::size_t to) {
    return from != to;
}

} // namespace

TEST_CASE("host csr: products between replicated vectors, x and y by turns") {
    constexpr std::int64_t n = peers * own;
    host_ranks ranks(peers, 2);
    auto w = wire(to_others);
    const auto whole = random_block<double>(n, n, [](std::int64_t i) { return 1 + i % 4; });
    std::vector<std::unique_ptr<device_matrix<double>>> blocks;
    std::vector<std::vector<double>> x(peers, random_vector<double>(n, 1));
    std::vector<std::vector<double>> y(peers, std::vector<double>(n));
    for (std::size_t r = 0; r < peers; ++r) {
        const auto first = r * own;
        const local_csr<double> block = {
            own,
            n,
            std::span(whole.offsets).subspan(first, own + 1),
            std::span(whole.indices)
                .subspan(
                    static_cast<std::size_t>(whole.offsets[first]),
                    static_cast<std::size_t>(whole.offsets[first + own] - whole.offsets[first])),
            std::span(whole.values)
                .subspan(
                    static_cast<std::size_t>(whole.offsets[first]),
                    static_cast<std::size_t>(whole.offsets[first + own] - whole.offsets[first])),
            {}};
        blocks.push_back(host::make_csr<double>(handle(ranks, static_cast<int>(r)), block));
    }
    auto expected = x[0];
    constexpr int trips = 10;
    for (int trip = 0; trip < trips; ++trip) {
        for (std::size_t r = 0; r < peers; ++r) {
            const int rank = static_cast<int>(r);
            const bool odd = trip % 2 != 0;
            spmv_arguments<double> a{};
            a.common = ranks.make_context(rank);
            if (trip > 0) {
                a.common.signals[0] = w[r].channel().arrived();
                a.common.signal_count = 1;
                host_ranks::take_batch(a.common, 1, first_sum);
            }
            a.x = odd ? y[r].data() : x[r].data();
            a.y = (odd ? x[r].data() : y[r].data()) + r * own;
            a.alpha = 1;
            a.reduce = ranks.into(rank, 1);
            for (std::size_t k = 0; k < w[r].credits.size(); ++k) {
                const auto j = static_cast<std::size_t>(w[r].credits[k].peer);
                a.put.copies[k] = (odd ? x[j].data() : y[j].data()) + r * own;
            }
            a.put.channel = w[r].channel();
            blocks[r]->apply(a);
        }
        expected = dense_product(whole, expected);
    }
    for (std::size_t r = 0; r < peers; ++r) { // the last results are here once this has run
        kernel_context context = ranks.make_context(static_cast<int>(r));
        context.signals[0] = w[r].channel().arrived();
        context.signal_count = 1;
        ranks.scalars(static_cast<int>(r), context);
    }
    ranks.synchronize();
    double scale = 0;
    for (const double e : expected) scale = std::max(scale, std::abs(e));
    for (std::size_t r = 0; r < peers; ++r) {
        CHECK(x[r] == x[0]); // all copies have the same bits
        int wrong = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (!(std::abs(x[r][i] - expected[i]) <= 1e-12 * scale)) ++wrong;
        CHECK(wrong == 0);
        CHECK(w[r].put_count == trips);
        CHECK(ranks.failure(static_cast<int>(r)) == 0);
    }
}

TEST_CASE("host csr: a result is not overwritten while a peer still reads the last one") {
    constexpr std::int64_t n = peers * own;
    host_ranks ranks(peers);
    auto w = wire(to_others);
    const auto b = random_block<double>(own, n, [](std::int64_t) { return 1; });
    const std::vector<double> x(n, 1.0);
    const auto product = dense_product(b, x);
    std::vector<std::vector<double>> y(peers, std::vector<double>(n));
    std::vector<std::unique_ptr<device_matrix<double>>> blocks;
    for (int r = 0; r < peers; ++r)
        blocks.push_back(host::make_csr<double>(handle(ranks, r), b.view()));
    std::vector<int> wrong(peers);
    for (int trip = 1; trip <= 30; ++trip)
        for (std::size_t r = 0; r < peers; ++r) {
            const int rank = static_cast<int>(r);
            spmv_arguments<double> a{};
            a.common = ranks.make_context(rank);
            a.x = x.data();
            a.y = y[r].data() + r * own;
            a.alpha = trip;
            for (std::size_t k = 0; k < w[r].credits.size(); ++k) {
                const auto j = static_cast<std::size_t>(w[r].credits[k].peer);
                a.put.copies[k] = y[j].data() + r * own;
            }
            a.put.channel = w[r].channel();
            blocks[r]->apply(a);

            kernel_context context = ranks.make_context(rank);
            context.signals[0] = w[r].channel().arrived();
            context.signal_count = 1;
            ranks[rank].submit([&, context, r, trip] {
                host::registers reg;
                if (!host::kernel_prologue(context, reg)) return;
                for (std::size_t i = 0; i < n; ++i)
                    if (y[r][i] != trip * product[i % own]) ++wrong[r];
            });
        }
    ranks.synchronize();
    CHECK(wrong == std::vector<int>(peers, 0));
}

TEST_CASE("host csr: rows that read ghosts wait for them, and free them") {
    constexpr std::int64_t ghosts = 40; // from the next rank: its first rows
    host_ranks ranks(peers, 2);
    auto w = wire([](std::size_t from, std::size_t to) { return (to + 1) % peers == from; });
    auto b = random_block<double>(own, own + ghosts, [](std::int64_t i) { return 2 + i % 7; });
    b.boundary.assign(own, 0);
    for (std::size_t i = 0; i < own; ++i)
        for (auto k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
            if (b.indices[static_cast<std::size_t>(k)] >= own) b.boundary[i] = 1;

    std::vector<std::vector<double>> x;
    std::vector<std::vector<double>> y(peers, std::vector<double>(own));
    std::vector<std::unique_ptr<device_matrix<double>>> blocks;
    std::vector<std::vector<double*>> places(peers);
    std::vector<std::int32_t> first_entry = {0, ghosts};
    std::vector<std::vector<put_entry>> entries(peers);
    for (std::size_t r = 0; r < peers; ++r) {
        x.push_back(random_vector<double>(own + ghosts, static_cast<unsigned>(r)));
        blocks.push_back(host::make_csr<double>(handle(ranks, static_cast<int>(r)), b.view()));
        for (std::int32_t k = 0; k < ghosts; ++k) entries[r].push_back({k, k, 0});
    }
    for (std::size_t r = 0; r < peers; ++r) {
        ranks.slot(static_cast<int>(r), first_sum) = 0.125;
        places[r] = {x[(r + peers - 1) % peers].data() + own};
    }

    auto plain = x;
    constexpr int trips = 20;
    for (int trip = 0; trip < trips; ++trip) {
        for (std::size_t r = 0; r < peers; ++r) {
            const int rank = static_cast<int>(r);
            const ghost_put<double> put = {
                nullptr, first_entry.data(), entries[r].data(), places[r].data(), w[r].channel(), 1,
                false};
            // x += 0.125 y, then y = A x
            fused_arguments<double> update{};
            update.common = ranks.make_context(rank);
            update.shape.vectors = 2;
            update.shape.coefficients = 1;
            update.shape.statements = 1;
            update.shape.statement[0] = {0, 2, {{0, -1, -1, false}, {1, -1, 0, false}}};
            update.coefficients[0] = first_sum;
            host_ranks::load(update.common, first_sum);
            update.vectors[0] = x[r].data();
            update.vectors[1] = y[r].data();
            update.size = own;
            update.last_owned = own;
            update.put = put;
            update.put_index = 0;
            host::fused(ranks[rank], update);

            spmv_arguments<double> a{};
            a.common = ranks.make_context(rank);
            a.x = x[r].data();
            a.y = y[r].data();
            a.alpha = 0.5;
            a.ghosts = w[r].channel().arrived();
            a.credit = credit_of(w[r].channel());
            blocks[r]->apply(a);
        }
    }
    ranks.synchronize();

    std::vector<std::vector<double>> result(peers, std::vector<double>(own));
    for (int trip = 0; trip < trips; ++trip) {
        for (std::size_t r = 0; r < peers; ++r)
            for (std::size_t i = 0; i < own; ++i) plain[r][i] += 0.125 * result[r][i];
        for (std::size_t r = 0; r < peers; ++r)
            for (std::size_t k = 0; k < ghosts; ++k) plain[r][own + k] = plain[(r + 1) % peers][k];
        for (std::size_t r = 0; r < peers; ++r) {
            result[r] = dense_product(b, plain[r]);
            for (double& v : result[r]) v *= 0.5;
        }
    }
    for (std::size_t r = 0; r < peers; ++r) {
        int wrong = 0;
        for (std::size_t i = 0; i < own; ++i)
            if (!(std::abs(y[r][i] - result[r][i]) <= 1e-10 * (1 + std::abs(result[r][i]))))
                ++wrong;
        CHECK(wrong == 0);
        CHECK(w[r].credited == trips);
        CHECK(ranks.failure(static_cast<int>(r)) == 0);
    }
}

TEST_CASE("host csr: ghosts that never come fail the product on all ranks") {
    host_ranks ranks(2, 2, 50'000'000);
    auto b = random_block<double>(100, 100, [](std::int64_t) { return 3; });
    b.boundary.assign(100, 1);
    const auto csr = host::make_csr<double>(handle(ranks, 0), b.view());
    const auto x = random_vector<double>(100, 1);
    std::vector<double> y(100, 5.0);
    const peer_count sent{0, 1};
    const std::uint64_t expected = 1;
    spmv_arguments<double> a{};
    a.common = ranks.make_context(0);
    a.x = x.data();
    a.y = y.data();
    a.alpha = 1;
    a.reduce = ranks.into(0, 1);
    a.ghosts = {&sent, &expected, 1};
    csr->apply(a);
    ranks.synchronize();
    CHECK(y == std::vector<double>(100, 5.0));
    CHECK(ranks.failure(0) == 2);
    CHECK(ranks.failure(1) == 2);
    CHECK(ranks.published(0) == 0);
}

} // namespace krylith::csr_host_tests

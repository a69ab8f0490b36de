// The CSR product on host devices against a dense oracle.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/csr_rows_host.hpp>
#include <krylith/spmv/host_row_schedule.hpp>
#include <krylith/spmv/local_matrix.hpp>
#include <krylith/tests/vector/host_ranks.hpp>
#include <krylith/vector/kernels.hpp>

using namespace krylith;
using krylith::testing::host_ranks;

namespace {

constexpr std::uint8_t first_sum = 30;

template <class T>
struct block_data {
    std::int64_t columns = 0;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> indices;
    std::vector<T> values;
    std::vector<std::uint8_t> boundary;

    [[nodiscard]] std::int64_t rows() const {
        return static_cast<std::int64_t>(offsets.size()) - 1;
    }
    [[nodiscard]] local_block<T> view() const {
        return {rows(), columns, offsets, indices, values, boundary};
    }
};

/// Row i has length(i) entries in ascending columns. Offsets start at `origin`.
template <class T, class Length>
block_data<T> make_block(std::int64_t rows, std::int64_t columns, const Length& length,
                         std::int64_t origin = 0) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> values(-1, 1);
    block_data<T> b;
    b.columns = columns;
    b.offsets.push_back(origin);
    for (std::int64_t i = 0; i < rows; ++i) {
        std::set<std::int32_t> row;
        const auto count = static_cast<std::size_t>(std::min<std::int64_t>(length(i), columns));
        while (row.size() < count)
            row.insert(static_cast<std::int32_t>(random() % static_cast<unsigned>(columns)));
        for (const auto column : row) {
            b.indices.push_back(column);
            b.values.push_back(static_cast<T>(values(random)));
        }
        b.offsets.push_back(origin + static_cast<std::int64_t>(b.indices.size()));
    }
    return b;
}

template <class T>
std::vector<T> random_vector(std::int64_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> values(-1, 1);
    std::vector<T> v(static_cast<std::size_t>(size));
    for (auto& x : v) x = static_cast<T>(values(random));
    return v;
}

template <class T>
std::vector<double> dense_product(const block_data<T>& b, const std::vector<T>& x) {
    std::vector<double> y;
    for (std::int64_t i = 0; i < b.rows(); ++i) {
        std::vector<double> row(static_cast<std::size_t>(b.columns));
        for (auto k = b.offsets[static_cast<std::size_t>(i)];
             k < b.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
            const auto at = static_cast<std::size_t>(k - b.offsets.front());
            row[static_cast<std::size_t>(b.indices[at])] = static_cast<double>(b.values[at]);
        }
        double sum = 0;
        for (std::size_t j = 0; j < row.size(); ++j) sum += row[j] * static_cast<double>(x[j]);
        y.push_back(sum);
    }
    return y;
}

/// On the device of rank 0; keeps devices apart from their owner.
std::shared_ptr<device> share(host_ranks& ranks, int rank) {
    return {&ranks[rank], [](device*) {}};
}

std::vector<double> sums(host_ranks& ranks, int rank, int count) {
    frame f = ranks.make_frame(rank);
    host_ranks::take_batch(f, count, first_sum);
    ranks.scalars(rank, f);
    ranks[rank].synchronize();
    std::vector<double> values;
    for (int v = 0; v < count; ++v)
        values.push_back(ranks.slot(rank, static_cast<std::uint8_t>(first_sum + v)));
    return values;
}

template <class T>
double tolerance() {
    return 200 * static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// y = alpha A x + beta y and both dot products; all of it on `threads` threads.
template <class T>
void check(const block_data<T>& b, int threads) {
    host_ranks ranks(1, threads);
    const auto csr = host::make_csr<T>(share(ranks, 0), b.view());
    const auto x = random_vector<T>(b.columns, 1);
    const auto w = random_vector<T>(b.rows(), 2);
    const auto product = dense_product(b, x);
    for (const double alpha : {1.0, -0.5})
        for (const double beta : {0.0, 1.0, 0.25}) {
            CAPTURE(alpha);
            CAPTURE(beta);
            auto y = random_vector<T>(b.rows(), 3);
            if (beta == 0.0) std::fill(y.begin(), y.end(), std::numeric_limits<T>::quiet_NaN());
            const auto before = y;
            spmv_arguments<T> a{};
            a.common = ranks.make_frame(0);
            a.x = x.data();
            a.y = y.data();
            a.alpha = static_cast<T>(alpha);
            a.beta = static_cast<T>(beta);
            a.dot_with[0] = w.data();
            a.reduce = ranks.into(0, 2);
            csr->apply(a);
            const auto found = sums(ranks, 0, 2);
            int wrong = 0;
            double wy = 0;
            double yy = 0;
            for (std::size_t i = 0; i < y.size(); ++i) {
                double expected = alpha * product[i];
                if (beta != 0.0) expected += beta * static_cast<double>(before[i]);
                if (!(std::abs(static_cast<double>(y[i]) - expected) <= tolerance<T>())) ++wrong;
                wy += static_cast<double>(w[i]) * static_cast<double>(y[i]);
                yy += static_cast<double>(y[i]) * static_cast<double>(y[i]);
            }
            CHECK(wrong == 0);
            CHECK(found[0] == doctest::Approx(wy).epsilon(1e-9));
            CHECK(found[1] == doctest::Approx(yy).epsilon(1e-12));
        }
}

} // namespace

TEST_CASE_TEMPLATE("host csr: stencil lengths, long, short and empty rows", T, double, float) {
    for (const int threads : {1, 2}) {
        CAPTURE(threads);
        check(make_block<T>(50, 40, [](std::int64_t i) { return i; }), threads);
        check(make_block<T>(300, 200, [](std::int64_t) { return 5; }), threads);
        check(make_block<T>(300, 200, [](std::int64_t) { return 7; }), threads);
        check(make_block<T>(200, 300, [](std::int64_t) { return 27; }), threads);
        check(make_block<T>(101, 20, [](std::int64_t i) { return i % 3 == 0 ? 2 : 0; }), threads);
        check(make_block<T>(77, 9, [](std::int64_t) { return 0; }), threads);
        check(make_block<T>(3000, 600, [](std::int64_t i) { return i == 1500 ? 600 : i % 13; }),
              threads);
    }
}

TEST_CASE_TEMPLATE("host csr: blocks without rows, of one row, and from the middle", T, double,
                   float) {
    check(make_block<T>(0, 10, [](std::int64_t) { return 1; }), 1);
    check(make_block<T>(0, 0, [](std::int64_t) { return 1; }), 1);
    check(make_block<T>(1, 1, [](std::int64_t) { return 1; }), 1);
    check(make_block<T>(
              100, 50, [](std::int64_t i) { return i % 9; }, 123'456'789'012),
          2);
}

TEST_CASE("host csr: boundary rows anywhere") {
    auto b = make_block<double>(2000, 300, [](std::int64_t i) { return i % 20; });
    for (const int every : {1, 2, 3, 700}) {
        CAPTURE(every);
        b.boundary.assign(2000, 0);
        for (std::size_t i = 0; i < 2000; ++i) b.boundary[i] = i % unsigned(every) == 0;
        check(b, 2);
    }
}

TEST_CASE("host csr: the same bits with any team") {
    const auto b = make_block<double>(5000, 800, [](std::int64_t i) { return i % 31; });
    const auto x = random_vector<double>(b.columns, 1);
    std::vector<double> first_y;
    std::vector<double> first_sums;
    for (const int threads : {1, 2, 3, 7}) {
        host_ranks ranks(1, threads);
        const auto csr = host::make_csr<double>(share(ranks, 0), b.view());
        std::vector<double> y(5000);
        spmv_arguments<double> a{};
        a.common = ranks.make_frame(0);
        a.x = x.data();
        a.y = y.data();
        a.alpha = 1.5;
        a.reduce = ranks.into(0, 1);
        csr->apply(a);
        const auto found = sums(ranks, 0, 1);
        if (threads == 1) {
            first_y = y;
            first_sums = found;
        }
        CHECK(y == first_y);
        CHECK(found == first_sums);
    }
}

TEST_CASE("host csr: new values on the same pattern, size and name") {
    auto b = make_block<double>(400, 100, [](std::int64_t i) { return i % 8; });
    host_ranks ranks(1);
    const auto csr = host::make_csr<double>(share(ranks, 0), b.view());
    CHECK(csr->name() == "csr");
    CHECK(csr->recordable());
    CHECK(csr->matrix_bytes() ==
          static_cast<std::int64_t>(b.values.size()) * 12 + 4 * (b.rows() + 1));
    for (auto& v : b.values) v *= -3;
    csr->update(b.values);
    const auto x = random_vector<double>(b.columns, 1);
    const auto expected = dense_product(b, x);
    std::vector<double> y(400);
    spmv_arguments<double> a{};
    a.common = ranks.make_frame(0);
    a.x = x.data();
    a.y = y.data();
    a.alpha = 1;
    csr->apply(a);
    ranks.synchronize();
    for (std::size_t i = 0; i < y.size(); ++i)
        CHECK(y[i] == doctest::Approx(expected[i]).epsilon(1e-12));
    CHECK_THROWS_AS(csr->update(std::vector<double>(3)), usage_error);
}

TEST_CASE("host csr: sizes that disagree are refused") {
    host_ranks ranks(1);
    const auto good = make_block<double>(10, 10, [](std::int64_t) { return 3; });
    auto bad = good;
    SUBCASE("offsets") {
        bad.offsets.back() += 1;
    }
    SUBCASE("values") {
        bad.values.pop_back();
    }
    SUBCASE("boundary") {
        bad.boundary.assign(9, 0);
    }
    CHECK_THROWS_AS((void)host::make_csr<double>(share(ranks, 0), bad.view()), usage_error);
}

TEST_CASE("host csr: a product after the stop leaves y alone") {
    host_ranks ranks(1);
    const auto b = make_block<double>(10, 10, [](std::int64_t) { return 3; });
    const auto csr = host::make_csr<double>(share(ranks, 0), b.view());
    const auto x = random_vector<double>(10, 1);
    std::vector<double> y(10, 5.0);
    ranks.slot(0, control::state) = as_register(loop_state::converged);
    spmv_arguments<double> a{};
    a.common = ranks.make_frame(0);
    a.x = x.data();
    a.y = y.data();
    a.alpha = 1;
    a.reduce = ranks.into(0, 1);
    csr->apply(a);
    ranks.synchronize();
    CHECK(y == std::vector<double>(10, 5.0));
    CHECK(ranks.published(0) == 0);
}

TEST_CASE("host csr: 64-bit offsets") {
    const auto b = make_block<double>(60, 90, [](std::int64_t i) { return i % 30; });
    const auto x = random_vector<double>(b.columns, 1);
    const auto expected = dense_product(b, x);
    std::vector<double> y(60);
    host::multiply_rows<double, std::int64_t>({b.offsets.data(), b.indices.data(), b.values.data()},
                                              x.data(), y.data(), 1.0, 0.0, 0, 60);
    for (std::size_t i = 0; i < y.size(); ++i)
        CHECK(y[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

TEST_CASE("row schedule: every row once, interior first, few chunks, right weights") {
    std::mt19937 random(23);
    for (const std::int64_t rows : {0, 1, 63, 64, 65, 1000, 66'000, 131'073}) {
        for (const int kind : {0, 1, 2, 3}) {
            CAPTURE(rows);
            CAPTURE(kind);
            std::vector<std::int64_t> offsets{100};
            std::vector<std::uint8_t> boundary;
            for (std::int64_t i = 0; i < rows; ++i) {
                offsets.push_back(offsets.back() + static_cast<std::int64_t>(random() % 9));
                if (kind == 1) boundary.push_back(i < rows / 5 || i > rows - rows / 7);
                if (kind == 2) boundary.push_back(random() % 2 == 0);
                if (kind == 3) boundary.push_back(1);
            }
            const auto s = host::make_row_schedule(offsets, boundary);
            CHECK(s.chunks() <= host::reduction_chunks);
            CHECK(s.interior <= s.chunks());
            CHECK(s.first_range.size() == s.work_before.size());
            std::vector<int> visits(static_cast<std::size_t>(rows));
            int misplaced = 0;
            int misweighed = 0;
            for (std::int64_t c = 0; c < s.chunks(); ++c) {
                const auto chunk = static_cast<std::size_t>(c);
                std::int64_t work = 0;
                for (auto r = static_cast<std::size_t>(s.first_range[chunk]);
                     r < static_cast<std::size_t>(s.first_range[chunk + 1]); ++r) {
                    const auto begin = static_cast<std::size_t>(s.ranges[r].begin);
                    const auto end = static_cast<std::size_t>(s.ranges[r].end);
                    work += static_cast<std::int64_t>(end - begin) + offsets[end] - offsets[begin];
                    for (std::size_t i = begin; i < end; ++i) {
                        ++visits[i];
                        const bool ghosts = !boundary.empty() && boundary[i] != 0;
                        if (ghosts != (c >= s.interior)) ++misplaced;
                    }
                }
                if (work != s.work_before[chunk + 1] - s.work_before[chunk]) ++misweighed;
            }
            CHECK(visits == std::vector<int>(static_cast<std::size_t>(rows), 1));
            CHECK(misplaced == 0);
            CHECK(misweighed == 0);
        }
    }
}

// --- with peers -------------------------------------------------------------------------------

namespace {

constexpr int peers = 3;
constexpr std::int64_t own = 500;

/// Words that ranks write at each other.
struct words {
    std::uint64_t sent[peers] = {};
    std::uint64_t ready[peers] = {};
    std::uint64_t* sents[peers] = {};
    std::uint64_t* readies[peers] = {};
    std::uint64_t pushed = 0;
    std::uint64_t acknowledged = 0;
    std::uint32_t others = 0;
};

std::vector<words> wire() {
    std::vector<words> w(peers);
    for (std::size_t r = 0; r < peers; ++r)
        for (std::size_t j = 0; j < peers; ++j) {
            w[r].sents[j] = &w[j].sent[r];
            w[r].readies[j] = &w[j].ready[r];
            if (j != r) w[r].others |= 1u << j;
        }
    return w;
}

} // namespace

TEST_CASE("host csr: products between replicated vectors, x and y by turns") {
    constexpr std::int64_t n = peers * own;
    host_ranks ranks(peers, 2);
    auto w = wire();
    const auto whole = make_block<double>(n, n, [](std::int64_t i) { return 1 + i % 4; });
    std::vector<std::unique_ptr<local_matrix<double>>> blocks;
    std::vector<std::vector<double>> x(peers, random_vector<double>(n, 1));
    std::vector<std::vector<double>> y(peers, std::vector<double>(n));
    for (std::size_t r = 0; r < peers; ++r) {
        const auto first = r * own;
        const local_block<double> block = {
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
        blocks.push_back(host::make_csr<double>(share(ranks, static_cast<int>(r)), block));
    }
    auto expected = x[0];
    constexpr int turns = 10;
    for (int turn = 0; turn < turns; ++turn) {
        for (std::size_t r = 0; r < peers; ++r) {
            const int rank = static_cast<int>(r);
            const bool odd = turn % 2 != 0;
            spmv_arguments<double> a{};
            a.common = ranks.make_frame(rank);
            if (turn > 0) {
                a.common.arrivals[0] = {w[r].sent, &w[r].pushed, w[r].others};
                a.common.arrival_count = 1;
                host_ranks::take_batch(a.common, 1, first_sum);
            }
            a.x = odd ? y[r].data() : x[r].data();
            a.y = (odd ? x[r].data() : y[r].data()) + r * own;
            a.alpha = 1;
            a.reduce = ranks.into(rank, 1);
            for (std::size_t j = 0; j < peers; ++j)
                a.push.copies[j] = (odd ? x[j].data() : y[j].data()) + r * own;
            a.push.sent = w[r].sents;
            a.push.ready = w[r].ready;
            a.push.readies = w[r].readies;
            a.push.pushed = &w[r].pushed;
            a.push.to = w[r].others;
            blocks[r]->apply(a);
        }
        expected = dense_product(whole, expected);
    }
    for (std::size_t r = 0; r < peers; ++r) { // the last results have arrived once this has run
        frame f = ranks.make_frame(static_cast<int>(r));
        f.arrivals[0] = {w[r].sent, &w[r].pushed, w[r].others};
        f.arrival_count = 1;
        ranks.scalars(static_cast<int>(r), f);
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
        CHECK(w[r].pushed == turns);
        CHECK(ranks.failure(static_cast<int>(r)) == 0);
    }
}

TEST_CASE("host csr: a result is not overwritten while a peer still reads the last one") {
    constexpr std::int64_t n = peers * own;
    host_ranks ranks(peers);
    auto w = wire();
    const auto b = make_block<double>(own, n, [](std::int64_t) { return 1; });
    const std::vector<double> x(n, 1.0);
    const auto product = dense_product(b, x);
    std::vector<std::vector<double>> y(peers, std::vector<double>(n));
    std::vector<std::unique_ptr<local_matrix<double>>> blocks;
    for (int r = 0; r < peers; ++r)
        blocks.push_back(host::make_csr<double>(share(ranks, r), b.view()));
    std::vector<int> wrong(peers);
    for (int turn = 1; turn <= 30; ++turn)
        for (std::size_t r = 0; r < peers; ++r) {
            const int rank = static_cast<int>(r);
            spmv_arguments<double> a{};
            a.common = ranks.make_frame(rank);
            a.x = x.data();
            a.y = y[r].data() + r * own;
            a.alpha = turn;
            for (std::size_t j = 0; j < peers; ++j) a.push.copies[j] = y[j].data() + r * own;
            a.push.sent = w[r].sents;
            a.push.ready = w[r].ready;
            a.push.readies = w[r].readies;
            a.push.pushed = &w[r].pushed;
            a.push.to = w[r].others;
            blocks[r]->apply(a);

            frame f = ranks.make_frame(rank);
            f.arrivals[0] = {w[r].sent, &w[r].pushed, w[r].others};
            f.arrival_count = 1;
            ranks[rank].submit([&, f, r, turn] {
                host::registers reg;
                if (!host::begin(f, reg)) return;
                for (std::size_t i = 0; i < n; ++i)
                    if (y[r][i] != turn * product[i % own]) ++wrong[r];
            });
        }
    ranks.synchronize();
    CHECK(wrong == std::vector<int>(peers, 0));
}

TEST_CASE("host csr: rows that read ghosts wait for them, and free them") {
    constexpr std::int64_t ghosts = 40; // from the next rank: its first rows
    host_ranks ranks(peers, 2);
    auto w = wire();
    auto b = make_block<double>(own, own + ghosts, [](std::int64_t i) { return 2 + i % 7; });
    b.boundary.assign(own, 0);
    for (std::size_t i = 0; i < own; ++i)
        for (auto k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
            if (b.indices[static_cast<std::size_t>(k)] >= own) b.boundary[i] = 1;

    std::vector<std::vector<double>> x;
    std::vector<std::vector<double>> y(peers, std::vector<double>(own));
    std::vector<std::unique_ptr<local_matrix<double>>> blocks;
    std::vector<std::vector<double*>> places(peers, std::vector<double*>(peers));
    std::vector<std::int32_t> first_entry = {0, ghosts};
    std::vector<std::vector<push_entry>> entries(peers);
    for (std::size_t r = 0; r < peers; ++r) {
        x.push_back(random_vector<double>(own + ghosts, static_cast<unsigned>(r)));
        blocks.push_back(host::make_csr<double>(share(ranks, static_cast<int>(r)), b.view()));
        const auto receiver = static_cast<std::int32_t>((r + peers - 1) % peers);
        for (std::int32_t k = 0; k < ghosts; ++k) entries[r].push_back({k, k, receiver});
    }
    for (std::size_t r = 0; r < peers; ++r) {
        ranks.slot(static_cast<int>(r), first_sum) = 0.125;
        for (std::size_t j = 0; j < peers; ++j) places[r][j] = x[j].data() + own;
    }

    auto plain = x;
    constexpr int turns = 20;
    for (int turn = 0; turn < turns; ++turn) {
        for (std::size_t r = 0; r < peers; ++r) {
            const int rank = static_cast<int>(r);
            const std::uint32_t to = 1u << (r + peers - 1) % peers;
            const std::uint32_t from = 1u << (r + 1) % peers;
            const ghost_push<double> push = {nullptr,
                                             first_entry.data(),
                                             entries[r].data(),
                                             places[r].data(),
                                             w[r].sents,
                                             w[r].ready,
                                             w[r].readies,
                                             &w[r].pushed,
                                             &w[r].acknowledged,
                                             nullptr,
                                             1,
                                             to,
                                             from,
                                             false};
            // x += 0.125 y, then y = A x
            fused_arguments<double> f{};
            f.common = ranks.make_frame(rank);
            f.shape.vectors = 2;
            f.shape.coefficients = 1;
            f.shape.statements = 1;
            f.shape.statement[0] = {0, 2, {{0, -1, -1, false}, {1, -1, 0, false}}};
            f.coefficients[0] = first_sum;
            host_ranks::load(f.common, first_sum);
            f.vectors[0] = x[r].data();
            f.vectors[1] = y[r].data();
            f.size = own;
            f.last_owned = own;
            f.push = push;
            f.pushed = 0;
            host::fused(ranks[rank], f);

            spmv_arguments<double> a{};
            a.common = ranks.make_frame(rank);
            a.x = x[r].data();
            a.y = y[r].data();
            a.alpha = 0.5;
            a.ghosts = {w[r].sent, &w[r].pushed, from};
            a.acknowledge = {w[r].readies, &w[r].pushed, &w[r].acknowledged, from};
            blocks[r]->apply(a);
        }
    }
    ranks.synchronize();

    std::vector<std::vector<double>> result(peers, std::vector<double>(own));
    for (int turn = 0; turn < turns; ++turn) {
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
        CHECK(w[r].acknowledged == turns);
        CHECK(ranks.failure(static_cast<int>(r)) == 0);
    }
}

TEST_CASE("host csr: ghosts that never come fail the product on all ranks") {
    host_ranks ranks(2, 2, 50'000'000);
    auto b = make_block<double>(100, 100, [](std::int64_t) { return 3; });
    b.boundary.assign(100, 1);
    const auto csr = host::make_csr<double>(share(ranks, 0), b.view());
    const auto x = random_vector<double>(100, 1);
    std::vector<double> y(100, 5.0);
    const std::uint64_t sent[2] = {0, 0};
    const std::uint64_t expected = 1;
    spmv_arguments<double> a{};
    a.common = ranks.make_frame(0);
    a.x = x.data();
    a.y = y.data();
    a.alpha = 1;
    a.reduce = ranks.into(0, 1);
    a.ghosts = {sent, &expected, 0b10};
    csr->apply(a);
    ranks.synchronize();
    CHECK(y == std::vector<double>(100, 5.0));
    CHECK(ranks.failure(0) == 2);
    CHECK(ranks.failure(1) == 2);
    CHECK(ranks.published(0) == 0);
}

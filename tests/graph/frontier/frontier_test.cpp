// The filter from y to the next x: each rule, from pairs in any order and from bits, against a
// loop.
#include <krylith/graph/frontier/frontier_filter.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <krylith/spmspv/kernels/host_ranges.hpp>
#include <krylith/spmspv/semiring.hpp>

#include <krylith/tests/spmspv/one_device.hpp>
#include <krylith/tests/spmspv/product_cases.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::spmspv {

namespace {

struct entries {
    std::vector<std::int32_t> rows;
    std::vector<double> values;
};

/// Returns `count` different rows, shuffled unless `ascending`; values are multiples of 1/4.
entries random_entries(std::int64_t size, std::int64_t count, bool ascending, std::uint64_t seed) {
    testing::random_numbers random(seed);
    entries e;
    e.rows.resize(static_cast<std::size_t>(size));
    std::iota(e.rows.begin(), e.rows.end(), 0);
    testing::shuffle(e.rows, random);
    e.rows.resize(static_cast<std::size_t>(count));
    if (ascending) std::sort(e.rows.begin(), e.rows.end());
    for (std::int64_t k = 0; k < count; ++k) e.values.push_back(random.below(40) / 4.0);
    return e;
}

/// The lengths of the rows' columns in some parts.
struct lengths_of_columns {
    std::vector<std::vector<std::int32_t>> by_part;
    std::vector<buffer<std::int32_t>> offsets;
    column_lengths view = {};

    lengths_of_columns(const std::shared_ptr<device>& device, std::int64_t size, int parts) {
        testing::random_numbers random(51);
        view.parts = parts;
        for (int p = 0; p < parts; ++p) {
            by_part.emplace_back();
            std::vector<std::int32_t> sums = {random.below(9)};
            for (std::int64_t i = 0; i < size; ++i) {
                by_part.back().push_back(random.below(50) * random.below(2));
                sums.push_back(sums.back() + by_part.back().back());
            }
            offsets.emplace_back(device, std::span<const std::int32_t>(sums), "test");
            view.offsets[p] = offsets.back().data();
        }
    }
};

template <class T>
buffer<T> array(const std::shared_ptr<device>& device, const std::vector<T>& values) {
    return buffer<T>(device, std::span<const T>(values), "test");
}

void check_frontier_nonzeros(const lengths_of_columns& lengths,
                             const std::vector<std::int32_t>& rows,
                             const frontier_filter::kept& kept) {
    REQUIRE(kept.frontier_nonzeros.size() == lengths.by_part.size());
    CHECK(kept.entries == static_cast<std::int64_t>(rows.size()));
    for (std::size_t p = 0; p < lengths.by_part.size(); ++p) {
        std::int64_t sum = 0;
        for (const auto row : rows) sum += lengths.by_part[p][static_cast<std::size_t>(row)];
        CHECK(kept.frontier_nonzeros[p] == sum);
    }
}

/// Sizes around words, and sizes with work for several threads or blocks.
std::vector<std::int64_t> frontier_sizes(const device& device) {
    std::vector<std::int64_t> all = {1, 31, 32, 33, 1000, 40'000};
    if (device.kind() == backend::cuda) all.insert(all.end(), {70'000, 1'500'000});
    return all;
}

std::vector<std::int64_t> counts(std::int64_t size) {
    std::vector<std::int64_t> all;
    for (const std::int64_t count :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{32}, std::int64_t{33}, std::int64_t{2048},
          std::int64_t{2049}, size / 2, size})
        if (count <= size) all.push_back(count);
    return all;
}

template <class T>
std::vector<T> in_order_of_device(sparse_vector<T>& x, std::vector<std::int32_t>& rows) {
    rows.resize(static_cast<std::size_t>(x.count()));
    std::vector<T> values(rows.size());
    x.device().download(rows.data(), x.arrays().indices, rows.size() * sizeof(std::int32_t));
    x.device().download(values.data(), x.arrays().values, rows.size() * sizeof(T));
    return values;
}

} // namespace

KRYLITH_DEVICE_TEST("frontier: distances that become less, in the order of y") {
    const host::mocked_thread_worth worth(64); // several threads, if the device has them
    for (const std::int64_t size : frontier_sizes(*device))
        for (const std::int64_t count : counts(size))
            for (const bool ascending : {true, false}) {
                CAPTURE(size);
                CAPTURE(count);
                CAPTURE(ascending);
                const int parts = 1 + static_cast<int>(size % 7);
                const lengths_of_columns lengths(device, size, parts);
                const entries e = random_entries(size, count, ascending, 52);
                std::vector<double> distances(static_cast<std::size_t>(size));
                testing::random_numbers random(53);
                for (double& d : distances)
                    d = random.flip() ? min_plus<double>::absent() : random.below(40) / 4.0;
                const auto before = distances;
                std::vector<std::int32_t> kept_rows;
                std::vector<double> kept_values;
                for (std::size_t k = 0; k < e.rows.size(); ++k) {
                    double& known = distances[static_cast<std::size_t>(e.rows[k])];
                    if (!(e.values[k] < known)) continue;
                    known = e.values[k];
                    kept_rows.push_back(e.rows[k]);
                    kept_values.push_back(e.values[k]);
                }

                sparse_vector<double> y(device, size, min_plus<double>::absent());
                sparse_vector<double> next(device, size, min_plus<double>::absent());
                // The filter must replace this content.
                next.assign(std::vector<std::int32_t>{0}, std::vector<double>{7});
                frontier_filter filter(device, size, parts);
                for (const bool as_bits : {false, true}) {
                    y.assign(e.rows, e.values);
                    if (as_bits) {
                        y.require(vector_form::bits);
                        y.require(vector_form::dense);
                        y.drop(vector_form::pairs);
                    }
                    const auto state = array(device, before);
                    filter.enqueue(shorten<double>{state.data()}, y, next, lengths.view, count);
                    const auto kept = filter.wait(next);
                    check_frontier_nonzeros(lengths, kept_rows, kept);
                    CHECK(state.download() == distances);
                    CHECK(next.known_count() == kept.entries);
                    if (as_bits) {
                        CHECK(next.forms() == (vector_form::bits | vector_form::dense));
                        CHECK(next.ascending());
                        std::vector<double> dense(static_cast<std::size_t>(size),
                                                  min_plus<double>::absent());
                        for (std::size_t k = 0; k < kept_rows.size(); ++k)
                            dense[static_cast<std::size_t>(kept_rows[k])] = kept_values[k];
                        CHECK(next.download_dense() == dense);
                        std::sort(kept_rows.begin(), kept_rows.end());
                        CHECK(next.download_pairs().indices == kept_rows);
                    } else {
                        CHECK(next.forms() == vector_forms(vector_form::pairs));
                        CHECK(next.ascending() == y.ascending());
                        std::vector<std::int32_t> rows;
                        CHECK(in_order_of_device(next, rows) == kept_values);
                        CHECK(rows == kept_rows);
                    }
                }
            }
}

KRYLITH_DEVICE_TEST("frontier: rows visited first, from pairs and bits, and their bits") {
    const host::mocked_thread_worth worth(64); // several threads, if the device has them
    for (const std::int64_t size : frontier_sizes(*device))
        for (const std::int64_t count : counts(size))
            for (const bool as_bits : {false, true}) {
                CAPTURE(size);
                CAPTURE(count);
                CAPTURE(as_bits);
                const lengths_of_columns lengths(device, size, 1);
                const entries e = random_entries(size, count, false, 54);
                std::vector<std::uint32_t> visited(static_cast<std::size_t>((size + 31) / 32), 0);
                const auto bit_of = [&](std::int32_t row) {
                    return std::uint32_t{1} << (row % 32);
                };
                for (std::int32_t row = 0; row < size; row += 3)
                    visited[static_cast<std::size_t>(row / 32)] |= bit_of(row);
                const auto state = array(device, visited);
                std::vector<std::int32_t> levels(static_cast<std::size_t>(size), -1);
                const auto level_state = array(device, levels);
                const auto parent_state = array(device, levels);
                std::vector<std::int32_t> parents = levels;
                std::vector<std::int32_t> kept_rows;
                std::vector<std::int32_t> from;
                for (std::size_t k = 0; k < e.rows.size(); ++k) {
                    from.push_back(static_cast<std::int32_t>(k));
                    const std::int32_t row = e.rows[k];
                    if (row % 3 == 0) continue;
                    visited[static_cast<std::size_t>(row / 32)] |= bit_of(row);
                    levels[static_cast<std::size_t>(row)] = 4;
                    parents[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(k);
                    kept_rows.push_back(row);
                }
                sparse_vector<std::int32_t> y(device, size, min_column::absent());
                sparse_vector<std::int32_t> next(device, size, min_column::absent());
                y.assign(e.rows, from);
                if (as_bits) {
                    y.require(vector_form::bits);
                    y.require(vector_form::dense);
                    y.drop(vector_form::pairs);
                }
                frontier_filter filter(device, size, 1);
                filter.enqueue(visit{level_state.data(), parent_state.data(), state.data(), 4}, y,
                               next, lengths.view, count);
                check_frontier_nonzeros(lengths, kept_rows, filter.wait(next));
                CHECK(state.download() == visited);
                CHECK(level_state.download() == levels);
                CHECK(parent_state.download() == parents);
                std::sort(kept_rows.begin(), kept_rows.end());
                const auto pairs = next.download_pairs();
                CHECK(pairs.indices == kept_rows);
                CHECK(std::count(pairs.values.begin(), pairs.values.end(), 0) ==
                      static_cast<std::ptrdiff_t>(kept_rows.size()));
            }
}

KRYLITH_DEVICE_TEST("frontier: residuals above the threshold, of all rows and of those reached") {
    const host::mocked_thread_worth worth(64); // several threads, if the device has them
    for (const std::int64_t size : frontier_sizes(*device)) {
        CAPTURE(size);
        const lengths_of_columns lengths(device, size, 2);
        const auto n = static_cast<std::size_t>(size);
        std::vector<float> residuals(n);
        testing::random_numbers random(55);
        for (float& r : residuals) r = static_cast<float>(random.below(8));
        std::vector<float> ranks(n, 1);
        const auto rank_state = array(device, ranks);
        const auto residual_state = array(device, residuals);
        const buffer<float> passed(device, n, "test");
        std::vector<float> inverse_degrees(n);
        for (float& d : inverse_degrees) d = static_cast<float>(random.below(5)) / 4; // exact
        const auto given_degrees = array(device, inverse_degrees);
        const pass_on<float> rule{rank_state.data(),
                                  residual_state.data(),
                                  passed.data(),
                                  given_degrees.data(),
                                  0.5F,
                                  3.0F};
        sparse_vector<float> y(device, size, 0);
        sparse_vector<float> next(device, size, 0);
        frontier_filter filter(device, size, 2);
        const auto expect = [&](const std::vector<float>& got) {
            std::vector<float> passing(n, 0);
            std::vector<std::int32_t> rows;
            for (std::size_t i = 0; i < n; ++i) {
                residuals[i] += 0.5F * got[i];
                if (!(residuals[i] > 3)) continue;
                ranks[i] += residuals[i];
                passing[i] = inverse_degrees[i] * std::exchange(residuals[i], 0.0F);
                rows.push_back(static_cast<std::int32_t>(i));
            }
            check_frontier_nonzeros(lengths, rows, filter.wait(next));
            CHECK(next.download_dense() == passing);
            CHECK(rank_state.download() == ranks);
            CHECK(residual_state.download() == residuals);
        };
        filter.enqueue_all(rule, next, lengths.view);
        expect(std::vector<float>(n, 0.0F));
        std::vector<float> got(n, 0);
        for (std::size_t i = 0; i < n; i += 2) got[i] = static_cast<float>(1 + i % 5);
        y.assign(got);
        filter.enqueue(rule, y, next, lengths.view, size);
        expect(got);
        CHECK_FALSE(y.forms().has(vector_form::bits)); // dense alone will do
        CHECK(filter.sum(residual_state.data(), size) ==
              std::accumulate(residuals.begin(), residuals.end(), 0.0));
    }
}

KRYLITH_DEVICE_TEST("frontier: indices are shifted, arrays filled, bits spread") {
    const std::vector<std::int32_t> rows = {0, 5, 7, 300};
    const auto from = array(device, rows);
    const buffer<std::int32_t> to(device, 4, "test");
    shift(*device, from.data(), to.data(), 4, 64);
    CHECK(to.download() == std::vector<std::int32_t>{64, 69, 71, 364});
    sparse_vector<std::int32_t> x(device, 301, min_column::absent());
    x.assign(rows, std::vector<std::int32_t>{1, 1, 1, 1});
    x.require(vector_form::bits);
    x.require(vector_form::dense);
    spread(*device, x.arrays(), 0);
    std::vector<std::int32_t> dense(301, min_column::absent());
    for (const auto row : rows) dense[static_cast<std::size_t>(row)] = 0;
    CHECK(x.download_dense() == dense);
    const buffer<float> filled(device, 1000, "test");
    fill(*device, filled.data(), 999, 2.5F);
    CHECK(filled.download()[998] == 2.5F);
}

} // namespace krylith::spmspv

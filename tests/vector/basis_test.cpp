// Products with a basis against plain loops, up to 40 vectors.
#include <cstdint>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/solvers/gmres/hessenberg.hpp>
#include <krylith/vector/basis.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/vectors.hpp>
#include <krylith/tests/vector/fused_cases.hpp>

namespace krylith {

using testing::copies_agree;
using testing::integer_vectors;
using testing::make_layout;
using testing::values_of;

namespace {

constexpr int most = 40;

/// The host can't read or write the array of an execution: coefficients are moved by dot products.
/// array[first + j] = dot(v_j, w), so a w with known products fills it.
template <class T>
void compare_basis(const device_group& group, std::int64_t n, coherence kind) {
    CAPTURE(n);
    CAPTURE(static_cast<int>(kind));
    const auto device = make_layout(group, n, kind);
    const auto v = integer_vectors(most, n, 21);
    const auto w = integer_vectors(1, n, 22).front();
    execution run(group, {.largest_batch = most + 1, .array_size = 2 * most + 2});
    basis<T> columns(most, [&] { return vector<T>(device); });
    for (int j = 0; j < most; ++j) {
        const auto& values = v[static_cast<std::size_t>(j)];
        columns[j].upload(std::vector<T>(values.begin(), values.end()));
    }
    scalar norm(run);
    for (const int count : {0, 1, 2, 3, 4, 5, 8, 30, 40})
        for (const bool with_norm : {true, false}) {
            CAPTURE(count);
            // h = V'w / 64 would not be exact in general; integers are, as long as fp32 holds them.
            std::vector<double> h;
            for (int j = 0; j < count; ++j) {
                double sum = 0;
                for (std::size_t i = 0; i < w.size(); ++i)
                    sum += v[static_cast<std::size_t>(j)][i] * w[i];
                h.push_back(sum);
            }
            std::vector<double> expected = w;
            double expected_norm = 0;
            for (std::size_t i = 0; i < w.size(); ++i) {
                for (std::size_t j = 0; j < h.size(); ++j) expected[i] -= h[j] * v[j][i];
                expected_norm += expected[i] * expected[i];
            }
            vector<T> x(device);
            x.upload(std::vector<T>(w.begin(), w.end()));
            run.set(norm.number(), -1);
            multi_dot(run, columns, count, x, most + 1);
            if (with_norm)
                multi_axpy(run, columns, count, most + 1, x, norm);
            else
                multi_axpy(run, columns, count, most + 1, x);
            CHECK(run.get(norm.number()) == (with_norm ? expected_norm : -1));
            CHECK(values_of(x) == std::vector<T>(expected.begin(), expected.end()));
            CHECK(copies_agree(x));
        }
}

} // namespace

KRYLITH_GROUP_TEST("basis: multi_dot then multi_axpy, against loops") {
    for (const auto kind : {coherence::owned, coherence::replicated})
        for (const std::int64_t n : {0, 1, 5, 513, 2600}) {
            compare_basis<double>(group, n, kind);
            compare_basis<float>(group, n, kind);
        }
}

// dot(w, w) goes to the place after the coefficients: a basis of one vector turns it into one.
KRYLITH_GROUP_TEST("basis: the squared norm follows the coefficients") {
    const auto device = make_layout(group, 300, coherence::owned);
    execution run(group, {.largest_batch = 4, .array_size = 8});
    basis<double> v(2, [&] { return vector<double>(device); });
    testing::fill(v[0], 1.0);
    testing::fill(v[1], 2.0);
    vector<double> w(device);
    testing::fill(w, 3.0);
    multi_dot(run, v, 2, w, 1); // [1] 900, [2] 1800, [3] 2700
    vector<double> x(device);
    multi_axpy(run, v, 1, 3, x); // x = -2700
    run.flush();
    CHECK(values_of(x) == std::vector<double>(300, -2700));
    multi_axpy(run, v, 2, 1, x); // x -= 900 + 2 * 1800
    CHECK(values_of(x) == std::vector<double>(300, -2700 - 4500));
}

KRYLITH_GROUP_TEST("basis: batches that are too large and strangers are refused") {
    const auto device = make_layout(group, 30, coherence::owned);
    execution run(group, {.largest_batch = 8, .array_size = 100});
    basis<double> v(12, [&] { return vector<double>(device); });
    vector<double> w(device);
    CHECK_THROWS_AS(multi_dot(run, v, 8, w, 0), usage_error);
    for (const int count : {-1, 13}) {
        CAPTURE(count);
        const char* const words = "must be from 0 to 12 with a basis of 12 vectors";
        CHECK_THROWS_WITH_AS(multi_dot(run, v, count, w, 0), doctest::Contains(words), usage_error);
        CHECK_THROWS_WITH_AS(multi_axpy(run, v, count, 0, w), doctest::Contains(words),
                             usage_error);
    }
    vector<double> stranger(make_layout(group, 30, coherence::owned));
    CHECK_THROWS_AS(multi_dot(run, v, 2, stranger, 0), usage_error);
    CHECK_THROWS_AS(multi_axpy(run, v, 2, 0, stranger), usage_error);
    testing::fill(v[0], 1.0);
    testing::fill(w, 1.0);
    multi_dot(run, v, 7, w, 0);
    multi_axpy(run, v, 1, 0, w);
    CHECK(values_of(w) == std::vector<double>(30, -29));
}

} // namespace krylith

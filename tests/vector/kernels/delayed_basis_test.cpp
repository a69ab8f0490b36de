// The two passes of an Arnoldi step with delayed re-orthogonalisation, against plain loops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/kernels/delayed_basis.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::copies_agree;
using testing::make_layout;
using testing::random_values;
using testing::values_of;

namespace {

double dot_of(const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

/// The largest difference, relative to `size`; NaN counts.
template <class T>
double difference(const std::vector<T>& found, const std::vector<double>& expected, double size) {
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (const double e = std::fabs(static_cast<double>(found[i]) - expected[i]) / size;
            !(e <= worst))
            worst = e;
    return worst;
}

/// The host can't read the array: the update takes the dot products as they are, so a wrong one
/// shows in the vectors. Vectors of length about 1 keep all of it of one size.
template <class T>
void compare_delayed(const device_group& group, std::int64_t n, coherence kind, int count) {
    CAPTURE(n);
    CAPTURE(static_cast<int>(kind));
    CAPTURE(count);
    const auto device = make_layout(group, n, kind);
    basis<T> v(count + 1, [&] { return vector<T>(device); });
    vector<T> w(device);
    std::vector<std::vector<double>> exact;
    const double length = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(n, 1)));
    const auto fill = [&](vector<T>& to, std::uint64_t seed) {
        std::vector<T> values;
        for (const double x : random_values<double>(n, seed))
            values.push_back(static_cast<T>(length * x));
        to.upload(values);
        return std::vector<double>(values.begin(), values.end());
    };
    for (int j = 0; j < count; ++j) exact.push_back(fill(v[j], 300 + std::uint64_t(j)));
    auto next = fill(w, 299);
    auto u = exact.back();
    std::vector<double> s;
    std::vector<double> t;
    for (const auto& column : exact) {
        s.push_back(dot_of(column, exact.back()));
        t.push_back(dot_of(column, next));
    }
    const double c = dot_of(next, next);
    for (std::size_t i = 0; i < u.size(); ++i) {
        for (std::size_t k = 0; k + 1 < exact.size(); ++k) {
            u[i] -= s[k] * exact[k][i];
            next[i] -= t[k] * exact[k][i];
        }
        u[i] *= s.back();
        next[i] = c * (next[i] - t.back() * u[i]);
    }
    execution run(group, {.largest_batch = 2 * count + 1, .array_size = 2 * count + 4});
    delayed_dots(run, v, count, w, 3);
    run.flush();
    delayed_update(run, v, count, w, 3);
    const double bound = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());
    CHECK(difference(values_of(v[count - 1]), u, length) < bound);
    CHECK(difference(values_of(v[count]), next, length) < bound);
    CHECK(copies_agree(v[count - 1]));
    CHECK(copies_agree(v[count]));
    for (int j = 0; j + 1 < count; ++j)
        CHECK(difference(values_of(v[j]), exact[static_cast<std::size_t>(j)], 1) == 0);
}

} // namespace

KRYLITH_GROUP_TEST("delayed basis: dots, then updates, against loops") {
    for (const auto kind : {coherence::owned, coherence::replicated})
        for (const std::int64_t n : {0, 1, 5, 513, 2600})
            for (const int count : {1, 2, 5, 12, 13, 30}) {
                compare_delayed<double>(group, n, kind, count);
                compare_delayed<float>(group, n, kind, count);
            }
}

KRYLITH_GROUP_TEST("delayed basis: strangers, and counts that the basis hasn't, are refused") {
    const auto device = make_layout(group, 30, coherence::owned);
    execution run(group, {.largest_batch = 9, .array_size = 20});
    basis<double> v(4, [&] { return vector<double>(device); });
    vector<double> w(device);
    vector<double> stranger(make_layout(group, 30, coherence::owned));
    CHECK_THROWS_AS(delayed_dots(run, v, 0, w, 0), usage_error);
    CHECK_THROWS_AS(delayed_dots(run, v, 5, w, 0), usage_error);
    CHECK_THROWS_AS(delayed_update(run, v, 4, w, 0), usage_error);
    CHECK_THROWS_AS(delayed_dots(run, v, 2, stranger, 0), usage_error);
    CHECK_THROWS_AS(delayed_update(run, v, 2, stranger, 0), usage_error);
    delayed_dots(run, v, 2, w, 0);
    CHECK_THROWS_WITH_AS(delayed_update(run, v, 2, w, 0), doctest::Contains("flush()"),
                         usage_error);
}

} // namespace krylith

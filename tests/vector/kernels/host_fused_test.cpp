// Fused updates on host devices against plain loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <krylith/tests/vector/host_ranks.hpp>
#include <krylith/vector/kernels/fused_shapes.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith {

using testing::host_ranks;

namespace {

constexpr std::uint8_t first_coefficient = 20;
constexpr std::uint8_t first_sum = 30;

/// The vectors of one update, one after the other, each with a guard entry behind it. Vectors of
/// float in an update in double hold values that float has; the kernel gets `narrow` ones.
template <class T>
struct operands {
    std::vector<std::vector<T>> vectors;
    std::vector<std::vector<float>> narrow;

    operands(const fused_shape& shape, std::int64_t size, unsigned seed)
        : operands(shape.vectors, size, seed) {
        narrow.resize(vectors.size());
        for (std::size_t v = 0; v < vectors.size(); ++v)
            if (shape.is_single(static_cast<int>(v))) {
                narrow[v].assign(vectors[v].begin(), vectors[v].end());
                vectors[v].assign(narrow[v].begin(), narrow[v].end());
            }
    }

    operands(int count, std::int64_t size, unsigned seed) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> values(-1, 1);
        for (int v = 0; v < count; ++v) {
            vectors.emplace_back(static_cast<std::size_t>(size) + 1);
            for (auto& x : vectors.back()) x = static_cast<T>(values(random));
            vectors.back().back() = T{77};
        }
    }

    /// Takes what the kernel wrote to vectors of float.
    void widen(const fused_shape& shape) {
        for (std::size_t v = 0; v < vectors.size(); ++v)
            if (shape.is_single(static_cast<int>(v)))
                vectors[v].assign(narrow[v].begin(), narrow[v].end());
    }
};

double coefficient(int number) {
    return 0.5 + 0.75 * number;
}

template <class T>
fused_arguments<T> fused_arguments_of(host_ranks& ranks, const fused_shape& shape,
                                      operands<T>& data, std::int64_t size) {
    fused_arguments<T> a{};
    a.common = ranks.make_context(0);
    a.shape = shape;
    for (std::size_t v = 0; v < data.vectors.size(); ++v)
        if (shape.is_single(static_cast<int>(v)))
            a.vectors[v] = data.narrow[v].data();
        else
            a.vectors[v] = data.vectors[v].data();
    for (int c = 0; c < shape.coefficients; ++c) {
        a.coefficients[c] = static_cast<std::uint8_t>(first_coefficient + c);
        ranks.slot(0, a.coefficients[c]) = coefficient(c);
        host_ranks::load(a.common, a.coefficients[c]);
    }
    a.size = size;
    a.last_owned = size;
    a.reduce = ranks.into(0, shape.dots);
    a.put_index = -1;
    return a;
}

/// Runs the shape by plain loops; returns the largest term.
template <class T>
double apply_plainly(const fused_shape& shape, operands<T>& data, std::int64_t size) {
    double largest = 1;
    for (std::int64_t i = 0; i < size; ++i) {
        const auto at = [&](int v) -> T& {
            return data.vectors[static_cast<std::size_t>(v)][static_cast<std::size_t>(i)];
        };
        for (int s = 0; s < shape.statements; ++s) {
            T value{};
            for (int t = 0; t < shape.statement[s].terms; ++t) {
                const auto& term = shape.statement[s].term[t];
                T part = at(term.vector);
                if (term.scale >= 0) part *= at(term.scale);
                if (term.coefficient >= 0) part *= static_cast<T>(coefficient(term.coefficient));
                value += term.negative ? -part : part;
                largest = std::max(largest, std::abs(static_cast<double>(part)));
            }
            const int target = shape.statement[s].target;
            at(target) =
                shape.is_single(target) ? static_cast<T>(static_cast<float>(value)) : value;
        }
    }
    return largest;
}

std::vector<double> register_sums(host_ranks& ranks, int count) {
    kernel_context context = ranks.make_context(0);
    host_ranks::take_batch(context, count, first_sum);
    ranks.scalars(0, context);
    ranks.synchronize();
    std::vector<double> values;
    for (int v = 0; v < count; ++v)
        values.push_back(ranks.slot(0, static_cast<std::uint8_t>(first_sum + v)));
    return values;
}

template <class T>
void check_update(const fused_shape& shape, std::int64_t size, std::int64_t first,
                  std::int64_t last, int threads) {
    CAPTURE(size);
    CAPTURE(first);
    CAPTURE(last);
    CAPTURE(threads);
    host_ranks ranks(1, threads);
    operands<T> data(shape, size, 5);
    operands<T> expected = data;
    auto a = fused_arguments_of(ranks, shape, data, size);
    a.first_owned = first;
    a.last_owned = last;
    host::fused(ranks[0], a);
    const std::vector<double> found = register_sums(ranks, shape.dots);
    data.widen(shape);
    const double largest = apply_plainly(shape, expected, size);
    const double epsilon = shape.mixed() ? std::numeric_limits<float>::epsilon()
                                         : static_cast<double>(std::numeric_limits<T>::epsilon());
    const double tolerance = 50 * largest * epsilon;
    int wrong = 0;
    for (std::size_t v = 0; v < data.vectors.size(); ++v)
        for (std::size_t i = 0; i < data.vectors[v].size(); ++i) {
            const double difference = static_cast<double>(data.vectors[v][i]) -
                                      static_cast<double>(expected.vectors[v][i]);
            if (!(std::abs(difference) <= tolerance)) ++wrong;
        }
    CHECK(wrong == 0);
    for (int d = 0; d < shape.dots; ++d) {
        const auto& x = data.vectors[static_cast<std::size_t>(shape.dot[d].a)];
        const auto& y = data.vectors[static_cast<std::size_t>(shape.dot[d].b)];
        long double sum = 0;
        long double size_of_sum = 0;
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
            const long double part = static_cast<long double>(x[i]) * y[i];
            sum += part;
            size_of_sum += std::abs(part);
        }
        CHECK(std::abs(static_cast<double>(found[static_cast<std::size_t>(d)] - sum)) <=
              1e-14 * static_cast<double>(size_of_sum));
    }
}

/// An update that no solver has: up to four terms, scales, signs, a target among its terms.
fused_shape drawn_shape(std::mt19937& random) {
    const auto below = [&](int n) { return static_cast<std::int8_t>(random() % unsigned(n)); };
    fused_shape shape;
    shape.vectors = 6;
    shape.coefficients = 4;
    shape.statements = static_cast<std::int8_t>(1 + below(max_fused_statements));
    for (int s = 0; s < shape.statements; ++s) {
        auto& statement = shape.statement[s];
        statement.target = below(6);
        statement.terms = below(5);
        for (int t = 0; t < statement.terms; ++t) {
            statement.term[t].vector = below(6);
            statement.term[t].scale = below(3) == 0 ? below(6) : std::int8_t{-1};
            statement.term[t].coefficient = below(3) != 0 ? below(4) : std::int8_t{-1};
            statement.term[t].negative = below(2) == 0;
        }
    }
    shape.dots = below(max_fused_dots + 1);
    for (int d = 0; d < shape.dots; ++d) shape.dot[d] = {below(6), below(6)};
    return shape;
}

} // namespace

TEST_CASE_TEMPLATE("host fused updates: the shapes of solvers", T, double, float) {
    for (const auto& shape : known_shapes) {
        if (shape.mixed() && std::same_as<T, float>) continue;
        check_update<T>(shape, 0, 0, 0, 1);
        check_update<T>(shape, 1, 0, 1, 1);
        check_update<T>(shape, 517, 0, 517, 2);
        check_update<T>(shape, 20'011, 1'021, 15'555, 2);
    }
}

TEST_CASE_TEMPLATE("host fused updates: any shape", T, double, float) {
    std::mt19937 random(17);
    for (int i = 0; i < 60; ++i) {
        CAPTURE(i);
        check_update<T>(drawn_shape(random), 1500, 3, 1499, 1);
        check_update<T>(drawn_shape(random), 9001, 1025, 9001, 3);
    }
}

TEST_CASE("host fused updates: any shape with vectors of two precisions") {
    std::mt19937 random(18);
    for (int i = 0; i < 60; ++i) {
        CAPTURE(i);
        auto shape = drawn_shape(random);
        shape.single = static_cast<std::uint8_t>(1 + random() % 63u);
        check_update<double>(shape, 1500, 3, 1499, 1);
        check_update<double>(shape, 9001, 1025, 9001, 3);
    }
}

TEST_CASE("host fused updates: more entries than one tile in each of the most chunks") {
    check_update<double>(read_shape("r-=A*q|rr"), 1'100'003, 0, 1'100'003, 2);
}

TEST_CASE("host fused updates: no owned entries") {
    check_update<double>(read_shape("r-=A*q|rr"), 3000, 1024, 1024, 1);
}

TEST_CASE("host fused updates: the same bits with any team and alignment") {
    const auto shape = read_shape("x+=A*p+B*s;r=s-B*t|rr,rh");
    constexpr std::int64_t size = 70'001;
    std::vector<std::vector<double>> found;
    for (const int threads : {1, 2, 3, 5})
        for (const std::size_t shift : {0u, 1u, 3u}) {
            host_ranks ranks(1, threads);
            operands<double> data(shape.vectors, size, 5);
            for (auto& v : data.vectors) v.insert(v.begin(), shift, 0.0);
            auto a = fused_arguments_of(ranks, shape, data, size);
            for (int v = 0; v < shape.vectors; ++v) a.vectors[v] = a.array<double>(v) + shift;
            a.first_owned = 11;
            host::fused(ranks[0], a);
            found.push_back(register_sums(ranks, shape.dots));
            CHECK(found.back() == found.front());
        }
}

TEST_CASE("host fused updates: nothing is read of a vector that is only assigned to") {
    host_ranks ranks(1);
    const auto shape = read_shape("y=A*x");
    operands<double> data(shape.vectors, 100, 1);
    for (auto& y : data.vectors[0]) y = std::numeric_limits<double>::quiet_NaN();
    host::fused(ranks[0], fused_arguments_of(ranks, shape, data, 100));
    ranks.synchronize();
    for (std::size_t i = 0; i < 100; ++i)
        CHECK(data.vectors[0][i] == coefficient(0) * data.vectors[1][i]);
}

TEST_CASE("host fused updates: the stop leaves vectors alone") {
    host_ranks ranks(1);
    const auto shape = read_shape("x+=A*p");
    operands<double> data(shape.vectors, 100, 1);
    const auto before = data.vectors;
    ranks.slot(0, control::state) = as_register(loop_state::limit);
    host::fused(ranks[0], fused_arguments_of(ranks, shape, data, 100));
    ranks.synchronize();
    CHECK(data.vectors == before);
    CHECK(ranks.published(0) == 0);
}

} // namespace krylith

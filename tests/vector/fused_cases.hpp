// Fused updates for tests: any shape on vectors with small integers, where arithmetic is exact in
// fp32 too and plain loops give the very same numbers in any order of summation.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

/// Returns vectors whose entries are -1, 0 or 1. With coefficients -2 .. 2, three statements of
/// four terms with scales stay below 2^22.
[[nodiscard]] inline std::vector<std::vector<double>> integer_vectors(int count, std::int64_t n,
                                                                      std::uint64_t seed) {
    random_numbers random(seed);
    std::vector<std::vector<double>> all(static_cast<std::size_t>(count));
    for (auto& v : all)
        for (std::int64_t i = 0; i < n; ++i) v.push_back(random.below(3) - 1);
    return all;
}

[[nodiscard]] inline fused_shape random_shape(std::uint64_t seed) {
    random_numbers random(seed);
    const auto pick = [&](int count) { return static_cast<std::int8_t>(random.below(count)); };
    fused_shape shape;
    shape.vectors = 5;
    shape.coefficients = 3;
    shape.statements = pick(max_fused_statements + 1);
    shape.dots = pick(max_fused_dots + 1);
    for (int s = 0; s < shape.statements; ++s) {
        auto& to = shape.statement[s];
        to.target = pick(shape.vectors);
        to.terms = static_cast<std::int8_t>(1 + pick(4));
        for (int t = 0; t < to.terms; ++t) {
            to.term[t].vector = pick(shape.vectors);
            to.term[t].scale = random.below(4) == 0 ? pick(shape.vectors) : std::int8_t{-1};
            to.term[t].coefficient = random.flip() ? pick(shape.coefficients) : std::int8_t{-1};
            to.term[t].negative = random.flip();
        }
    }
    for (int d = 0; d < shape.dots; ++d) shape.dot[d] = {pick(shape.vectors), pick(shape.vectors)};
    return shape;
}

/// Runs the shape on `v`, entry by entry; returns the dot products.
inline std::vector<double> run_plainly(const fused_shape& shape, const std::vector<double>& c,
                                       std::vector<std::vector<double>>& v) {
    std::vector<double> dots(static_cast<std::size_t>(shape.dots));
    for (std::size_t i = 0; i < v.front().size(); ++i) {
        const auto at = [&](std::int8_t k) -> double& { return v[static_cast<std::size_t>(k)][i]; };
        for (int s = 0; s < shape.statements; ++s) {
            double sum = 0;
            for (int t = 0; t < shape.statement[s].terms; ++t) {
                const auto& in = shape.statement[s].term[t];
                double x = at(in.vector);
                if (in.scale >= 0) x *= at(in.scale);
                if (in.coefficient >= 0) x *= c[static_cast<std::size_t>(in.coefficient)];
                sum += in.negative ? -x : x;
            }
            at(shape.statement[s].target) = sum;
        }
        for (std::size_t d = 0; d < dots.size(); ++d)
            dots[d] += at(shape.dot[d].a) * at(shape.dot[d].b);
    }
    return dots;
}

/// Returns a shape that has at least one vector of float in an update in double.
[[nodiscard]] inline fused_shape random_mixed_shape(std::uint64_t seed) {
    fused_shape shape = random_shape(seed);
    random_numbers random(seed + 1000);
    shape.single = static_cast<std::uint8_t>(1 + random.below((1 << shape.vectors) - 1));
    return shape;
}

/// Makes the shape an update of distributed vectors.
template <class T>
[[nodiscard]] fused_update<T>
make_update(const fused_shape& shape, const std::vector<vector_operand<T>>& v,
            const std::vector<std::uint8_t>& coefficients, const std::vector<std::uint8_t>& sums) {
    const auto at = [&](std::int8_t k) { return v[static_cast<std::size_t>(k)]; };
    fused_update<T> update;
    for (int s = 0; s < shape.statements; ++s) {
        const auto& from = shape.statement[s];
        linear_combination<T> value;
        for (; value.count < from.terms; ++value.count) {
            const auto& in = from.term[value.count];
            value.terms[value.count] = {
                at(in.vector), in.scale >= 0 ? at(in.scale) : vector_operand<T>(),
                in.coefficient >= 0 ? coefficients[static_cast<std::size_t>(in.coefficient)]
                                    : no_register,
                in.negative};
        }
        update.add(assignment<T>{at(from.target), value});
    }
    for (int d = 0; d < shape.dots; ++d)
        update.add(reduction_into<T>{sums[static_cast<std::size_t>(d)], at(shape.dot[d].a),
                                     at(shape.dot[d].b)});
    return update;
}

} // namespace krylith::testing

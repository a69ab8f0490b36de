// The fused update against plain loops: shapes with kernels of their own and random ones, sizes
// around those of tiles, both coherences, arrays that the caller owns and that are not aligned.
#include <concepts>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/kernels/fused_shapes.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/vectors.hpp>
#include <krylith/tests/vector/fused_cases.hpp>
#include <krylith/tests/vector/guarded_arrays.hpp>

namespace krylith {

using testing::copies_agree;
using testing::guarded_arrays;
using testing::integer_vectors;
using testing::make_layout;
using testing::make_range_vector;
using testing::make_update;
using testing::random_mixed_shape;
using testing::random_shape;
using testing::run_plainly;
using testing::values_of;

namespace {

constexpr std::int64_t update_sizes[] = {0, 1, 2, 511, 512, 513, 4097};
const std::vector<double> coefficients{2, -1, -2};

template <class T>
std::vector<T> as(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

/// A vector of a test, with guards around its arrays.
template <class T>
struct guarded_vector {
    guarded_vector(const layout_handle& layout, std::int64_t offset,
                   const std::vector<double>& values)
        : arrays(layout, offset), v(vector<T>::borrow(layout, arrays.parts())) {
        v.upload(as<T>(values));
    }
    /// Returns an empty text if all is right.
    [[nodiscard]] std::string compare(const std::vector<double>& expected) const {
        if (values_of(v) != as<T>(expected)) return "values";
        if (!copies_agree(v)) return "copies";
        if (!arrays.untouched()) return "entries around it";
        return "";
    }
    guarded_arrays<T> arrays;
    vector<T> v;
};

/// Checks one shape on vectors that start `offset` entries into their arrays; vectors of float in
/// an update in double are of a layout of their own, with the same rows. Returns an empty text if
/// all is right.
template <class T>
std::string try_shape(execution& run, const fused_shape& shape, const layout_handle& layout,
                      std::int64_t offset, const std::vector<std::uint8_t>& scalars,
                      const std::vector<std::uint8_t>& sums) {
    auto expected = integer_vectors(shape.vectors, layout->size(), 3);
    const auto other = std::make_shared<const krylith::layout>(*layout);
    std::deque<guarded_vector<T>> own;
    std::deque<guarded_vector<float>> single;
    std::vector<vector_operand<T>> v;
    for (const auto& values : expected)
        if (shape.is_single(static_cast<int>(v.size()))) {
            single.emplace_back(other, offset, values);
            if constexpr (std::same_as<T, double>) v.emplace_back(&single.back().v);
        } else {
            own.emplace_back(layout, offset, values);
            v.emplace_back(&own.back().v);
        }
    const auto dots = run_plainly(shape, coefficients, expected);
    enqueue(run, make_update<T>(shape, v, scalars, sums));
    for (std::size_t d = 0; d < dots.size(); ++d)
        if (run.get(sums[d]) != dots[d]) return "dot " + std::to_string(d);
    for (std::size_t k = 0, o = 0, s = 0; k < expected.size(); ++k) {
        const std::string wrong = shape.is_single(static_cast<int>(k))
                                      ? single[s++].compare(expected[k])
                                      : own[o++].compare(expected[k]);
        if (!wrong.empty()) return wrong + " of vector " + std::to_string(k);
    }
    return "";
}

template <class T>
void try_shapes(const device_group& group, const std::vector<fused_shape>& shapes,
                std::int64_t offset) {
    execution run(group, {});
    std::vector<std::uint8_t> scalars;
    for (const double c : coefficients) {
        scalars.push_back(run.new_register());
        run.set(scalars.back(), c);
    }
    std::vector<std::uint8_t> sums;
    for (int d = 0; d < max_fused_dots; ++d) sums.push_back(run.new_register());
    for (const std::int64_t n : update_sizes)
        for (const auto kind : {coherence::owned, coherence::replicated}) {
            const auto device = make_layout(group, n, kind);
            for (std::size_t s = 0; s < shapes.size(); ++s) {
                CAPTURE(s);
                CAPTURE(n);
                CAPTURE(offset);
                CAPTURE(static_cast<int>(kind));
                if (shapes[s].mixed() && std::same_as<T, float>) continue;
                const std::string wrong =
                    try_shape<T>(run, shapes[s], device, offset, scalars, sums);
                CHECK(wrong == "");
            }
        }
}

std::vector<fused_shape> known() {
    return {known_shapes.begin(), known_shapes.end()};
}

std::vector<fused_shape> random(int count) {
    std::vector<fused_shape> shapes;
    for (int i = 0; i < count; ++i)
        shapes.push_back(random_shape(static_cast<std::uint64_t>(100 + i)));
    return shapes;
}

std::vector<fused_shape> random_mixed(int count) {
    std::vector<fused_shape> shapes;
    for (int i = 0; i < count; ++i)
        shapes.push_back(random_mixed_shape(static_cast<std::uint64_t>(300 + i)));
    return shapes;
}

} // namespace

KRYLITH_GROUP_TEST("fused updates: known shapes") {
    try_shapes<double>(group, known(), 32);
    try_shapes<float>(group, known(), 32);
}

KRYLITH_GROUP_TEST("fused updates: known shapes on arrays that are not aligned") {
    try_shapes<double>(group, known(), 33);
    try_shapes<float>(group, known(), 35);
}

KRYLITH_GROUP_TEST("fused updates: random shapes") {
    try_shapes<double>(group, random(12), 32);
    try_shapes<float>(group, random(6), 33);
}

KRYLITH_GROUP_TEST("fused updates: random shapes with vectors of two precisions") {
    try_shapes<double>(group, random_mixed(12), 32);
    try_shapes<double>(group, random_mixed(6), 33);
}

// The notation of solvers makes the shapes that have kernels, and means what it says.
KRYLITH_GROUP_TEST("fused updates: the notation") {
    for (const auto kind : {coherence::owned, coherence::replicated}) {
        const auto device = make_layout(group, 700, kind);
        auto v = integer_vectors(4, 700, 8);
        execution run(group, {});
        scalar a(run), b(run), dot1(run), dot2(run);
        a = 2.0;
        b = -1.0;
        auto x = make_range_vector(device, v[0]);
        auto y = make_range_vector(device, v[1]);
        auto z = make_range_vector(device, v[2]);
        auto d = make_range_vector(device, v[3]);
        fused(run, x += a * y + -z, y = b * x + pointwise(d, z), z -= -y + a * pointwise(d, d),
              dot1 = dot(x, y), dot2 = dot(z, z));
        double expected1 = 0;
        double expected2 = 0;
        for (std::size_t i = 0; i < 700; ++i) {
            v[0][i] += 2 * v[1][i] - v[2][i];
            v[1][i] = -v[0][i] + v[3][i] * v[2][i];
            v[2][i] -= -v[1][i] + 2 * v[3][i] * v[3][i];
            expected1 += v[0][i] * v[1][i];
            expected2 += v[2][i] * v[2][i];
        }
        CHECK(run.get(dot1.number()) == expected1);
        CHECK(run.get(dot2.number()) == expected2);
        CHECK(values_of(x) == v[0]);
        CHECK(values_of(y) == v[1]);
        CHECK(values_of(z) == v[2]);
        fused(run, x = -y);
        fused(run, dot1 = dot(x, d));
        double expected3 = 0;
        for (std::size_t i = 0; i < 700; ++i) expected3 -= v[1][i] * v[3][i];
        CHECK(run.get(dot1.number()) == expected3);
    }
}

TEST_CASE("fused updates: shapes are read from text") {
    const fused_shape s = read_shape("x+=A*p;p=r-B*d:p|xp,rr");
    CHECK(int{s.vectors} == 4); // x p r d
    CHECK(int{s.coefficients} == 2);
    CHECK(int{s.statements} == 2);
    CHECK(int{s.dots} == 2);
    CHECK(s.statement[0].term[1] == fused_shape::input{1, -1, 0, false});
    CHECK(s.statement[1].term[1] == fused_shape::input{1, 3, 1, true});
    CHECK(s.dot[1] == fused_shape::product{2, 2});
    CHECK(s.loaded() == 0b1111u);
    CHECK(s.stored() == 0b0011u);
    CHECK(read_shape("y=x").loaded() == 0b10u);
}

TEST_CASE("fused updates: vectors of float in an update in double are read from text") {
    const fused_shape s = read_shape("v'=A*s':r;v-=B*v'|v'r,rr'");
    CHECK(int{s.vectors} == 5); // v' r s' v r'
    CHECK(s.single == 0b10101u);
    CHECK(s.statement[0].term[0] == fused_shape::input{1, 2, 0, false});
    CHECK(s.statement[1].target == 3);
    CHECK(s.statement[1].term[1] == fused_shape::input{0, -1, 1, true});
    CHECK(s.dot[0] == fused_shape::product{0, 1});
    CHECK(s.dot[1] == fused_shape::product{1, 4});
    CHECK(read_shape("v'=A*r") != read_shape("v=A*r"));
    CHECK(read_shape("v'=A*r") != read_shape("v=A*r'"));
    CHECK(read_shape("y=x").single == 0);
}

KRYLITH_GROUP_TEST("fused updates: what is too large or does not belong together is refused") {
    const auto device = make_layout(group, 10, coherence::owned);
    execution run(group, {});
    vector<double> x(device);
    vector<double> y(device);
    vector<double> stranger(make_layout(group, 10, coherence::owned));
    scalar s(run);
    CHECK_THROWS_AS(fused(run, x = y, x = y, x = y, x = y), usage_error);
    CHECK_THROWS_AS(
        fused(run, s = dot(x, x), s = dot(x, x), s = dot(x, x), s = dot(x, x), s = dot(x, x)),
        usage_error);
    CHECK_THROWS_AS((void)(x + y + -y + -y + -y), usage_error);
    CHECK_THROWS_AS((void)(x += y + y + -y + -y), usage_error);
    CHECK_THROWS_AS(fused(run, x = stranger), usage_error);
    CHECK_THROWS_AS(fused(run, s = dot(x, stranger)), usage_error);
    std::vector<vector<double>> many;
    for (int i = 0; i < 9; ++i) many.emplace_back(device);
    fused_update<double> update;
    for (std::size_t i = 0; i < 9; i += 3) update.add(many[i] = many[i + 1] + many[i + 2]);
    CHECK_THROWS_AS(enqueue(run, update), usage_error);
    testing::fill(x, 2.0); // the refused update has left nothing behind
    fused(run, y = x, s = dot(x, x));
    CHECK(run.get(s.number()) == 40);
}

KRYLITH_GROUP_TEST("fused updates: vectors and terms add and subtract in any order") {
    execution run(group, {});
    const auto device = make_layout(group, 7, coherence::owned);
    vector<double> x(device), y(device), z(device);
    scalar a(run);
    a = 3.0;
    testing::fill(x, 1.0);
    testing::fill(y, 10.0);
    testing::fill(z, 100.0);
    fused(run, x += a * y - z);
    CHECK(values_of(x) == std::vector<double>(7, -69.0));
    fused(run, x = y + z - x);
    CHECK(values_of(x) == std::vector<double>(7, 179.0));
    fused(run, x = y + z + x - a * y);
    CHECK(values_of(x) == std::vector<double>(7, 259.0));
}

} // namespace krylith

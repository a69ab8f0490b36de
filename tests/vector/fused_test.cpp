// The fused update against plain loops: shapes with kernels of their own and random ones, sizes
// around those of tiles, both coherences, arrays that the caller owns and that are not aligned.
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/kernels/fused_shapes.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/vectors.hpp>
#include <krylith/tests/vector/fused_cases.hpp>

namespace krylith {

using testing::copies_agree;
using testing::integer_vectors;
using testing::make_layout;
using testing::make_range_vector;
using testing::make_update;
using testing::random_shape;
using testing::run_plainly;
using testing::values_of;

namespace {

constexpr std::int64_t sizes[] = {0, 1, 2, 511, 512, 513, 4097};
const std::vector<double> coefficients{2, -1, -2};

template <class T>
std::vector<T> as(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

/// Arrays with `offset` entries before and more behind, which must not be written.
template <class T>
class guarded_arrays {
public:
    guarded_arrays(const layout_handle& layout, std::int64_t offset) : offset_(offset) {
        for (int rank = 0; rank < layout->group.size(); ++rank) {
            const auto size = static_cast<std::size_t>(layout->held(rank) + offset + zone);
            const std::vector<T> pattern(size, T(77));
            arrays_.emplace_back(layout->group.handle(rank), std::span<const T>(pattern), "test");
            parts_.push_back(arrays_.back().data() + offset);
        }
    }
    [[nodiscard]] const std::vector<T*>& parts() const { return parts_; }
    [[nodiscard]] bool untouched() const {
        for (const auto& array : arrays_) {
            const auto all = array.download();
            for (std::size_t i = 0; i < all.size(); ++i)
                if ((i < static_cast<std::size_t>(offset_) || i + zone >= all.size()) &&
                    all[i] != T(77))
                    return false;
        }
        return true;
    }

private:
    static constexpr std::size_t zone = 16;
    std::int64_t offset_;
    std::vector<buffer<T>> arrays_;
    std::vector<T*> parts_;
};

/// Checks one shape on vectors that start `offset` entries into their arrays. Returns an empty text
/// if all is right.
template <class T>
std::string try_shape(execution& run, const fused_shape& shape, const layout_handle& layout,
                      std::int64_t offset, const std::vector<std::uint8_t>& scalars,
                      const std::vector<std::uint8_t>& sums) {
    auto expected = integer_vectors(shape.vectors, layout->size(), 3);
    std::vector<guarded_arrays<T>> arrays;
    std::vector<vector<T>> v;
    for (const auto& values : expected) {
        arrays.emplace_back(layout, offset);
        v.push_back(vector<T>::borrow(layout, arrays.back().parts()));
        v.back().upload(as<T>(values));
    }
    const auto dots = run_plainly(shape, coefficients, expected);
    enqueue(run, make_update(shape, v, scalars, sums));
    for (std::size_t d = 0; d < dots.size(); ++d)
        if (run.get(sums[d]) != dots[d]) return "dot " + std::to_string(d);
    for (std::size_t k = 0; k < v.size(); ++k) {
        if (values_of(v[k]) != as<T>(expected[k])) return "vector " + std::to_string(k);
        if (!copies_agree(v[k])) return "copies of vector " + std::to_string(k);
        if (!arrays[k].untouched()) return "entries around vector " + std::to_string(k);
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
    for (const std::int64_t n : sizes)
        for (const auto kind : {coherence::owned, coherence::replicated}) {
            const auto device = make_layout(group, n, kind);
            for (std::size_t s = 0; s < shapes.size(); ++s) {
                CAPTURE(s);
                CAPTURE(n);
                CAPTURE(offset);
                CAPTURE(static_cast<int>(kind));
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

// SELL slices whose values come from a table or are stored in half their bits: products have the
// bits that they have with all values, new values are looked at anew, and the narrow fraction says
// what is.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <krylith/sparse/sell/narrow_worth.hpp>
#include <krylith/sparse/sell/sixteen_bits.hpp>

#include <krylith/tests/sparse/sell/sell_products.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

using testing::narrow_fraction;
using testing::pattern;
using testing::random_numbers;
using testing::random_values;
using testing::right;

namespace {

std::vector<std::pair<std::string, pattern>> narrow_value_patterns() {
    return {{"diagonal", testing::stencil(7, 64, 6, 6)},
            {"diagonal and narrow", testing::stencil(27, 31, 6, 5)},
            {"triples", testing::triples_of(testing::random_pattern(700, 9, 700, 5))},
            {"triples of a stencil", testing::triples_of(testing::stencil(27, 13, 5, 5))},
            {"sorted rows", testing::random_pattern(2500, 30, 2500, 73)},
            {"wide", testing::random_pattern(200'000, 2, 200'000, 74)},
            {"rows without entries", testing::random_pattern(300, 0, 1, 75)}};
}

/// Values drawn from `count` different ones.
template <class T>
std::vector<T> drawn(std::size_t size, int count, std::uint64_t seed) {
    const auto all = random_values<T>(count, seed);
    random_numbers random(seed + 1);
    std::vector<T> values(size);
    for (T& value : values) value = all[static_cast<std::size_t>(random.below(count))];
    return values;
}

/// Zeros of both signs, denormal and infinite numbers, and NaN, among others.
template <class T>
std::vector<T> special(std::size_t size) {
    using limits = std::numeric_limits<T>;
    const std::vector<T> rare = {limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                                 limits::denorm_min(), limits::max()};
    random_numbers random(81);
    std::vector<T> values(size);
    for (T& value : values) {
        const int kind = random.below(500);
        value = kind < 5     ? rare[static_cast<std::size_t>(kind)]
                : kind < 80  ? T(0)
                : kind < 150 ? -T(0)
                             : T(kind % 7) / T(3);
    }
    return values;
}

/// Float values of which all but `apart` of each row, at places of their own, have 16 bits.
std::vector<float> sixteen_bit_values(const pattern& p, std::size_t apart, std::uint64_t seed) {
    auto values = random_values<float>(static_cast<std::int64_t>(p.indices.size()), seed);
    for (std::size_t row = 0; row + 1 < p.offsets.size(); ++row) {
        const auto begin = static_cast<std::size_t>(p.offsets[row]);
        const auto length = static_cast<std::size_t>(p.offsets[row + 1]) - begin;
        for (std::size_t k = 0; k < length; ++k) {
            float& value = values[begin + (k + row) % length];
            if (k >= apart) value = rounded_to_sixteen_bits(value);
        }
    }
    return values;
}

/// Values of 16 bits of every size: the largest and the least, zeros of both signs, infinite ones.
std::vector<float> rare_sixteen_bits(std::size_t size) {
    random_numbers random(82);
    std::vector<float> values(size);
    for (float& value : values) {
        const int kind = random.below(1000);
        const float any = static_cast<float>(1024 + random.below(1024)) / 1024;
        value = kind == 0    ? std::numeric_limits<float>::infinity()
                : kind == 1  ? -std::numeric_limits<float>::infinity()
                : kind < 10  ? most_in_sixteen_bits
                : kind < 60  ? 0.0f
                : kind < 110 ? -0.0f
                             : rounded_to_sixteen_bits(
                                   std::ldexp(kind % 2 == 0 ? any : -any, 3 - random.below(40)));
    }
    return values;
}

/// One value of each row may have more than 16 bits, and is read in full.
void check_sixteen_bits(matrix_operator<float>& a, const pattern& p, double wide,
                        std::int64_t full_bytes) {
    const std::size_t size = p.indices.size();
    const bool sell = a.format_name() == "sell";
    const bool long_rows = sell && size >= 4 * static_cast<std::size_t>(p.rows());
    for (const std::size_t apart : {0, 1}) {
        const auto values = sixteen_bit_values(p, apart, 83);
        a.update(values);
        CHECK(right(a, p, values));
        if (!long_rows) continue;
        CHECK(narrow_fraction(a) > 0.95);
        CHECK(a.matrix_bytes(0) < full_bytes);
    }
    const auto rare = rare_sixteen_bits(size);
    a.update(rare);
    CHECK(right(a, p, rare));
    if (long_rows) CHECK(narrow_fraction(a) > 0.95);
    // A NaN is never one of 16 bits, whatever its own are.
    auto odd = sixteen_bit_values(p, 0, 84);
    for (std::size_t k = 0; k < size; k += 1009) odd[k] = k % 2 == 0 ? NAN : -NAN;
    a.update(odd);
    CHECK(right(a, p, odd));
    const auto two = sixteen_bit_values(p, 2, 85);
    a.update(two);
    CHECK(right(a, p, two));
    CHECK(narrow_fraction(a) == wide);
}

template <class T>
void check_narrow(const device_group& group) {
    const mocked_narrow_worth any_size;
    const bool sell = group.kind() == backend::cuda;
    for (const auto& pattern : narrow_value_patterns()) {
        const auto& name = pattern.first; // clang 14 captures no structured bindings
        const auto& p = pattern.second;
        CAPTURE(name);
        const std::size_t size = p.indices.size();
        const auto various = random_values<T>(static_cast<std::int64_t>(size), 72);
        const csr_matrix<T> matrix{p.rows(), p.rows(), p.offsets, p.indices, various};
        const auto a =
            make_operator(group, matrix, {operators::halo, sell ? formats::sell : formats::csr});
        const bool some = sell && size != 0;
        const double wide = narrow_fraction(*a); // slices with one row are uniform
        CHECK(right(*a, p, various));
        CHECK(wide < 0.2);
        const std::int64_t full_bytes = a->matrix_bytes(0);

        for (const int count : {100, 255}) {
            const auto few = drawn<T>(size, count, 76);
            a->update(few);
            CHECK(right(*a, p, few));
            CHECK(narrow_fraction(*a) == (some ? 1 : 0));
            if (some) CHECK(a->matrix_bytes(0) < full_bytes);
        }
        const auto many = drawn<T>(size, 256, 77); // 0 is a value of each table
        a->update(many);
        CHECK(right(*a, p, many));
        if (size > 10'000 && group.size() == 1) CHECK(narrow_fraction(*a) == wide);

        const auto zeros = special<T>(size);
        a->update(zeros);
        CHECK(right(*a, p, zeros));
        CHECK(narrow_fraction(*a) == (some ? 1 : 0));

        auto singles = various;
        for (T& value : singles) value = static_cast<T>(static_cast<float>(value));
        a->update(singles);
        CHECK(right(*a, p, singles));
        if (std::is_same_v<T, double>) CHECK(narrow_fraction(*a) == (some ? 1 : 0));
        if constexpr (std::is_same_v<T, float>) check_sixteen_bits(*a, p, wide, full_bytes);

        a->update(various);
        CHECK(right(*a, p, various));
        CHECK(narrow_fraction(*a) == wide);
        if (sell) CHECK(a->matrix_bytes(0) == full_bytes);
        CHECK(a->narrow_fraction() <= narrow_fraction(*a));
    }
}

/// A slice with a value that has no narrow form is stored in full, the others are not.
template <class T>
void check_single_slices(const device_group& group) {
    const mocked_narrow_worth any_size;
    const bool sell = group.kind() == backend::cuda;
    for (const auto& pattern : narrow_value_patterns()) {
        const auto& name = pattern.first; // clang 14 captures no structured bindings
        const auto& p = pattern.second;
        const std::size_t size = p.indices.size();
        if (size < 1000) continue;
        CAPTURE(name);
        const auto few = drawn<T>(size, 90, 78);
        const csr_matrix<T> matrix{p.rows(), p.rows(), p.offsets, p.indices, few};
        const auto a =
            make_operator(group, matrix, {operators::halo, sell ? formats::sell : formats::csr});
        // The NaN of double whose bits are all ones has no code.
        auto odd = few;
        std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t> ones = 0;
        ones = ~ones;
        std::memcpy(&odd[size / 2], &ones, sizeof ones);
        a->update(odd);
        CHECK(right(*a, p, odd));
        if (sell && group.size() == 1) {
            CHECK((narrow_fraction(*a) < 1) == (sizeof(T) == 8));
            CHECK(narrow_fraction(*a) > 0.5);
        }
        if constexpr (std::is_same_v<T, float>) {
            if (size < 4 * static_cast<std::size_t>(p.rows())) continue;
            auto halved = sixteen_bit_values(p, 0, 86);
            for (std::size_t k = size / 3; k < size / 3 + 3; ++k) halved[k] = 0.1f; // in two rows
            a->update(halved);
            CHECK(right(*a, p, halved));
            if (sell && group.size() == 1) {
                CHECK(narrow_fraction(*a) < 1);
                CHECK(narrow_fraction(*a) > 0.5);
            }
            continue;
        }
        auto exact = random_values<T>(static_cast<std::int64_t>(size), 79);
        for (T& value : exact) value = static_cast<T>(static_cast<float>(value));
        exact[size / 3] = T(0.1);
        exact[size / 3 + 1] = T(1e-300);
        a->update(exact);
        CHECK(right(*a, p, exact));
        if (sell && group.size() == 1) {
            CHECK(narrow_fraction(*a) < 1);
            CHECK(narrow_fraction(*a) > 0.5);
        }
    }
}

} // namespace

TEST_CASE("narrow values: short rows pay in large matrices of fp64") {
    CHECK_FALSE(narrow_pays(8, 8192, 7 * 8192)); // 64^3 rows, 7 points
    CHECK(narrow_pays(8, 65536, 7 * 65536));
    CHECK_FALSE(narrow_pays(4, 65536, 7 * 65536));
    CHECK(narrow_pays(8, 100, 2700));
    CHECK(narrow_pays(4, 100, 2700));
    const mocked_narrow_worth any_size;
    CHECK(narrow_pays(4, 1, 1));
}

KRYLITH_GROUP_TEST("narrow values: tables and halves, new values and back, fp64") {
    check_narrow<double>(group);
}
KRYLITH_GROUP_TEST("narrow values: tables and halves, new values and back, fp32") {
    check_narrow<float>(group);
}
KRYLITH_GROUP_TEST("narrow values: each slice for itself") {
    check_single_slices<double>(group);
    check_single_slices<float>(group);
}

} // namespace krylith

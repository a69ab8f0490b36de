// Solves with triangles against substitution, on every kind of matrix and by every method.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/sparse/triangular_solver.hpp>
#include <krylith/vector/execution.hpp>

#include <krylith/tests/sparse/sptrsv/triangular_cases.hpp>
#include <krylith/tests/spmspv/one_device.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>

namespace krylith {

namespace {

using testing::right_hand_side;
using testing::substitute;

template <class T>
csr_matrix<T> as(const csr_matrix<double>& a) {
    csr_matrix<T> result;
    result.rows = a.rows;
    result.columns = a.columns;
    result.row_offsets = a.row_offsets;
    result.column_indices = a.column_indices;
    for (const double value : a.values) result.values.push_back(static_cast<T>(value));
    return result;
}

template <class T>
std::vector<T> as(const std::vector<double>& v) {
    return {v.begin(), v.end()};
}

/// The largest difference, by the size of the entry. NaNs must stand at the same places.
template <class T>
double deviation(const std::vector<T>& x, const std::vector<double>& exact) {
    REQUIRE(x.size() == exact.size());
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto value = static_cast<double>(x[i]);
        if (std::isnan(exact[i]) != std::isnan(value)) return std::numeric_limits<double>::max();
        if (std::isnan(exact[i])) continue;
        most = std::max(most, std::abs(value - exact[i]) / (1 + std::abs(exact[i])));
    }
    return most;
}

std::vector<triangular_options> all_options() {
    std::vector<triangular_options> options;
    for (const auto part : {triangle_part::lower, triangle_part::upper})
        for (const auto diagonal : {triangle_diagonal::stored, triangle_diagonal::unit})
            for (const auto method :
                 {triangular_method::automatic, triangular_method::rows, triangular_method::levels})
                options.push_back({.part = part, .diagonal = diagonal, .method = method});
    return options;
}

template <class T>
std::vector<T> solved(triangular_solver<T>& solver, const std::shared_ptr<device>& device,
                      const std::vector<T>& b) {
    const buffer<T> from(device, std::span<const T>(b), "b");
    const buffer<T> to(device, b.size(), "x");
    solver.solve(from.data(), to.data());
    return to.download();
}

template <class T>
void check_cases(const std::shared_ptr<device>& device, double bound) {
    for (const testing::triangular_case& c : testing::triangular_cases()) {
        CAPTURE(c.name);
        const csr_matrix<T> matrix = as<T>(c.matrix);
        const device_csr<T> a(device, matrix);
        const std::vector<T> b = as<T>(right_hand_side(c.matrix.rows, 11));
        csr_matrix<double> wide = c.matrix; // of the values as T has them
        for (std::size_t k = 0; k < wide.values.size(); ++k)
            wide.values[k] = static_cast<double>(matrix.values[k]);
        const std::vector<double> wide_b(b.begin(), b.end());
        for (const triangular_options& options : all_options()) {
            CAPTURE(static_cast<int>(options.part));
            CAPTURE(static_cast<int>(options.diagonal));
            const std::string method = to_string(options.method);
            CAPTURE(method);
            triangular_solver<T> solver(a, options);
            CAPTURE(solver.reason());
            CHECK(solver.method() != triangular_method::automatic);
            const auto exact = substitute(wide, options.part, options.diagonal, wide_b);
            const std::vector<T> first = solved(solver, device, b);
            CHECK(deviation(first, exact) < bound);
            for (int again = 0; again < 3; ++again)
                CHECK(solved(solver, device, b) == first); // the same bits, solve after solve
        }
    }
}

} // namespace

KRYLITH_DEVICE_TEST("triangular solver: every matrix, part, diagonal and method in double") {
    check_cases<double>(device, 1e-12);
}

KRYLITH_DEVICE_TEST("triangular solver: every matrix, part, diagonal and method in float") {
    check_cases<float>(device, 1e-4);
}

KRYLITH_DEVICE_TEST("triangular solver: several right-hand sides in groups of any size") {
    const csr_matrix<double> matrix = make_gallery<double>("poisson3d:9:random=4");
    const device_csr<double> a(device, matrix);
    const auto rows = matrix.rows;
    for (const auto method : {triangular_method::rows, triangular_method::levels})
        for (const int together : {1, 2, 3, 4})
            for (const std::int64_t count : {0, 1, 2, 5, 7}) {
                CAPTURE(together);
                CAPTURE(count);
                triangular_solver<double> solver(a, {.method = method, .together = together});
                const std::int64_t stride = rows + 3;
                std::vector<double> all(static_cast<std::size_t>(stride * 8), 5.0);
                for (std::int64_t v = 0; v < count; ++v) {
                    const auto b = right_hand_side(rows, static_cast<unsigned>(v));
                    std::copy(b.begin(), b.end(), all.begin() + v * stride);
                }
                const buffer<double> from(device, std::span<const double>(all), "b");
                const buffer<double> to(device, std::span<const double>(all), "x");
                solver.solve(from.data(), stride, to.data(), stride, count);
                const std::vector<double> x = to.download();
                for (std::int64_t v = 0; v < count; ++v) {
                    const auto exact =
                        substitute(matrix, triangle_part::lower, triangle_diagonal::stored,
                                   right_hand_side(rows, static_cast<unsigned>(v)));
                    const std::vector<double> own(x.begin() + v * stride,
                                                  x.begin() + v * stride + rows);
                    CHECK(deviation(own, exact) < 1e-10);
                }
                for (std::int64_t i = count * stride; i < stride * 8; ++i)
                    CHECK(x[static_cast<std::size_t>(i)] == all[static_cast<std::size_t>(i)]);
            }
}

KRYLITH_DEVICE_TEST("triangular solver: b and x may be one vector, and L then U give the product") {
    const csr_matrix<double> lu = make_gallery<double>("poisson3d:12:random=9");
    const device_csr<double> a(device, lu);
    const auto b = right_hand_side(lu.rows, 3);
    for (const auto method : {triangular_method::rows, triangular_method::levels}) {
        triangular_solver<double> lower(a, {.diagonal = triangle_diagonal::unit, .method = method});
        triangular_solver<double> upper(a, {.part = triangle_part::upper, .method = method});
        const buffer<double> z(device, std::span<const double>(b), "z");
        lower.solve(z.data(), z.data());
        upper.solve(z.data(), z.data());
        const auto y = substitute(lu, triangle_part::lower, triangle_diagonal::unit, b);
        const auto exact = substitute(lu, triangle_part::upper, triangle_diagonal::stored, y);
        CHECK(deviation(z.download(), exact) < 1e-10);
    }
}

KRYLITH_DEVICE_TEST("triangular solver: a pivot that is 0 or missing is named with its row") {
    csr_matrix<double> matrix = testing::chain(500, 7);
    const auto place_of = [&](std::int64_t row) {
        auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row)]);
        while (matrix.column_indices[k] != row) ++k;
        return k;
    };
    const auto message = [&](triangular_options options) -> std::string {
        const device_csr<double> a(device, matrix);
        try {
            const triangular_solver<double> solver(a, options);
        } catch (const input_error& e) {
            return e.what();
        }
        return {};
    };
    for (triangular_options options : all_options()) {
        matrix.values[place_of(123)] = 0;
        matrix.column_indices[place_of(77)] = 499; // row 77 lacks its diagonal entry
        const bool stored = options.diagonal == triangle_diagonal::stored;
        CHECK((message(options).find("row 77 ") != std::string::npos) == stored);
        matrix = testing::chain(500, 7);
        matrix.values[place_of(300)] = 0;
        CHECK((message(options).find("row 300 ") != std::string::npos) == stored);
        matrix = testing::chain(500, 7);
        CHECK(message(options).empty());
    }
}

KRYLITH_DEVICE_TEST("triangular solver: rows without entries are named, or of a unit diagonal") {
    csr_matrix<double> matrix;
    matrix.rows = matrix.columns = 3;
    matrix.row_offsets = {0, 1, 1, 2};
    matrix.column_indices = {0, 0};
    matrix.values = {2, 4};
    const device_csr<double> a(device, matrix);
    CHECK_THROWS_WITH_AS(triangular_solver<double>{a}, doctest::Contains("row 1 is 0 or missing"),
                         input_error);
    triangular_solver<double> unit(a, {.diagonal = triangle_diagonal::unit});
    CHECK(solved(unit, device, {1, 2, 3}) == std::vector<double>{1, 2, -1});
}

KRYLITH_DEVICE_TEST("triangular solver: NaN and infinity go where they reach, and no further") {
    const csr_matrix<double> matrix = testing::chain(400, 20);
    for (const auto method : {triangular_method::rows, triangular_method::levels}) {
        auto b = right_hand_side(400, 1);
        const std::uint64_t ones = ~std::uint64_t{0}; // the NaN that marks words as unknown
        std::memcpy(&b[21], &ones, sizeof ones);
        b[33] = std::numeric_limits<double>::quiet_NaN();
        const device_csr<double> a(device, matrix);
        triangular_solver<double> solver(a, {.method = method});
        const auto exact = substitute(matrix, triangle_part::lower, triangle_diagonal::stored, b);
        for (int again = 0; again < 3; ++again)
            CHECK(deviation(solved(solver, device, b), exact) < 1e-12);
        csr_matrix<double> bad = matrix;
        for (std::size_t k = 100; k < 140; ++k)
            bad.values[k] = std::numeric_limits<double>::quiet_NaN();
        const device_csr<double> broken(device, bad);
        triangular_solver<double> with_nan(broken, {.method = method});
        const auto nan_b = right_hand_side(400, 2);
        CHECK(deviation(solved(with_nan, device, nan_b),
                        substitute(bad, triangle_part::lower, triangle_diagonal::stored, nan_b)) <
              1e-12);
    }
}

KRYLITH_DEVICE_TEST("triangular solver: new values are taken without a new analysis") {
    csr_matrix<double> matrix = make_gallery<double>("poisson2d:40:random=5");
    device_csr<double> a(device, matrix);
    for (const auto method : {triangular_method::rows, triangular_method::levels}) {
        triangular_solver<double> solver(a, {.part = triangle_part::upper, .method = method});
        const auto b = right_hand_side(matrix.rows, 8);
        const auto bytes = solver.bytes();
        for (double& value : matrix.values) value = 1.5 * value + (value > 0 ? 1 : -0.01);
        a.update(matrix.values);
        solver.update();
        CHECK(solver.bytes() == bytes);
        CHECK(deviation(solved(solver, device, b),
                        substitute(matrix, triangle_part::upper, triangle_diagonal::stored, b)) <
              1e-10);
        const auto kept = matrix.values;
        for (double& value : matrix.values) value = 0;
        a.update(matrix.values);
        CHECK_THROWS_WITH_AS(solver.update(), doctest::Contains("row 0 is 0 or missing"),
                             input_error);
        matrix.values = kept;
        a.update(kept);
    }
}

KRYLITH_GROUP_TEST("triangular solver: a recorded loop repeats solves") {
    const std::shared_ptr<device>& device = group.handle(0);
    const csr_matrix<double> matrix = make_gallery<double>("poisson3d:10:random=6");
    const device_csr<double> a(device, matrix);
    constexpr int count = 5;
    for (const auto method : {triangular_method::rows, triangular_method::levels})
        for (const execution_mode mode : testing::modes_of(group)) {
            triangular_solver<double> solver(a, {.method = method});
            auto b = right_hand_side(matrix.rows, 21);
            const buffer<double> x(device, std::span<const double>(b), "x");
            execution run(group, {.mode = mode, .unroll = 1});
            testing::iterate(run, count, [&] { solver.solve(x.data(), x.data()); });
            for (int i = 0; i < count; ++i)
                b = substitute(matrix, triangle_part::lower, triangle_diagonal::stored, b);
            CHECK(deviation(x.download(), b) < 1e-10);
        }
}

KRYLITH_DEVICE_TEST("triangular solver: ranges that are known not to be coupled") {
    // Two halves, each row of the second with rows of the first: wide enough for a launch each on a
    // GPU. The other lists are not true of it: rows couple within ranges.
    const std::int64_t half = std::int64_t{1} << 17;
    csr_matrix<double> matrix{2 * half, 2 * half, {0}, {}, {}};
    for (std::int64_t i = 0; i < 2 * half; ++i) {
        const std::int64_t count = i % 5;
        for (std::int64_t j = 0; j <= count; ++j) {
            const std::int64_t other = (i * 7 + j * 1001) % half + (i < half ? half : 0);
            matrix.column_indices.push_back(static_cast<std::int32_t>(other));
            matrix.values.push_back(0.1 * static_cast<double>(j + 1) / 5);
        }
        matrix.column_indices.push_back(static_cast<std::int32_t>(i));
        matrix.values.push_back(2 + static_cast<double>(i % 3));
        matrix.row_offsets.push_back(static_cast<std::int64_t>(matrix.values.size()));
    }
    device_csr<double> a(device, matrix);
    const auto b = right_hand_side(matrix.rows, 3);
    const std::vector<std::int64_t> lists[] = {{0, half, 2 * half},
                                               {0, 0, half, half, 2 * half, 2 * half},
                                               {0, 2 * half},
                                               {0, half / 2, 2 * half}};
    for (const auto& ranges : lists)
        for (const auto part : {triangle_part::lower, triangle_part::upper}) {
            CAPTURE(ranges.size());
            triangular_solver<double> solver(a, {.part = part, .ranges = ranges});
            CHECK(deviation(solved(solver, device, b),
                            substitute(matrix, part, triangle_diagonal::stored, b)) < 1e-10);
            auto other = matrix;
            for (double& value : other.values) value *= 1.5;
            a.update(other.values);
            solver.update();
            CHECK(deviation(solved(solver, device, b),
                            substitute(other, part, triangle_diagonal::stored, b)) < 1e-10);
            a.update(matrix.values);
            if (device->kind() == backend::cuda) CHECK(solver.levels() == 2);
        }
}

TEST_CASE("triangular solver: matrices and options that it refuses") {
    const auto device = device_group::host(1).handle(0);
    csr_matrix<double> wide;
    wide.rows = 1;
    wide.columns = 2;
    wide.row_offsets = {0, 0};
    const device_csr<double> a(device, wide);
    CHECK_THROWS_WITH_AS(triangular_solver<double>{a}, doctest::Contains("1 rows and 2 columns"),
                         input_error);
    CHECK_THROWS_AS(triangular_solver<double>{device_csr<double>()}, usage_error);
    const device_csr<double> one(device, testing::chain(3, 1));
    CHECK_THROWS_WITH_AS((triangular_solver<double>(one, {.together = 5})),
                         doctest::Contains("triangular_options::together is 5"), usage_error);
    const std::vector<std::int64_t> ranges[] = {{0, 2}, {1, 3}, {0, 2, 1, 3}};
    for (const auto& list : ranges)
        CHECK_THROWS_WITH_AS((triangular_solver<double>(one, {.ranges = list})),
                             doctest::Contains("they must ascend from 0 to the 3 rows"),
                             usage_error);
    triangular_solver<double> solver(one);
    double b[6] = {};
    CHECK_THROWS_WITH_AS(solver.solve(b, 2, b, 3, 2), doctest::Contains("b_stride 2"), usage_error);
    CHECK_THROWS_AS(solver.solve(b, 3, b, 3, -1), usage_error);
}

} // namespace krylith

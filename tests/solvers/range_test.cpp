// Solutions that the type of x can't hold. Solves iterate on a scaled system, whose x is shifted
// back by a power of two, and must not call converged what lost digits on the way.
#include <cmath>
#include <vector>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::diagonal_matrix;
using testing::name_of;
using testing::problem;

namespace {

template <class T>
void leaves_the_range(const device_group& group, const std::vector<double>& diagonal, T b,
                      const char* words) {
    const auto matrix = testing::converted<T>(diagonal_matrix(diagonal));
    for (const auto which : all_methods)
        for (const bool guess : {false, true}) {
            problem<T> p(group, matrix, std::vector<T>(diagonal.size(), b));
            CAPTURE(name_of(which));
            CAPTURE(guess);
            const auto result =
                guess ? p.solve_from(std::vector<T>(diagonal.size()), which) : p.solve(which);
            INFO(describe(result));
            CHECK(name_of(result.reason) == name_of(reason::out_of_range));
            CHECK_FALSE(result.converged());
            CHECK(!(result.relative_residual() <= 1e-8)); // the residual of the x returned
            CHECK(result.diagnosis.find(words) != std::string::npos);
            CHECK(result.diagnosis.find(sizeof(T) == 8 ? "fp64" : "fp32") != std::string::npos);
        }
}

} // namespace

KRYLITH_GROUP_TEST("range: x that overflows is not called converged") {
    leaves_the_range<double>(group, {1e-300}, 1e300, "overflow");
    leaves_the_range<double>(group, {1e-300, 3e-300, 2e-300}, 1e300, "overflow");
    leaves_the_range<float>(group, {1e-12}, 1e28F, "overflow");
}

KRYLITH_GROUP_TEST("range: x that vanishes or loses digits is not called converged") {
    leaves_the_range<double>(group, {1e300}, 1e-300, "lose digits");
    leaves_the_range<float>(group, {1e20, 2e20}, 1e-23F, "lose digits");
}

// The digits lost may be less than the rtol asked for.
KRYLITH_GROUP_TEST("range: digits that nobody asked for may be lost") {
    const auto matrix = testing::converted<float>(diagonal_matrix(std::vector<double>{1e20, 2e20}));
    for (const auto which : all_methods) {
        problem<float> p(group, matrix, std::vector<float>(2, 1e-23F));
        const auto result = p.solve(which, {.rtol = 0.02});
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(result.relative_residual() == doctest::Approx(p.relative_residual()));
        CHECK(result.relative_residual() > 1e-4);
    }
}

// The shift back is exact where nothing is lost: the reported residual is that of the x returned.
KRYLITH_GROUP_TEST("range: x near the ends of its range is good") {
    for (const double size : {1e-290, 1e290}) {
        const auto matrix = diagonal_matrix(std::vector<double>{1, 3, 7});
        for (const auto which : all_methods) {
            problem<double> p(group, matrix, std::vector<double>(3, size));
            const auto result = p.solve(which);
            INFO(describe(result));
            CHECK(result.converged());
            CHECK(p.relative_residual() <= 1.01e-8);
        }
    }
}

} // namespace krylith

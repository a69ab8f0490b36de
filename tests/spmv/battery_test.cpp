// Every operator and format on every matrix of the battery, on every group: y = alpha A x + beta y
// and dot products of the same pass, within the rounding of sums in any order.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/table_cases.hpp>
#include <krylith/tests/support/tables.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::battery;
using testing::bounded_value;
using testing::copies_agree;
using testing::inner_product;
using testing::name_of;
using testing::random_values;
using testing::same_bits;
using testing::values_of;

namespace {

struct factors {
    double alpha, beta;
};

/// Returns the first error; empty if all is right.
template <class T>
std::string multiply_and_compare(execution& run, const matrix_operator<T>& a,
                                 const csr_matrix<T>& matrix, factors f) {
    const auto n = matrix.rows;
    const auto x0 = random_values<T>(n, 31);
    const auto w0 = random_values<T>(n, 32);
    // beta = 0 must not read y, where a NaN would show.
    const auto y0 = f.beta == 0 ? std::vector<T>(x0.size(), T(NAN)) : random_values<T>(n, 33);
    auto source = testing::make_range_vector(a.layout(), x0);
    auto w = testing::make_range_vector(a.layout(), w0);
    auto y = testing::make_range_vector(a.layout(), y0);
    auto x = a.make_domain_vector();
    scalar wy(run), yy(run);
    const auto alpha = static_cast<T>(f.alpha);
    const auto beta = static_cast<T>(f.beta);
    const auto expected = testing::product(matrix, alpha, x0, beta, y0);

    fused(run, x = source);
    const reduction_into<T> dots[] = {wy = dot(w, y), yy = dot(y, y)};
    a.apply(run, alpha, x, beta, y, dots);
    run.flush();
    const auto result = values_of(y);
    for (std::size_t i = 0; i < result.size(); ++i)
        if (!expected[i].template allows<T>(result[i]))
            return "row " + std::to_string(i) + ": " + std::to_string(result[i]) + " for " +
                   std::to_string(static_cast<double>(expected[i].value));
    if (!copies_agree(y)) return "the copies of y differ";
    // The dots are compared with products of the results themselves, in double: any order of
    // summation.
    if (!inner_product(w0, result).template allows<double>(run.get(wy.number())))
        return "dot(w, y)";
    if (!inner_product(result, result).template allows<double>(run.get(yy.number())))
        return "dot(y, y)";

    // Products without dots and with one run other kernels with the same arithmetic.
    y.upload(y0);
    a.apply(run, alpha, x, beta, y);
    run.flush();
    if (!same_bits(values_of(y), result)) return "without dots the result differs";
    y.upload(y0);
    a.apply(run, alpha, x, beta, y, std::span(dots, 1));
    run.flush();
    if (!same_bits(values_of(y), result)) return "with one dot the result differs";
    if (!inner_product(w0, result).template allows<double>(run.get(wy.number())))
        return "dot(w, y) alone";
    return "";
}

template <class T>
void fight(const device_group& group, operator_kind kind,
           transport_kind transport = transports::automatic) {
    for (const auto& entry : battery()) {
        const auto matrix = testing::converted<T>(entry.matrix);
        std::vector<format_kind> tried = {formats::automatic};
        for (const format_kind format : testing::formats_of(group.kind())) tried.push_back(format);
        for (const format_kind format : tried) {
            INFO(entry.name, ", for: ", entry.surfaces);
            CAPTURE(name_of(kind));
            CAPTURE(name_of(format));
            const auto a = make_operator(group, matrix,
                                         {.kind = kind, .format = format, .transport = transport});
            CHECK((kind == operators::automatic || a->kind() == kind));
            CHECK(a->size() == matrix.rows);
            execution run(group, {});
            for (const factors f : {factors{1, 0}, factors{-1, 1}, factors{2, 0.5}}) {
                CAPTURE(f.alpha);
                CAPTURE(f.beta);
                // Each dot and run takes a register, of which an execution has a few dozen.
                const std::string wrong = multiply_and_compare(run, *a, matrix, f);
                CHECK(wrong == "");
            }
        }
    }
}

/// An operator in fp64, then in fp32.
struct operator_case {
    static constexpr std::size_t count = 2 * operators::all.size();

    static std::string name(std::size_t row) {
        return std::string("battery: operator ") + to_string(operators::all.at(row / 2)) +
               (row % 2 == 0 ? ", fp64" : ", fp32");
    }
    static void run(const device_group& group, std::size_t row) {
        const operator_kind kind = operators::all.at(row / 2);
        row % 2 == 0 ? fight<double>(group, kind) : fight<float>(group, kind);
    }
};

[[maybe_unused]] const bool registered = testing::register_rows<operator_case>(__FILE__, __LINE__);

} // namespace

KRYLITH_GROUP_TEST("battery: operator 2nz, results sent by copy engines") {
    fight<double>(group, operators::two_nz, transports::copy_engine);
}
KRYLITH_GROUP_TEST("battery: operator lra-rc, results sent by copy engines") {
    fight<double>(group, operators::lra_rc, transports::copy_engine);
}

} // namespace krylith

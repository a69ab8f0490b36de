// Every operator and format on every matrix of the battery, on every group: y = alpha A x + beta y
// and dot products of the same pass, within the rounding of sums in any order.
#include <string>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/spmv/product_comparison.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/table_cases.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::battery;
using testing::factors;
using testing::multiply_and_compare;
using testing::name_of;

namespace {

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

[[maybe_unused]] const bool battery_registered =
    testing::register_rows<operator_case>(__FILE__, __LINE__);

} // namespace

KRYLITH_GROUP_TEST("battery: operator 2nz, results sent by copy engines") {
    fight<double>(group, operators::two_nz, transports::copy_engine);
}
KRYLITH_GROUP_TEST("battery: operator lra-rc, results sent by copy engines") {
    fight<double>(group, operators::lra_rc, transports::copy_engine);
}

} // namespace krylith

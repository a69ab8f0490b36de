#include <krylith/precond/incomplete/order_choice.hpp>

#include <algorithm>

namespace krylith::incomplete {

bool colours_pay(std::int64_t levels, std::int64_t rows, std::int64_t nonzeros,
                 std::int64_t value_bytes) {
    constexpr double bytes_a_second = 4e12;  // that a loop reaches on one H200
    constexpr double step_seconds = 1.1e-6;  // a row that waits for another one through L2
    constexpr double more_iterations = 1.45; // IC(0) on Poisson's equation: 115 for 78
    constexpr double worse_locality = 1.3;   // of gathers across colours
    const auto n = static_cast<double>(rows);
    const auto entries = static_cast<double>(nonzeros) * static_cast<double>(value_bytes + 4);
    const auto word = static_cast<double>(value_bytes);
    const double iteration = (entries + 9 * n * word) / bytes_a_second;
    const double triangle = (entries / 2 + 3 * n * word) / bytes_a_second;
    const double natural =
        iteration + 2 * std::max(triangle, static_cast<double>(levels) * step_seconds);
    const double coloured = iteration + 2 * worse_locality * triangle + 10 * step_seconds;
    return more_iterations * coloured < natural;
}

} // namespace krylith::incomplete

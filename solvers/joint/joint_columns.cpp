#include <krylith/solvers/joint/joint_columns.hpp>

namespace krylith {

namespace {

void refuse(bool given, const char* option) {
    if (given)
        throw usage_error(std::string(option) +
                          " is not available for several right-hand sides at once: solve column "
                          "after column, or leave it away");
}

} // namespace

int kernel_columns(int columns) {
    if (columns < 1)
        throw usage_error("columns is " + std::to_string(columns) + ", but must be at least 1");
    return std::clamp(static_cast<int>(std::bit_ceil(static_cast<unsigned>(columns))), 2,
                      max_columns);
}

void check_joint_options(const solver_options& options) {
    options.check_undamped("a loop for several right-hand sides");
    refuse(options.history, "history");
    refuse(static_cast<bool>(options.callback), "callback");
}

std::size_t count_columns(std::size_t b, std::size_t x, std::size_t rows) {
    if (b != x || (rows == 0 ? b != 0 : b % rows != 0))
        throw usage_error("b has " + std::to_string(b) + " entries and x has " + std::to_string(x) +
                          ": both must have the same whole number of columns of " +
                          std::to_string(rows) + " entries");
    return rows == 0 ? 0 : b / rows;
}

} // namespace krylith

#include <krylith/solvers/multi_cg/multi_cg.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/solvers/multi_cg/column_kernels.hpp>
#include <krylith/solvers/multi_cg/multi_cg_loop.hpp>

namespace krylith {

namespace {

/// Rounds up to a number of columns that there are kernels for.
int kernel_columns(int columns) {
    if (columns < 1)
        throw usage_error("columns is " + std::to_string(columns) + ", but must be at least 1");
    return std::min(max_columns, static_cast<int>(std::bit_ceil(static_cast<unsigned>(columns))));
}

void refuse(bool given, const char* option) {
    if (given)
        throw usage_error(std::string(option) +
                          " is not available for several right-hand sides at once: solve column "
                          "after column by cg(), or leave it away");
}

template <class T>
solver_options checked(const solver_options& options) {
    options.check();
    refuse(options.history, "history");
    refuse(static_cast<bool>(options.callback), "callback");
    return resolved<T>(options);
}

} // namespace

/// The loop with the options of the next solve.
template <class T>
struct multi_cg<T>::state {
    solver_options options;
    multi_cg_loop<T> loop;
};

template <class T>
multi_cg<T>::multi_cg(const device_group& group, const csr_view<T>& a, int columns,
                      joint_preconditioner m, const solver_options& options)
    : state_(new state{options,
                       {group, a, kernel_columns(columns), m == joint_preconditioner::jacobi,
                        checked<T>(options)}}) {}
template <class T>
multi_cg<T>::multi_cg(multi_cg&&) noexcept = default;
template <class T>
multi_cg<T>& multi_cg<T>::operator=(multi_cg&&) noexcept = default;
template <class T>
multi_cg<T>::~multi_cg() = default;

template <class T>
int multi_cg<T>::columns() const {
    return state_->loop.columns();
}

template <class T>
solver_options& multi_cg<T>::options() {
    return state_->options;
}

template <class T>
std::vector<solve_result> multi_cg<T>::solve(std::span<const T> b, std::span<T> x) {
    const auto began = std::chrono::steady_clock::now();
    const solver_options options = checked<T>(state_->options);
    multi_cg_loop<T>& loop = state_->loop;
    const auto n = static_cast<std::size_t>(loop.rows());
    if (b.size() != x.size() || (n == 0 ? !b.empty() : b.size() % n != 0))
        throw usage_error("b has " + std::to_string(b.size()) + " entries and x has " +
                          std::to_string(x.size()) +
                          ": both must have the same whole number of columns of " +
                          std::to_string(n) + " entries");
    std::vector<solve_result> results;
    const std::size_t count = n == 0 ? 0 : b.size() / n;
    for (std::size_t first = 0; first < count; first += static_cast<std::size_t>(columns())) {
        const std::size_t some = std::min(count - first, static_cast<std::size_t>(columns()));
        for (solve_result& result :
             loop.solve(b.subspan(first * n, some * n), x.subspan(first * n, some * n),
                        static_cast<int>(some), options, began))
            results.push_back(std::move(result));
    }
    if (options.on_failure == failure_policy::throw_error)
        for (const solve_result& result : results)
            if (!result.converged()) throw not_converged(result);
    return results;
}

template class multi_cg<double>;
template class multi_cg<float>;

} // namespace krylith

#include <krylith/solvers/automatic.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/solvers/automatic/attempts.hpp>
#include <krylith/solvers/automatic/operator_plan.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

template <class T>
void check_matrix(const csr_view<T>& matrix, const matrix_operator<T>& a,
                  const matrix_nodes& nodes) {
    if (matrix.rows != a.size() || matrix.columns != a.size())
        throw usage_error("solve: a matrix of " + std::to_string(matrix.rows) + " x " +
                          std::to_string(matrix.columns) + " for an operator of " +
                          std::to_string(a.size()) + " rows");
    nodes.check(matrix.rows);
}

/// `given` is null where M is chosen, and `matrix` where it is not in host memory.
template <class T>
solve_result solve_by_facts(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                            const solver_options& options, const any_preconditioner<T>* given,
                            const csr_view<T>* matrix = nullptr, const matrix_nodes& nodes = {}) {
    check_square(a, "solve");
    if (matrix != nullptr) check_matrix(*matrix, a, nodes);
    attempts<T> tries(a, b, x, options, matrix, nodes);
    const bool known = a.kept().facts != nullptr;
    solve_result result = tries.run(plan_for(a, options, given, matrix, nodes), given);
    if (!known) result.setup_seconds += facts_of(a, options.timeout_seconds).seconds;
    if (!result.converged() && options.on_failure == failure_policy::throw_error)
        throw not_converged(std::move(result));
    return result;
}

/// What the table calls: no preconditioner leaves the choice open.
template <class T>
solve_result solve_open(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                        const solver_options& options, const any_preconditioner<T>& m) {
    return solve_by_facts(a, b, x, options, m.is_identity() ? nullptr : &m);
}

void check_length(const char* what, std::size_t given, std::int64_t rows) {
    if (static_cast<std::int64_t>(given) != rows)
        throw usage_error(std::string("solve: ") + what + " has " + std::to_string(given) +
                          " entries, must have " + std::to_string(rows) + ", one a row");
}

} // namespace

template <class T>
solve_result solve(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                   const solver_options& options) {
    return solve_by_facts<T>(a, b, x, options, nullptr);
}

template <class T>
solve_result solve(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                   const solver_options& options,
                   const std::type_identity_t<any_preconditioner<T>>& m) {
    return solve_by_facts(a, b, x, options, &m);
}

template <class T>
solve_result solve(const matrix_operator<T>& a, const std::type_identity_t<csr_view<T>>& matrix,
                   const vector<T>& b, vector<T>& x, const solver_options& options,
                   const matrix_nodes& nodes) {
    return solve_by_facts<T>(a, b, x, options, nullptr, &matrix, nodes);
}

template <class T>
solve_result solve(const device_group& group, const csr_view<T>& matrix,
                   std::type_identity_t<std::span<const T>> b, std::type_identity_t<std::span<T>> x,
                   const solver_options& options, const matrix_nodes& nodes) {
    check_length("b", b.size(), matrix.rows);
    check_length("x", x.size(), matrix.columns);
    if (matrix.rows == matrix.columns) nodes.check(matrix.rows);
    const auto a = make_operator(group, matrix, {.block_size = nodes.block_size});
    check_square(*a, "solve");
    auto on_devices = a->make_range_vector("b");
    auto solution = a->make_range_vector("x");
    on_devices.upload(b);
    if (options.initial_guess) solution.upload(x);
    solve_result result = solve(*a, matrix, on_devices, solution, options, nodes);
    solution.download(x);
    return result;
}

template solve_result solve(const matrix_operator<double>&, const vector<double>&, vector<double>&,
                            const solver_options&);
template solve_result solve(const matrix_operator<float>&, const vector<float>&, vector<float>&,
                            const solver_options&);
template solve_result solve(const matrix_operator<double>&, const vector<double>&, vector<double>&,
                            const solver_options&, const any_preconditioner<double>&);
template solve_result solve(const matrix_operator<float>&, const vector<float>&, vector<float>&,
                            const solver_options&, const any_preconditioner<float>&);
template solve_result solve(const matrix_operator<double>&, const csr_view<double>&,
                            const vector<double>&, vector<double>&, const solver_options&,
                            const matrix_nodes&);
template solve_result solve(const matrix_operator<float>&, const csr_view<float>&,
                            const vector<float>&, vector<float>&, const solver_options&,
                            const matrix_nodes&);
template solve_result solve(const device_group&, const csr_view<double>&, std::span<const double>,
                            std::span<double>, const solver_options&, const matrix_nodes&);
template solve_result solve(const device_group&, const csr_view<float>&, std::span<const float>,
                            std::span<float>, const solver_options&, const matrix_nodes&);

constinit const solver_method solver_rows::automatic = {
    .name = "auto",
    .aliases = {"automatic", "default", "best"},
    .help = "takes any square matrix: by its facts cg, bicgstab or gmres, the next where one fails",
    .variant_of = nullptr,
    .for_comparison = false,
    .needs_spd = false,
    .needs_symmetric = false,
    .least_squares = false,
    .takes_varying = false,
    .has_sides = true,
    .restarts = true,
    .runs_everywhere = true,
    .recordable = true,
    .listed = false,
    .products = 1,
    .passes = [](const solver_setting&) { return std::optional<double>(); },
    .vectors = [](const solver_setting& s) { return solver_rows::gmres.vectors.get()(s); },
    .functions = solver_functions{solve_open<double>, solve_open<float>},
};

} // namespace krylith

#include <krylith/solvers/automatic.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/source/resident_matrix.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/solvers/automatic/attempts.hpp>
#include <krylith/solvers/automatic/operator_plan.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith {

namespace {

template <class T>
void check_nodes(const matrix_ref<T>& matrix, const matrix_nodes& nodes) {
    if (nodes.known() && matrix.rows() != matrix.columns())
        throw usage_error("solve: nodes are those of a square matrix; A is " +
                          std::to_string(matrix.rows()) + " x " + std::to_string(matrix.columns()));
    nodes.check(matrix.rows());
}

template <class T>
void check_matrix(const matrix_ref<T>& matrix, const matrix_operator<T>& a,
                  const matrix_nodes& nodes) {
    if (matrix.rows() != a.rows() || matrix.columns() != a.columns())
        throw usage_error("solve: a matrix of " + std::to_string(matrix.rows()) + " x " +
                          std::to_string(matrix.columns()) + " for an operator of " +
                          std::to_string(a.rows()) + " x " + std::to_string(a.columns()));
    check_nodes(matrix, nodes);
}

/// The one method for what is a problem of least squares; empty where solvers of square systems
/// take it.
template <class T>
std::vector<planned_method> plan_least_squares(const matrix_operator<T>& a,
                                               const solver_options& options) {
    const bool square = a.rows() == a.columns();
    if (square && options.damping == 0) return {};
    const std::string because = square ? "x is damped" : "the matrix is not square";
    if (!a.has_transposed())
        throw usage_error("solve: " + because + " (A is " + std::to_string(a.rows()) + " x " +
                          std::to_string(a.columns()) +
                          "), which takes products with A' too: make the operator with "
                          "operator_options::transposed_products = true");
    return {{&solver_rows::lsqr, nullptr, side::right, options.restart, because}};
}

/// `given` is null where M is chosen, and `matrix` where it is not at hand; `lent` is as attempts
/// have it.
template <class T>
solve_result choose_and_solve(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                              const solver_options& options, const any_preconditioner<T>* given,
                              const matrix_ref<T>* matrix, const matrix_nodes& nodes,
                              std::optional<distributed_csr<T>>* lent) {
    if (matrix != nullptr) check_matrix(*matrix, a, nodes);
    attempts<T> tries(a, b, x, options, matrix, nodes, lent);
    std::vector<planned_method> methods = plan_least_squares(a, options);
    double looking = 0;
    if (methods.empty()) {
        const bool known = a.kept().facts != nullptr;
        methods = plan_for(a, options, given, matrix, nodes);
        if (!known) looking = facts_of(a, options.timeout_seconds).seconds;
    }
    solve_result result = tries.run(methods, given);
    result.setup_seconds += looking;
    if (!result.converged() && options.on_failure == failure_policy::throw_error)
        throw not_converged(std::move(result));
    return result;
}

template <class T>
solve_result solve_by_facts(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                            const solver_options& options, const any_preconditioner<T>* given,
                            const matrix_ref<T>* matrix = nullptr, const matrix_nodes& nodes = {},
                            std::optional<distributed_csr<T>>* lent = nullptr) {
    return a.comm().together(
        [&] { return choose_and_solve(a, b, x, options, given, matrix, nodes, lent); });
}

/// What the table calls: no preconditioner leaves the choice open.
template <class T>
solve_result solve_open(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                        const solver_options& options, const any_preconditioner<T>& m) {
    return solve_by_facts(a, b, x, options, m.is_identity() ? nullptr : &m);
}

void check_length(const char* what, std::size_t given, std::int64_t length, const char* of_each) {
    if (static_cast<std::int64_t>(given) != length)
        throw usage_error(std::string("solve: ") + what + " has " + std::to_string(given) +
                          " entries, must have " + std::to_string(length) + ", one a " + of_each);
}

/// Brings b and x to the devices, solve_there(b, x), and x back.
template <class T, class Solve>
solve_result solve_arrays(const matrix_operator<T>& a, std::span<const T> b, std::span<T> x,
                          const solver_options& options, const Solve& solve_there) {
    return a.comm().together([&] {
        check_length("b", b.size(), a.rows(), "row");
        check_length("x", x.size(), a.columns(), "column");
        auto on_devices = a.make_range_vector("b");
        vector<T> solution(a.domain_layout(), "x");
        on_devices.upload(b);
        if (options.initial_guess) solution.upload(x);
        solve_result result = solve_there(on_devices, solution);
        solution.download(x);
        return result;
    });
}

/// Makes the operator of a matrix that devices get as it is, and leaves it in `lent`. Null where
/// their memory is short: an operator alone may fit.
template <class T>
std::unique_ptr<matrix_operator<T>>
make_lending(const communicator& comm, const csr_view<T>& matrix, const matrix_nodes& nodes,
             std::optional<distributed_csr<T>>& lent) {
    const auto& offsets = matrix.row_offsets;
    if (offsets.empty() || offsets.front() != 0 || offsets.back() < 0)
        (void)validate(matrix); // these can't be cut, and it says why
    const row_partition rows = partition_rows(matrix, comm.ranks(), nodes.block_size);
    try {
        lent.emplace(comm, matrix, rows, rows);
        return make_operator(*lent);
    } catch (const memory_error&) {
        lent.reset();
        return nullptr;
    }
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
solve_result solve(const matrix_operator<T>& a, const std::type_identity_t<matrix_ref<T>>& matrix,
                   const vector<T>& b, vector<T>& x, const solver_options& options,
                   const matrix_nodes& nodes) {
    return solve_by_facts<T>(a, b, x, options, nullptr, &matrix, nodes);
}

template <class T>
solve_result solve(const matrix_operator<T>& a, std::type_identity_t<std::span<const T>> b,
                   std::type_identity_t<std::span<T>> x, const solver_options& options) {
    return solve_arrays<T>(a, b, x, options, [&](const vector<T>& there, vector<T>& solution) {
        return solve(a, there, solution, options);
    });
}

template <class T>
solve_result solve(const matrix_operator<T>& a, std::type_identity_t<std::span<const T>> b,
                   std::type_identity_t<std::span<T>> x, const solver_options& options,
                   const std::type_identity_t<any_preconditioner<T>>& m) {
    return solve_arrays<T>(a, b, x, options, [&](const vector<T>& there, vector<T>& solution) {
        return solve(a, there, solution, options, m);
    });
}

template <class T>
solve_result solve(const matrix_operator<T>& a, const std::type_identity_t<matrix_ref<T>>& matrix,
                   std::type_identity_t<std::span<const T>> b, std::type_identity_t<std::span<T>> x,
                   const solver_options& options, const matrix_nodes& nodes) {
    return solve_arrays<T>(a, b, x, options, [&](const vector<T>& there, vector<T>& solution) {
        return solve(a, matrix, there, solution, options, nodes);
    });
}

template <class T>
solve_result solve(const communicator& comm, const csr_view<T>& matrix,
                   std::type_identity_t<std::span<const T>> b, std::type_identity_t<std::span<T>> x,
                   const solver_options& options, const matrix_nodes& nodes) {
    return comm.together([&] {
        check_length("b", b.size(), matrix.rows, "row");
        check_length("x", x.size(), matrix.columns, "column");
        check_nodes<T>(matrix, nodes);
        const bool least_squares = matrix.rows != matrix.columns || options.damping != 0;
        std::unique_ptr<matrix_operator<T>> a;
        std::optional<distributed_csr<T>> lent; // travels once, for the operator and for M
        if (makes_operators_there(comm) && !least_squares)
            a = make_lending(comm, matrix, nodes, lent);
        if (a == nullptr)
            a = make_operator(
                comm, matrix,
                {.transposed_products = least_squares, .block_size = nodes.block_size});
        const matrix_ref<T> given(matrix);
        return solve_arrays<T>(*a, b, x, options, [&](const vector<T>& there, vector<T>& solution) {
            return solve_by_facts<T>(*a, there, solution, options, nullptr, &given, nodes, &lent);
        });
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template solve_result solve(const matrix_operator<T>&, const vector<T>&, vector<T>&,           \
                                const solver_options&);                                            \
    template solve_result solve(const matrix_operator<T>&, const vector<T>&, vector<T>&,           \
                                const solver_options&, const any_preconditioner<T>&);              \
    template solve_result solve(const matrix_operator<T>&, const matrix_ref<T>&, const vector<T>&, \
                                vector<T>&, const solver_options&, const matrix_nodes&);           \
    template solve_result solve(const matrix_operator<T>&, std::span<const T>, std::span<T>,       \
                                const solver_options&);                                            \
    template solve_result solve(const matrix_operator<T>&, std::span<const T>, std::span<T>,       \
                                const solver_options&, const any_preconditioner<T>&);              \
    template solve_result solve(const matrix_operator<T>&, const matrix_ref<T>&,                   \
                                std::span<const T>, std::span<T>, const solver_options&,           \
                                const matrix_nodes&);                                              \
    template solve_result solve(const communicator&, const csr_view<T>&, std::span<const T>,       \
                                std::span<T>, const solver_options&, const matrix_nodes&);
#include <krylith/device/language/instantiate.inc>

constinit const solver_method solver_rows::automatic = {
    .name = "auto",
    .aliases = {"automatic", "default", "best"},
    .help = "takes any matrix: by its facts cg, bicgstab or gmres, the next where one fails; lsqr "
            "if not square",
    .needs_spd = false,
    .needs_symmetric = false,
    .has_sides = true,
    .restarts = true,
    .products = 1,
    .passes = [](const solver_setting&) { return std::optional<double>(); },
    .vectors = [](const solver_setting& s) { return solver_rows::gmres.vectors.get()(s); },
    .functions = solver_functions{solve_open<double>, solve_open<float>},
};

} // namespace krylith

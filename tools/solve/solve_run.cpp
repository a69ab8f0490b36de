#include <krylith/tools/solve/solve_run.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/distributed/local_files.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/matched_rows.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/tools/cli/method_help.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/near_null.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/stopwatch.hpp>
#include <krylith/tools/model/models.hpp>
#include <krylith/tools/report/sparsity.hpp>
#include <krylith/tools/solve/columns_run.hpp>
#include <krylith/tools/solve/failure_advice.hpp>
#include <krylith/tools/solve/operator_description.hpp>
#include <krylith/tools/solve/placement.hpp>
#include <krylith/tools/solve/shared_system.hpp>
#include <krylith/tools/solve/solve_report.hpp>

namespace krylith::tool {

namespace {

/// Each process gives all entries or its own.
template <class T>
double distance_from_ones(const communicator& comm, std::span<const T> x) {
    double largest = 0;
    const auto take = [&](double error) {
        if (!(error <= largest)) largest = error; // keeps a NaN
    };
    for (const T value : x) take(std::fabs(static_cast<double>(value) - 1));
    std::vector<double> of_ranks(as_size(comm.ranks()), largest);
    comm.all_gather(of_ranks);
    for (const double error : of_ranks) take(error);
    return largest;
}

/// A matrix and its right-hand sides: each process has them whole, or they share them.
template <class T>
struct loaded_system {
    csr_matrix<T> matrix; ///< empty where they share it
    dense_columns<T> b;
    std::optional<shared_system<T>> shared;

    /// The matrix where it is at hand.
    [[nodiscard]] const csr_matrix<T>* whole() const { return shared ? nullptr : &matrix; }
    [[nodiscard]] matrix_ref<T> ref() const {
        return shared ? matrix_ref<T>(shared->matrix) : matrix_ref<T>(csr_view<T>(matrix));
    }
};

/// Seconds until the values are on the devices.
template <class T>
double upload(vector<T>& to, std::span<const T> values, bool shared) {
    stopwatch watch;
    shared ? to.upload_local(values) : to.upload(values);
    to.layout()->comm.synchronize();
    return watch.lap();
}

template <class T>
void describe(solve_outcome& out, const loaded_system<T>& system) {
    out.rows = system.shared ? system.shared->rows.rows.rows() : system.matrix.rows;
    out.columns = system.shared ? system.shared->rows.columns.rows() : system.matrix.columns;
    out.nnz = system.shared ? system.shared->rows.nonzeros : system.matrix.nnz();
}

/// What the solve has brought.
template <class T>
void describe_solve(solve_outcome& out, const solve_request& request,
                    const loaded_system<T>& system, const matrix_operator<T>& a,
                    const any_preconditioner<T>& m) {
    if (const solve_attempt* const best = out.result.best_attempt()) {
        out.solver = best->solver;
        out.preconditioner = best->preconditioner;
        out.preconditioner_bytes = best->preconditioner_bytes;
        out.levels = best->levels;
        out.solver_because = best->because;
        if (!best->side.empty()) out.side = best->side;
        if (best->restart != 0) out.restart = best->restart;
    }
    out.kernel_uses = a.kernel_uses();
    if (!out.result.recorded) out.eager_because = why_eager(request, a, m);
    out.max_iterations = request.options.max_iterations;
    if (out.max_iterations < 0 && out.result.attempts.empty())
        out.max_iterations = std::min<std::int64_t>(10 * out.columns, 10000);
    if (out.rows != out.columns) { // models are of square matrices
        for (std::string& warning : placement_warnings(*a.range_layout()))
            out.warnings.push_back(std::move(warning));
        return;
    }
    out.bytes_an_iteration = traffic{out.rows, out.nnz, sizeof(T)}.iteration(
        {out.solver, out.preconditioner, std::min<std::int64_t>(out.restart, out.rows),
         out.result.iterations, request.options.damping > 0});
    for (std::string& warning : placement_warnings(*a.range_layout()))
        out.warnings.push_back(std::move(warning));
    if (system.shared) return;
    if (std::string advice = fewer_devices(a, csr_view<T>(system.matrix)); !advice.empty())
        out.warnings.push_back(std::move(advice));
}

/// Brings the rows, and the right-hand sides, into the order of matched_rows.
template <class T>
void match_rows(solve_outcome& out, const solver_method& solver, csr_matrix<T>& matrix,
                dense_columns<T>& b) {
    if (solver.needs_spd || solver.needs_symmetric)
        throw usage_error(fmt::format("--match-rows leaves no symmetry, which {} needs: allowed "
                                      "are gmres, bicgstab and others",
                                      solver.name));
    stopwatch watch;
    const matched_rows<T> matched(matrix);
    const std::size_t rows = as_size(b.rows);
    for (std::size_t j = 0; j < as_size(b.columns); ++j) {
        const std::span<T> column(b.values.data() + j * rows, rows);
        std::ranges::copy(matched.right_hand_side(column), column.begin());
    }
    matrix = matched.matrix();
    out.matched = {matched.moved(), matched.unmatched(), watch.lap()};
}

/// What a right-hand side of row sums is where they vanish.
template <class T>
std::string zero_rhs_warning(const vector_source& rhs, const loaded_system<T>& system) {
    if (rhs.what != vector_source::form::row_sums) return {};
    if (system.shared ? !system.shared->constants_vanish : !annihilates_constants(system.matrix))
        return {};
    return "--rhs row-sums is 0 up to rounding: A times ones vanishes, and A is singular. --rhs "
           "range:1, A times a random vector, has a solution that isn't constant";
}

/// Solves, with the times of both ways and of the solve in `out`, and saves x where that is asked
/// for. Returns x, of a shared system the entries of this process; of several processes none needs
/// it unless one saves it, or it is `checked`.
template <class T>
std::vector<T> solve_on_devices(solve_outcome& out, const solve_request& request,
                                const solve_watch& watch, const solver_method& solver,
                                const loaded_system<T>& system, const matrix_operator<T>& a,
                                const any_preconditioner<T>& m, const matrix_nodes& nodes,
                                bool checked) {
    solver_options options = request.checked_options();
    stopwatch clock;
    auto b = a.make_range_vector("b");
    vector<T> x(a.domain_layout(), "x");
    const bool shared = system.shared.has_value();
    out.transfer_seconds = upload<T>(b, shared ? system.shared->b : system.b.values, shared);
    std::vector<T> values;
    if (!request.x0.empty()) {
        const vector_source x0{vector_source::form::file, 0, request.x0};
        values = shared ? load_local_vector<T>(a.comm(), request.x0, x.layout()->rows)
                        : make_column_values("--x0", x0, system.matrix);
        out.transfer_seconds += upload<T>(x, values, shared);
    }
    {
        const solve_watch::running running(watch, options);
        out.result = &solver != &solver_rows::automatic ? solver.solve(a, b, x, options, m)
                     : request.chooses_preconditioner()
                         ? solve(a, system.ref(), b, x, options, nodes)
                         : solve(a, b, x, options, m);
    }
    out.setup_seconds += out.result.setup_seconds;
    const bool saved = !request.solution_file.empty();
    if (!a.comm().has_one_driver() && !a.comm().any(saved) && !checked) return {};
    (void)clock.lap();
    values.resize(as_size(shared ? x.local_rows().size() : out.columns));
    shared ? x.download_local(values) : x.download(values);
    out.transfer_seconds += clock.lap();
    if (shared)
        save_shared(request, x, values);
    else if (saved)
        save_vector<T>(request.solution_file, values, "solution of " + request.matrix);
    return values;
}

template <class T>
void add_warnings(solve_outcome& out, const vector_source& rhs, const solver_method& solver,
                  const matrix_operator<T>& a, const loaded_system<T>& system) {
    for (const std::string& warning : {rtol_warning<T>(out.result), zero_rhs_warning(rhs, system),
                                       asymmetry_warning(solver, out.result, a, system.whole())})
        if (!warning.empty()) out.warnings.push_back(warning);
}

} // namespace

bool solve_request::chooses_preconditioner() const {
    return solver == solver_rows::automatic.name && preconditioner == automatic_name;
}

std::string solve_request::preconditioner_text() const {
    return preconditioner == automatic_name ? identity::name() : preconditioner;
}

solver_options solve_request::checked_options() const {
    solver_options checked = options;
    checked.initial_guess = !x0.empty();
    checked.timeout_seconds = devices.timeout_seconds();
    checked.check();
    return checked;
}

std::optional<double> solve_outcome::bandwidth() const {
    const double seconds = result.seconds_per_iteration();
    if (!bytes_an_iteration || seconds <= 0) return std::nullopt;
    return *bytes_an_iteration / seconds * 1e-9;
}

namespace {

/// Loads the matrix, and b where processes share them; `comm` is null where it needs the matrix.
template <class T>
loaded_system<T> load_system(const solve_request& request, const communicator* comm,
                             const solver_method& solver, const vector_source& rhs,
                             solve_outcome& out) {
    file_report file;
    loaded_system<T> system;
    if (comm != nullptr && can_be_shared(request, *comm, solver))
        system.shared = load_shared<T>(*comm, request, rhs, file);
    const bool any_shape = solver.least_squares || request.chooses_preconditioner();
    if (!system.shared)
        system.matrix = load_square<T>(request.matrix, request.spd, &file, any_shape);
    if (file.changed_entries()) out.warnings.push_back(request.matrix + ": " + in_words(file));
    return system;
}

/// `comm` is empty where the number of devices needs the matrix.
template <class T>
solve_outcome read_and_solve(const solve_request& request, const solve_watch& watch,
                             std::optional<communicator> comm) {
    const solver_method* solver = &find_solver(request.solver);
    check_preconditioner(request.preconditioner);
    const std::string precondition = request.preconditioner_text();
    (void)parse_preconditioner(precondition);
    (void)request.checked_options(); // before the matrix is read
    operator_options multiply = request.multiply.options();
    const vector_source rhs = parse_vector_source("--rhs", request.rhs);

    solve_outcome out;
    stopwatch clock;
    loaded_system<T> system = load_system<T>(request, comm ? &*comm : nullptr, *solver, rhs, out);
    csr_matrix<T>& matrix = system.matrix;
    const bool rectangular = matrix.rows != matrix.columns;
    const bool damped = request.options.damping > 0 && solver == &solver_rows::automatic;
    if (rectangular || damped) solver = &solver_rows::lsqr;
    multiply.transposed_products = solver->least_squares;
    out.load_seconds = clock.lap();
    describe(out, system);
    watch.say(matrix_lines(request, out));
    if (request.sparsity)
        out.sparsity = svg(measure_density(csr_view<T>(matrix), plot_cells, plot_cells), "");
    (void)clock.lap();
    if (!system.shared) system.b = make_right_hand_sides(rhs, matrix);
    if (request.match_rows) match_rows(out, *solver, matrix, system.b);
    if (!comm)
        comm = fastest_devices(request.devices, multiply.kind, csr_view<T>(matrix),
                               out.devices_because);
    const near_null modes = find_near_null(
        request.matrix, request.spd, out.rows, request.coordinates,
        request.chooses_preconditioner() ? automatic_name : std::string_view(precondition));
    out.load_seconds += clock.lap();
    if (system.b.columns > 1) {
        comm->require_one_driver("--rhs with several columns");
        run_columns(request, watch, matrix, comm->devices(), modes, system.b, out);
        return out;
    }
    multiply.block_size = modes.block_size;
    // The usual format of host devices is that of the matrix, which stays.
    multiply.borrow = system.shared && comm->kind() == backend::host &&
                      (!multiply.format || multiply.format->borrows);
    if (system.shared) system.shared->make_matrix(*comm);
    const auto a = system.shared ? make_operator(system.shared->matrix, multiply)
                                 : make_operator(*comm, matrix, multiply);
    const auto m = make_preconditioner(precondition, *a, system.ref(), modes.nodes());
    comm->synchronize();
    out.setup_seconds = clock.lap();
    describe(out, request, *a, m);
    out.solver = solver->name;
    if ((rectangular || damped) && solver->name != request.solver)
        out.solver_because = rectangular ? "the matrix is not square" : "x is damped";
    watch.say(operator_lines(out));

    const bool checked = rhs.what == vector_source::form::row_sums;
    const std::vector<T> x =
        solve_on_devices(out, request, watch, *solver, system, *a, m, modes.nodes(), checked);
    if (checked) out.solution_error = distance_from_ones(*comm, std::span<const T>(x));
    describe_solve(out, request, system, *a, m);
    out.result.diagnosis = explained(request, out.result, system.whole());
    add_warnings(out, rhs, *solver, *a, system);
    return out;
}

} // namespace

template <class T>
solve_outcome run_solve(const solve_request& request, const solve_watch& watch,
                        process_team& team) {
    if (request.devices.devices == "auto") { // needs the matrix; the rest does not
        if (!team.has_one())
            throw usage_error("--devices is auto, and several processes solve: allowed is how many "
                              "each takes");
        return read_and_solve<T>(request, watch, std::nullopt);
    }
    const communicator comm = team.select(request.devices);
    return comm.together([&] { return read_and_solve<T>(request, watch, comm); });
}

template solve_outcome run_solve<double>(const solve_request&, const solve_watch&, process_team&);
template solve_outcome run_solve<float>(const solve_request&, const solve_watch&, process_team&);

} // namespace krylith::tool

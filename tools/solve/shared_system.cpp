#include <krylith/tools/solve/shared_system.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <krylith/spmv/table/operators.hpp>
#include <krylith/tools/cli/near_null.hpp>
#include <krylith/tools/solve/failure_advice.hpp>

namespace krylith::tool {

bool can_be_shared(const solve_request& request, const communicator& comm,
                   const solver_method& solver) {
    if (comm.has_one_driver()) return false;
    const bool pictured = comm.any(request.sparsity); // the first process alone writes a page
    const operator_options multiply = request.multiply.options();
    const bool usual = (!multiply.kind || multiply.kind == operators::halo) && !multiply.measure &&
                       !multiply.order;
    const bool as_it_is = !request.spd && !request.match_rows && !pictured &&
                          (request.coordinates.empty() || request.coordinates == "none");
    return !request.matrix.starts_with("gallery:") && usual && as_it_is && !solver.least_squares &&
           request.options.damping == 0;
}

template <class T>
std::optional<shared_system<T>> load_shared(const communicator& comm, const solve_request& request,
                                            const vector_source& rhs, file_report& report) {
    shared_system<T> result;
    result.rows = load_rows<T>(comm, request.matrix, {.report = &report},
                               named_block_size(request.preconditioner));
    if (result.rows.rows.rows() != result.rows.matrix.columns) return std::nullopt;
    result.b = make_local_values(comm, rhs, result.rows);
    if (rhs.what == vector_source::form::row_sums)
        result.constants_vanish = annihilates_constants(result.rows.matrix, &comm);
    return result;
}

template <class T>
void save_shared(const solve_request& request, const vector<T>& x, const std::vector<T>& values) {
    const communicator& comm = x.layout()->comm;
    if (!comm.any(!request.solution_file.empty())) return;
    save_local_vector<T>(comm, request.solution_file, x.layout()->rows, values,
                         "solution of " + request.matrix);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::optional<shared_system<T>> load_shared(                                          \
        const communicator&, const solve_request&, const vector_source&, file_report&);            \
    template void save_shared(const solve_request&, const vector<T>&, const std::vector<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::tool

#include <krylith/solvers/estimate.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/solvers/model/footprint.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

/// The footprint of the operator that is asked for.
const model::footprint& chosen(const std::vector<model::footprint>& all, operator_kind kind) {
    for (const model::footprint& f : all)
        if (f.devices == 1 || (kind == operators::automatic ? f.automatic : f.kind == kind))
            return f;
    for (const model::footprint& f : all) // of the operators that models know, `auto` takes none
        if (kind == operators::automatic && f.kind == operators::usual) return f;
    throw usage_error(std::string("estimate: what operator ") + to_string(kind) +
                      " needs follows from its own plan only; allowed are those that `krylith "
                      "info` lists");
}

} // namespace

template <class T>
memory_estimate estimate(const communicator& comm, const csr_view<T>& matrix,
                         const solve_plan& plan) {
    const int devices = comm.ranks();
    const auto all = model::footprints(matrix, std::span(&devices, 1));
    const model::footprint& f = chosen(all, plan.multiply.kind);
    const auto format_of = [&](const model::footprint& footprint) {
        if (plan.multiply.format != formats::automatic) return plan.multiply.format;
        return comm.kind() == backend::cuda ? footprint.cuda_format : formats::csr;
    };
    std::int64_t matrix_bytes = f.matrix_bytes(format_of(f));
    if (find_solver(plan.solver).least_squares) {
        const csr_matrix<T> transposed = transpose(matrix);
        const auto all_transposed =
            model::footprints(csr_view<T>(transposed), std::span(&devices, 1));
        const model::footprint& t = chosen(all_transposed, f.kind);
        matrix_bytes += t.matrix_bytes(format_of(t));
    }
    const model::method with{plan.solver, plan.preconditioner, plan.restart, plan.restart,
                             plan.damped};
    const model::method_bytes bytes = f.bytes_of(with);
    return {matrix_bytes, bytes.given, bytes.workspace, bytes.preconditioner};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template memory_estimate estimate(const communicator&, const csr_view<T>&, const solve_plan&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

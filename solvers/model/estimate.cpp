#include <krylith/solvers/estimate.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/solvers/model/footprint.hpp>

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
memory_estimate estimate(const device_group& group, const csr_view<T>& matrix,
                         const solve_plan& plan) {
    const int devices = group.size();
    const auto all = model::footprints(matrix, std::span(&devices, 1));
    const model::footprint& f = chosen(all, plan.multiply.kind);
    format_kind format = plan.multiply.format;
    if (format == formats::automatic)
        format = group.kind() == backend::cuda ? f.cuda_format : formats::csr;
    const model::method with{plan.solver, plan.preconditioner, plan.restart, plan.restart};
    const model::method_bytes bytes = f.bytes_of(with);
    return {f.matrix_bytes(format), bytes.given, bytes.workspace, bytes.preconditioner};
}

template memory_estimate estimate(const device_group&, const csr_view<double>&, const solve_plan&);
template memory_estimate estimate(const device_group&, const csr_view<float>&, const solve_plan&);

} // namespace krylith

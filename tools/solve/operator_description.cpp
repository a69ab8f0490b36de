#include <krylith/tools/solve/operator_description.hpp>

#include <fmt/format.h>

#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/solve/placement.hpp>

namespace krylith::tool {

template <class T>
void describe(solve_outcome& out, const solve_request& request, const matrix_operator<T>& a,
              const any_preconditioner<T>& m) {
    out.devices = descriptions(a.comm());
    out.kind = a.comm().kind();
    out.processes = a.comm().drivers();
    out.operator_name = to_string(a.kind());
    out.operator_because = why_operator(a, request.multiply.options());
    if (a.choice() != nullptr) {
        out.rates_from = a.choice()->rates_from;
        out.predictions = a.choice()->predictions;
        out.trials = a.choice()->measured;
        out.fractions = a.choice()->fractions;
    }
    out.transport = to_string(a.transport());
    out.transport_because = why_transport(a, request.multiply.options());
    out.format_name = a.format_name();
    out.narrow_fraction = a.narrow_fraction();
    out.solver = request.solver;
    out.side = to_string(request.options.preconditioning);
    out.restart = request.options.restart;
    out.preconditioner = m.name();
    out.preconditioner_bytes = m.bytes();
    out.levels = m.levels();
    out.reordered = a.reordered();
}

template <class T>
std::string why_eager(const solve_request& request, const matrix_operator<T>& a,
                      const any_preconditioner<T>& m) {
    if (request.options.mode == execution_mode::eager) return "--execution eager";
    if (!a.recordable() && !a.transport()->recordable)
        return std::string("transport ") + to_string(a.transport()) + " can't be recorded";
    if (!a.recordable() && !a.kind()->eager_because.empty())
        return fmt::format("operator {}: {}", to_string(a.kind()),
                           static_cast<std::string_view>(a.kind()->eager_because));
    if (!a.recordable()) return "format " + a.format_name() + " can't be recorded";
    if (!m.recordable()) return "preconditioner " + m.name() + " can't be recorded";
    return a.comm().serialised_because();
}

template std::string why_eager(const solve_request&, const matrix_operator<double>&,
                               const any_preconditioner<double>&);
template std::string why_eager(const solve_request&, const matrix_operator<float>&,
                               const any_preconditioner<float>&);
template void describe(solve_outcome&, const solve_request&, const matrix_operator<double>&,
                       const any_preconditioner<double>&);
template void describe(solve_outcome&, const solve_request&, const matrix_operator<float>&,
                       const any_preconditioner<float>&);

} // namespace krylith::tool

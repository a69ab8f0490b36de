#include "options.hpp"

#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <krylith/device/error.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/spmv/operator_options.hpp>

namespace krylith::python {

namespace {

side parse_side(const std::string& name) {
    for (const side where : {side::left, side::right, side::split})
        if (name == to_string(where)) return where;
    throw usage_error("side is '" + name + "': allowed are left, right and split");
}

} // namespace

void bind_options(nb::module_& m) {
    using o = solver_options;
    nb::class_<o>(m, "SolverOptions")
        .def(nb::init<>())
        .def_rw("rtol", &o::rtol, nb::arg().none())
        .def_rw("atol", &o::atol)
        .def_rw("rtol_normal", &o::rtol_normal, nb::arg().none())
        .def_rw("damping", &o::damping)
        .def_rw("max_iterations", &o::max_iterations)
        .def_rw("restart", &o::restart)
        .def_rw("polynomial_degree", &o::polynomial_degree)
        .def_rw("shadow_vectors", &o::shadow_vectors)
        .def_rw("initial_guess", &o::initial_guess)
        .def_rw("divergence_tolerance", &o::divergence_tolerance)
        .def_rw("stagnation_window", &o::stagnation_window)
        .def_rw("stagnation_gain", &o::stagnation_gain)
        .def_rw("history", &o::history)
        .def_rw("max_seconds", &o::max_seconds)
        .def_rw("timeout_seconds", &o::timeout_seconds)
        .def_prop_rw(
            "side", [](const o& s) { return std::string(to_string(s.preconditioning)); },
            [](o& s, const std::string& name) { s.preconditioning = parse_side(name); });

    nb::class_<operator_options>(m, "OperatorOptions")
        .def(
            "__init__",
            [](operator_options* self, std::string kind, const std::string& format,
               const std::string& order, const std::string& transport, int block_size) {
                constexpr std::string_view by_trial = ":measured";
                operator_options result;
                result.measure = kind.ends_with(by_trial);
                if (result.measure) kind.resize(kind.size() - by_trial.size());
                result.kind = parse_operator_kind(kind);
                result.format = parse_format_kind(format);
                result.order = parse_reordering(order);
                result.transport = parse_transport_kind(transport);
                result.block_size = block_size;
                new (self) operator_options(result);
            },
            nb::kw_only(), nb::arg("kind"), nb::arg("format"), nb::arg("order"),
            nb::arg("transport"), nb::arg("block_size"));
}

} // namespace krylith::python

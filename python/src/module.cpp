// The module krylith._krylith, which the package krylith wraps. It is not for users.
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <krylith/config.hpp>
#include <krylith/device/libraries/shared_library.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/solver_table.hpp>

#include "errors.hpp"
#include "group.hpp"
#include "operator.hpp"
#include "options.hpp"
#include "outcome.hpp"

namespace nb = nanobind;

NB_MODULE(_krylith, m) {
    using namespace krylith::python;
    nb::set_leak_warnings(false); // operators of modules live until the process ends
    bind_errors();
    bind_group(m);
    bind_options(m);
    bind_outcome(m);
    bind_operator<double>(m, "64");
    bind_operator<float>(m, "32");
    m.attr("version") = KRYLITH_VERSION;
    m.attr("have_cuda") = static_cast<bool>(KRYLITH_HAVE_CUDA);
    m.attr("have_metis") = static_cast<bool>(KRYLITH_HAVE_METIS);
    m.def("look_for_libraries_in", &krylith::look_for_libraries_in);
    m.def("solver_names", [] { return krylith::solver_names(); });
    m.def("preconditioner_names", [] { return krylith::preconditioner_names(); });
    m.def("solver_help", [](const std::string& name) {
        return std::string(static_cast<std::string_view>(krylith::find_solver(name).help));
    });
}

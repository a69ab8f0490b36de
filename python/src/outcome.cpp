#include "outcome.hpp"

#include <utility>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"

namespace krylith::python {

namespace {

nb::dict as_dict(const solve_attempt& a) {
    nb::dict d;
    d["solver"] = a.solver;
    d["preconditioner"] = a.preconditioner;
    d["side"] = a.side;
    d["restart"] = a.restart;
    d["because"] = a.because;
    d["refused"] = a.refused;
    d["reason"] = to_string(a.reason);
    d["iterations"] = a.iterations;
    d["seconds"] = a.seconds;
    d["relative_residual"] = a.relative_residual;
    return d;
}

// SciPy's info: 0 where converged, above it where more iterations might have helped, and below it
// where the method broke down.
int status(const solve_result& r) {
    if (r.converged()) return 0;
    switch (r.reason) {
    case reason::breakdown: return -1;
    case reason::indefinite_matrix: return -2;
    case reason::indefinite_preconditioner: return -3;
    case reason::not_a_number: return -4;
    case reason::out_of_range: return -5;
    case reason::diverged: return -6;
    default: return static_cast<int>(std::clamp<std::int64_t>(r.iterations, 1, 1 << 30));
    }
}

} // namespace

void bind_outcome(nb::module_& m) {
    const auto get = [](auto member) {
        return [member](const outcome& o) { return o.result.*member; };
    };
    using r = solve_result;
    nb::class_<outcome>(m, "Outcome")
        .def_ro("solver", &outcome::solver)
        .def_ro("preconditioner", &outcome::preconditioner)
        .def_rw("copies", &outcome::copies)
        .def_prop_ro("status", [](const outcome& o) { return status(o.result); })
        .def_prop_ro("reason",
                     [](const outcome& o) { return std::string(to_string(o.result.reason)); })
        .def_prop_ro("iterations", get(&r::iterations))
        .def_prop_ro("rhs_norm", get(&r::rhs_norm))
        .def_prop_ro("rtol", get(&r::rtol))
        .def_prop_ro("residual", get(&r::recurrence_residual))
        .def_prop_ro("true_residual", get(&r::true_residual))
        .def_prop_ro("setup_seconds", get(&r::setup_seconds))
        .def_prop_ro("solve_seconds", get(&r::solve_seconds))
        .def_prop_ro("replacements", get(&r::replacements))
        .def_prop_ro("recorded", get(&r::recorded))
        .def_prop_ro("diagnosis", get(&r::diagnosis))
        .def_prop_ro("bytes", get(&r::bytes))
        .def_prop_ro("history",
                     [](const outcome& o) { return copied(std::vector(o.result.history)); })
        .def_prop_ro("attempts",
                     [](const outcome& o) {
                         nb::list list;
                         for (const solve_attempt& a : o.result.attempts) list.append(as_dict(a));
                         return list;
                     })
        .def_prop_ro("spectrum",
                     [](const outcome& o) -> nb::object {
                         if (!o.result.spectrum) return nb::none();
                         return nb::make_tuple(o.result.spectrum->smallest,
                                               o.result.spectrum->largest);
                     })
        .def_prop_ro("normal_residual", [](const outcome& o) -> nb::object {
            if (!o.result.normal) return nb::none();
            return nb::float_(o.result.normal->norm);
        });
}

} // namespace krylith::python

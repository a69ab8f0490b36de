// The classes Operator64 and Operator32 of the module, for the two files that make them.
#pragma once

#include <tuple>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <krylith/matrix/load.hpp>
#include <krylith/precond/preconditioner.hpp>

#include "interpreter_lock.hpp"
#include "solve_impl.hpp"

namespace krylith::python {

using group_pointer = std::shared_ptr<group_handle>;

/// An array of indices: its address, and whether they have 64 bits.
using index_address = std::pair<std::uintptr_t, bool>;
[[nodiscard]] inline index_array as_indices(const index_address& of) {
    // NOLINTBEGIN: an address
    return of.second ? index_array(reinterpret_cast<const std::int64_t*>(of.first))
                     : index_array(reinterpret_cast<const std::int32_t*>(of.first));
    // NOLINTEND
}

/// Rows, offsets, columns, the address of the values, and entries.
using part_addresses =
    std::tuple<std::int64_t, index_address, index_address, std::uintptr_t, std::int64_t>;

template <class T, class Index>
void bind_lent_arrays(nb::class_<host_matrix<T>>& c) {
    c.def(nb::init<std::int64_t, std::int64_t, const host_array<const Index>&,
                   const host_array<const Index>&, host_array<const T>, bool>(),
          nb::arg("rows"), nb::arg("columns"), nb::arg("indptr").noconvert(),
          nb::arg("indices").noconvert(), nb::arg("data").noconvert(), nb::arg("lend"));
}

template <class T, class Index>
void bind_arrays(nb::class_<kept_operator<T>>& c) {
    using kept = kept_operator<T>;
    using indices = host_array<const Index>;
    using values = host_array<const T>;
    c.def_static(
        "from_csr",
        [](group_pointer group, std::pair<std::int64_t, std::int64_t> shape, const indices& offsets,
           const indices& columns, values entries, bool lend, const operator_options& options,
           const kept* like) {
            auto matrix = std::make_unique<host_matrix<T>>(shape.first, shape.second, offsets,
                                                           columns, std::move(entries), lend);
            return std::make_unique<kept>(std::move(group), std::move(matrix), options, like);
        },
        nb::arg("group"), nb::arg("shape"), nb::arg("indptr").noconvert(),
        nb::arg("indices").noconvert(), nb::arg("data").noconvert(), nb::arg("lend"),
        nb::arg("options"), nb::arg("like").none());
    c.def_static(
        "from_coo",
        [](group_pointer group, std::pair<std::int64_t, std::int64_t> shape, const indices& rows,
           const indices& columns, const values& entries, const operator_options& options,
           const kept* like) {
            auto matrix =
                std::make_unique<host_matrix<T>>(shape.first, shape.second, rows, columns, entries);
            return std::make_unique<kept>(std::move(group), std::move(matrix), options, like);
        },
        nb::arg("group"), nb::arg("shape"), nb::arg("row").noconvert(), nb::arg("col").noconvert(),
        nb::arg("data").noconvert(), nb::arg("options"), nb::arg("like").none());
}

template <class T>
void bind_preconditioner(nb::module_& m, const std::string& suffix) {
    using named = named_preconditioner<T>;
    nb::class_<named>(m, ("Preconditioner" + suffix).c_str())
        .def_prop_ro("name", [](const named& p) { return p.m.name(); })
        .def_prop_ro("nbytes", [](const named& p) { return p.m.bytes(); })
        .def_prop_ro("levels",
                     [](const named& p) {
                         nb::list list;
                         for (const multigrid_level_facts& level : p.m.levels()) {
                             nb::dict d;
                             d["rows"] = level.rows;
                             d["nonzeros"] = level.nonzeros;
                             d["format"] = level.format;
                             list.append(d);
                         }
                         return list;
                     })
        .def_prop_ro("complexity",
                     [](const named& p) { return operator_complexity(p.m.levels()); });
}

/// An operator of a function that refers to the operator is garbage once nobody else does.
template <class T>
int visit_product(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<kept_operator<T>>(self)->product().ptr());
    return 0;
}
template <class T>
int clear_product(PyObject* self) {
    nb::inst_ptr<kept_operator<T>>(self)->drop_product();
    return 0;
}

template <class T>
void bind_operator(nb::module_& m, const char* suffix) {
    using kept = kept_operator<T>;
    static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_product<T>)},
                                  {Py_tp_clear, reinterpret_cast<void*>(clear_product<T>)},
                                  {0, nullptr}};
    bind_preconditioner<T>(m, suffix);
    nb::class_<host_matrix<T>> matrix(m, (std::string("Matrix") + suffix).c_str());
    bind_lent_arrays<T, std::int32_t>(matrix);
    bind_lent_arrays<T, std::int64_t>(matrix);
    nb::class_<kept> c(m, (std::string("Operator") + suffix).c_str(), nb::type_slots(slots));
    bind_arrays<T, std::int32_t>(c);
    bind_arrays<T, std::int64_t>(c);
    c.def_static(
        "from_file",
        [](group_pointer group, const std::string& name, const operator_options& options,
           const kept* like) {
            std::unique_ptr<host_matrix<T>> matrix;
            {
                const without_lock released;
                matrix = std::make_unique<host_matrix<T>>(load_matrix<T>(name));
            }
            return std::make_unique<kept>(std::move(group), std::move(matrix), options, like);
        },
        nb::arg("group"), nb::arg("name"), nb::arg("options"), nb::arg("like").none());
    c.def_static(
        "from_function",
        [](group_pointer group, std::pair<std::int64_t, std::int64_t> shape, nb::object product,
           const std::string& where) {
            const product_kind kind = where == "device"           ? product_kind::on_device
                                      : where == "device eagerly" ? product_kind::on_device_eagerly
                                                                  : product_kind::on_host;
            return std::make_unique<kept>(std::move(group), shape.first, shape.second,
                                          std::move(product), kind);
        },
        nb::arg("group"), nb::arg("shape"), nb::arg("product"), nb::arg("where"));
    c.def_static(
        "from_devices",
        [](group_pointer group, const std::vector<part_addresses>& given, std::int64_t columns,
           nb::object arrays, const operator_options& options, const kept* like) {
            std::vector<csr_part<T>> parts;
            std::vector<std::int64_t> nonzeros;
            for (const auto& [rows, indptr, indices, data, entries] : given) {
                parts.push_back({rows, as_indices(indptr), as_indices(indices),
                                 reinterpret_cast<const T*>(data)}); // NOLINT: an address
                nonzeros.push_back(entries);
            }
            auto rows = std::make_unique<device_rows<T>>(std::move(parts), std::move(nonzeros),
                                                         columns, std::move(arrays));
            return std::make_unique<kept>(std::move(group), std::move(rows), options, like);
        },
        nb::arg("group"), nb::arg("parts"), nb::arg("columns"), nb::arg("arrays"),
        nb::arg("options"), nb::arg("like").none());

    c.def_prop_ro("shape", [](const kept& k) { return std::pair(k.a().rows(), k.a().columns()); });
    c.def_prop_ro("local_shape", &kept::local_shape);
    c.def_prop_ro("nnz", &kept::nonzeros);
    c.def("explain", &kept::explain);
    c.def("csr", [](const kept& k) -> nb::object { // copies: they outlive the operator
        if (k.matrix() == nullptr) return nb::none();
        const csr_view<T>& v = *k.matrix();
        return nb::make_tuple(
            copied(std::vector<T>(v.values.begin(), v.values.end())),
            copied(std::vector<std::int32_t>(v.column_indices.begin(), v.column_indices.end())),
            copied(std::vector<std::int64_t>(v.row_offsets.begin(), v.row_offsets.end())));
    });
    c.def(
        "multiply",
        [](kept& k, const host_array<const T>& x, const host_array<T>& y) { k.multiply(x, y); },
        nb::arg("x").noconvert(), nb::arg("y").noconvert());
    c.def(
        "multiply_on_devices",
        [](kept& k, const device_array& x, const device_array& y) { k.multiply(x, y); },
        nb::arg("x"), nb::arg("y"));
    c.def(
        "update", [](kept& k, const host_array<const T>& values) { k.update(values); },
        nb::arg("values").noconvert());
    c.def(
        "update_on_devices",
        [](kept& k, const device_array& values, nb::object arrays) {
            k.update(values, std::move(arrays));
        },
        nb::arg("values"), nb::arg("arrays"));
    c.def_prop_ro("in_host_memory", [](const kept& k) { return k.matrix() != nullptr; });
    c.def("check_idle", [](const kept& k) { check_idle(k.group()); });
    c.def_prop_ro("ordered", [](const kept& k) { // arrays on devices aren't in the rows' order
        return k.a().range_layout()->order != nullptr || k.a().domain_layout()->order != nullptr;
    });
    c.def("transposed", &kept::transposed);
    c.def("update_transposed", &kept::update_transposed, nb::arg("transposed"));
    c.def(
        "make",
        [](kept& k, std::string text, int block_size, const host_array<const double>& near_null) {
            const auto vectors = as_span(near_null);
            return k.make(std::move(text), block_size, {vectors.begin(), vectors.end()});
        },
        nb::arg("text"), nb::arg("block_size"), nb::arg("near_null").noconvert());
    using matrices = std::vector<const host_matrix<T>*>;
    c.def(
        "make_of_levels",
        [](kept& k, const matrices& a, const matrices& p, const matrices& r,
           const std::string& options) {
            std::vector<multigrid_level_matrices<T>> levels;
            for (const host_matrix<T>* of : a) levels.push_back({of->view()});
            for (std::size_t at = 0; at + 1 < levels.size(); ++at) {
                levels[at].prolongation = p.at(at)->view();
                levels[at].restriction = r.at(at)->view();
            }
            return k.make_of_levels(levels, options);
        },
        nb::arg("a"), nb::arg("p"), nb::arg("r"), nb::arg("options"));
    c.def("refresh", &kept::refresh, nb::arg("m"));
    c.def("precondition", &kept::precondition, nb::arg("m"), nb::arg("r").noconvert(),
          nb::arg("z").noconvert());
    c.def("release_workspace", &kept::release_workspace);

    const auto call = [](std::string solver, const solver_options& options, nb::object m,
                         nb::object callback, std::string type, bool signals) {
        return solve_call{std::move(solver),   options,         std::move(m),
                          std::move(callback), std::move(type), signals};
    };
    c.def(
        "solve",
        [call](kept& k, const host_array<const T>& b, const host_array<T>& x, std::string solver,
               const solver_options& options, nb::object m, nb::object callback, std::string type,
               bool signals) {
            return k.solve(b, x,
                           call(std::move(solver), options, std::move(m), std::move(callback),
                                std::move(type), signals));
        },
        nb::arg("b").noconvert(), nb::arg("x").noconvert(), nb::arg("solver"), nb::arg("options"),
        nb::arg("m").none(), nb::arg("callback").none(), nb::arg("callback_type"),
        nb::arg("signals"));
    c.def(
        "solve_on_devices",
        [call](kept& k, const device_array& b, const device_array& x, std::string solver,
               const solver_options& options, nb::object m, nb::object callback, std::string type,
               bool signals) {
            return k.solve(b, x,
                           call(std::move(solver), options, std::move(m), std::move(callback),
                                std::move(type), signals));
        },
        nb::arg("b"), nb::arg("x"), nb::arg("solver"), nb::arg("options"), nb::arg("m").none(),
        nb::arg("callback").none(), nb::arg("callback_type"), nb::arg("signals"));
    c.def(
        "solve_columns",
        [call](kept& k, const host_array<const T>& b, const host_array<T>& x, int columns,
               std::string solver, const solver_options& options, nb::object m) {
            return k.solve_columns(
                b, x, columns,
                call(std::move(solver), options, std::move(m), nb::none(), "progress", false));
        },
        nb::arg("b").noconvert(), nb::arg("x").noconvert(), nb::arg("columns"), nb::arg("solver"),
        nb::arg("options"), nb::arg("m").none());
}

} // namespace krylith::python

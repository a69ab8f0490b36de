#include <krylith/adapters/petsc/ksp_options.hpp>

#include <sstream>

#include <strings.h>

#include <krylith/adapters/petsc/checked.hpp>
#include <krylith/device/error.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith::petsc {

namespace {

side side_of(PCSide where) {
    switch (where) {
    case PC_LEFT: return side::left;
    case PC_SYMMETRIC: return side::split;
    default: return side::right;
    }
}

// The macros of PETSc's that read options name the database so.
PetscErrorCode read(PetscOptionItems* PetscOptionsObject, const char* name, const char* help,
                    std::string& value) {
    char text[1024];
    PetscBool given = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(PetscOptionsString(name, help, "", value.c_str(), text, sizeof text, &given));
    if (given) value = text;
    PetscFunctionReturn(0);
}

PetscErrorCode read(PetscOptionItems* PetscOptionsObject, const char* name, const char* help,
                    int& value) {
    PetscInt number = value;
    PetscFunctionBegin;
    PetscCall(PetscOptionsBoundedInt(name, help, "", number, &number, nullptr, 0));
    value = static_cast<int>(number);
    PetscFunctionReturn(0);
}

PetscErrorCode read(PetscOptionItems* PetscOptionsObject, const char* name, const char* help,
                    double& value) {
    PetscFunctionBegin;
    PetscCall(PetscOptionsReal(name, help, "", value, &value, nullptr));
    PetscFunctionReturn(0);
}

/// Calls see(name, help, value) for each option.
template <class See>
void visit(ksp_options& o, const See& see) {
    see("-krylith_method", "Solver, such as cg; auto chooses", o.method);
    see("-krylith_M", "Preconditioner, such as amg:theta=0.1", o.m);
    see("-krylith_devices", "How many a process, or numbers of GPUs, as 0,2", o.devices);
    see("-krylith_backend", "host or cuda", o.backend);
    see("-krylith_threads", "Threads of a process; 0: its cores", o.threads);
    see("-krylith_kind", "How products are spread over devices", o.kind);
    see("-krylith_format", "How devices keep the matrix", o.format);
    see("-krylith_transport", "How entries of x reach other devices", o.transport);
    see("-krylith_restart", "Vectors of the basis of gmres", o.restart);
    see("-krylith_polynomial_degree", "l of bicgstab_l", o.polynomial_degree);
    see("-krylith_shadow_vectors", "s of idr", o.shadow_vectors);
    see("-krylith_stagnation_window", "Iterations without progress", o.stagnation_window);
    see("-krylith_stagnation_gain", "What counts as progress", o.stagnation_gain);
    see("-krylith_max_seconds", "Seconds of a solve", o.max_seconds);
    see("-krylith_timeout_seconds", "Seconds that devices wait for others", o.timeout_seconds);
}

} // namespace

void ksp_options::check() const {
    if (find_solver(method).least_squares)
        throw usage_error("krylith_method is '" + method +
                          "', which needs the transposed matrix: allowed are methods for square "
                          "matrices");
    if (!m.empty() && m != "auto") (void)parse_preconditioner(m);
    (void)of_operator(1);
    if (!backend.empty() && backend != "host" && backend != "cuda")
        throw usage_error("krylith_backend is '" + backend + "': allowed are host and cuda");
}

operator_options ksp_options::of_operator(int block_size) const {
    operator_options result;
    result.kind = parse_operator_kind(kind);
    result.format = parse_format_kind(format);
    result.transport = parse_transport_kind(transport);
    result.block_size = block_size;
    return result;
}

solver_options ksp_options::of_solve(KSP ksp) const {
    return {.rtol = ksp->rtol,
            .atol = ksp->abstol,
            .max_iterations = ksp->max_it,
            .restart = restart,
            .polynomial_degree = polynomial_degree,
            .shadow_vectors = shadow_vectors,
            .initial_guess = ksp->guess_zero == PETSC_FALSE,
            .preconditioning = side_of(ksp->pc_side),
            .divergence_tolerance = ksp->divtol,
            .stagnation_window = stagnation_window,
            .stagnation_gain = stagnation_gain,
            .max_seconds = max_seconds,
            .timeout_seconds = timeout_seconds};
}

PetscErrorCode read_options(PetscOptionItems* database, ksp_options& options) {
    PetscErrorCode failure = static_cast<PetscErrorCode>(0);
    PetscFunctionBegin;
    visit(options, [&](const char* name, const char* help, auto& value) {
        if (!failure) failure = read(database, name, help, value);
    });
    PetscCall(failure);
    PetscFunctionReturn(0);
}

void refuse_unknown_options(KSP ksp) {
    const auto* const object = reinterpret_cast<PetscObject>(ksp);
    const std::string begin =
        "-" + std::string(object->prefix != nullptr ? object->prefix : "") + "krylith_";
    char* all = nullptr;
    petsc::check(PetscOptionsGetAll(object->options, &all));
    std::istringstream given(all);
    petsc::check(PetscFree(all));
    for (std::string word; given >> word;) {
        if (strncasecmp(word.c_str(), begin.c_str(), begin.size()) != 0) continue;
        const std::string name = "-krylith_" + word.substr(begin.size());
        bool known = false;
        std::string names;
        ksp_options none;
        visit(none, [&](const char* one, const char*, const auto&) {
            known = known || strcasecmp(one, name.c_str()) == 0;
            names += (names.empty() ? "" : " ") + std::string(one);
        });
        if (!known) throw usage_error("unknown option " + word + ": allowed are " + names);
    }
}

} // namespace krylith::petsc

#include <krylith/adapters/petsc/ksp_options.hpp>

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

} // namespace

void ksp_options::check() const {
    (void)find_solver(method);
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

PetscErrorCode read_options(PetscOptionItems* database, ksp_options& o) {
    PetscFunctionBegin;
    PetscCall(read(database, "-krylith_method", "Solver, such as cg; auto chooses", o.method));
    PetscCall(read(database, "-krylith_M", "Preconditioner, such as amg:theta=0.1", o.m));
    PetscCall(read(database, "-krylith_devices", "How many a process, or GPUs, as 0,2", o.devices));
    PetscCall(read(database, "-krylith_backend", "host or cuda", o.backend));
    PetscCall(read(database, "-krylith_threads", "Threads of a process; 0: its cores", o.threads));
    PetscCall(read(database, "-krylith_kind", "How products are spread over devices", o.kind));
    PetscCall(read(database, "-krylith_format", "How devices keep the matrix", o.format));
    PetscCall(read(database, "-krylith_transport", "How entries of x cross", o.transport));
    PetscCall(read(database, "-krylith_restart", "Vectors of the basis of gmres", o.restart));
    PetscCall(read(database, "-krylith_polynomial_degree", "l of bicgstab_l", o.polynomial_degree));
    PetscCall(read(database, "-krylith_shadow_vectors", "s of idr", o.shadow_vectors));
    PetscCall(read(database, "-krylith_stagnation_window", "Iterations without progress",
                   o.stagnation_window));
    PetscCall(read(database, "-krylith_stagnation_gain", "What counts as progress",
                   o.stagnation_gain));
    PetscCall(read(database, "-krylith_max_seconds", "Seconds of a solve", o.max_seconds));
    PetscCall(read(database, "-krylith_timeout_seconds", "Seconds that devices wait for others",
                   o.timeout_seconds));
    PetscFunctionReturn(0);
}

} // namespace krylith::petsc

#include <krylith/tools/solve/solver_registry.hpp>

#include <array>

#include <krylith/tools/cli/names.hpp>

namespace krylith::tool {

namespace {

constexpr std::array<std::string_view, 6> names = {"cg",    "cg:auto",    "cg:persistent",
                                                   "gmres", "gmres:cgs2", "bicgstab"};

/// What others call them. CG with Jacobi is `cg` with a preconditioner.
constexpr std::array<name_alias, 8> aliases = {{{"pcg", "cg"},
                                                {"conjugategradient", "cg"},
                                                {"conjugategradients", "cg"},
                                                {"pgmres", "gmres"},
                                                {"fgmres", "gmres"},
                                                {"bicg", "bicgstab"},
                                                {"bcgs", "bicgstab"},
                                                {"bicgstabl", "bicgstab"}}};

constexpr std::array<std::string_view, 2> preconditioners = {"none", "jacobi"};
constexpr std::array<name_alias, 6> preconditioner_aliases = {{{"diagonal", "jacobi"},
                                                               {"diag", "jacobi"},
                                                               {"pointjacobi", "jacobi"},
                                                               {"identity", "none"},
                                                               {"no", "none"},
                                                               {"off", "none"}}};

template <class T>
constexpr std::array<solver_function<T>, names.size()> functions = {
    solve_cg<T>,    solve_automatic_cg<T>, solve_persistent_cg<T>,
    solve_gmres<T>, solve_gmres_cgs2<T>,   solve_bicgstab<T>};

} // namespace

std::span<const std::string_view> solver_names() {
    return names;
}

std::span<const std::string_view> preconditioner_names() {
    return preconditioners;
}

template <class T>
solver_function<T> find_solver(std::string_view name) {
    check_name("solver", name, names, aliases);
    std::size_t i = 0;
    while (names[i] != name) ++i;
    return functions<T>[i];
}

void check_preconditioner(std::string_view name) {
    check_name("preconditioner", name, preconditioners, preconditioner_aliases);
}

template <class T>
std::unique_ptr<jacobi<T>> make_preconditioner(std::string_view name, const matrix_operator<T>& a,
                                               const csr_matrix<T>& matrix) {
    check_preconditioner(name);
    return name == "none" ? nullptr : std::make_unique<jacobi<T>>(a, matrix);
}

template solver_function<double> find_solver(std::string_view);
template solver_function<float> find_solver(std::string_view);
template std::unique_ptr<jacobi<double>>
make_preconditioner(std::string_view, const matrix_operator<double>&, const csr_matrix<double>&);
template std::unique_ptr<jacobi<float>>
make_preconditioner(std::string_view, const matrix_operator<float>&, const csr_matrix<float>&);

} // namespace krylith::tool

#include <krylith/solvers/solver_table.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/nearest_name.hpp>

namespace krylith {

double solver_setting::mean_basis() const {
    if (iterations == 0 || restart == 0) return 0;
    const std::int64_t rest = iterations % restart;
    const std::int64_t sum =
        iterations / restart * (restart * (restart + 1) / 2) + rest * (rest + 1) / 2;
    return static_cast<double>(sum) / static_cast<double>(iterations);
}

std::vector<std::string_view> solver_names() {
    std::vector<std::string_view> names;
    for (const solver_method* row : all_solvers) names.push_back(row->name);
    return names;
}

std::vector<std::string_view> solver_choices() {
    std::vector<std::string_view> names = solver_names();
    names.insert(names.begin(), solver_rows::automatic.name);
    return names;
}

const solver_method& find_solver(std::string_view name) {
    std::vector<name_alias> aliases;
    const auto is = [&](const solver_method& row) {
        for (const std::string_view alias : row.aliases) aliases.push_back({alias, row.name});
        return name == row.name;
    };
    if (is(solver_rows::automatic)) return solver_rows::automatic;
    for (const solver_method* row : all_solvers)
        if (is(*row)) return *row;
    throw usage_error("unknown solver '" + std::string(name) + "'" +
                      name_advice(name, solver_choices(), aliases));
}

} // namespace krylith

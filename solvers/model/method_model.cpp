#include <krylith/solvers/model/method_model.hpp>

namespace krylith::model {

namespace {

solver_setting setting_of(const method& m, const preconditioner_choice& choice) {
    return {.preconditioned = choice.method != nullptr,
            .pointwise = choice.method != nullptr && choice.method->pointwise,
            .restart = m.restart,
            .iterations = m.iterations,
            .damped = m.damped};
}

} // namespace

int products(const method& m) {
    return find_solver(m.solver).products;
}

std::optional<double> vector_passes(const method& m) {
    const preconditioner_choice choice = parse_preconditioner(m.preconditioner);
    return find_solver(m.solver).passes.get()(setting_of(m, choice));
}

std::optional<double> preconditioner_traffic(const method& m, const preconditioner_size& size) {
    const preconditioner_choice choice = parse_preconditioner(m.preconditioner);
    if (choice.method == nullptr) return 0;
    const auto one = choice.method->moved_bytes.get()(size, choice.parameters);
    if (!one) return std::nullopt;
    return products(m) * *one; // solvers apply M as often as A
}

solver_vectors vectors(const method& m) {
    const preconditioner_choice choice = parse_preconditioner(m.preconditioner);
    const solver_vectors own = find_solver(m.solver).vectors.get()(setting_of(m, choice));
    return {own.range + 2, own.domain};
}

std::optional<std::int64_t> preconditioner_bytes(const method& m, const preconditioner_size& size) {
    const preconditioner_choice choice = parse_preconditioner(m.preconditioner);
    if (choice.method == nullptr) return 0;
    return choice.method->kept_bytes.get()(size, choice.parameters);
}

double traffic::product(bool reads_y) const {
    const auto matrix = static_cast<double>((value_bytes + 4) * nnz + 4 * rows);
    return matrix +
           static_cast<double>(value_bytes * (columns_or_rows() + (reads_y ? 2 : 1) * rows));
}

std::optional<double> traffic::iteration(const method& m) const {
    const std::optional<double> passes = vector_passes(m);
    const std::optional<double> of_m = preconditioner_traffic(m, {rows, nnz, value_bytes});
    if (!passes || !of_m) return std::nullopt;
    return products(m) * product() + *passes * static_cast<double>(value_bytes * rows) + *of_m;
}

} // namespace krylith::model

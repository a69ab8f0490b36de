#include <krylith/tools/solve/placement.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/tools/solve/solve_report.hpp>

namespace krylith::tool {

namespace {

/// Whether the cost model has times for it; it chooses among those that it has.
bool is_modelled(operator_kind kind) {
    return !kind || kind->seconds != nullptr;
}

/// One iteration of CG on so many devices: of the operators that can be built, the fastest, or
/// `kind`, which is_modelled().
template <class T>
prediction fastest(const csr_view<T>& matrix, const longest_row& longest, int devices,
                   operator_kind kind, const machine_rates& rates) {
    const auto plan =
        make_halo_plan(matrix.row_offsets, matrix.column_indices, partition_rows(matrix, devices));
    const auto statistics =
        measure_pattern(plan, matrix.row_offsets, matrix.column_indices, longest, sizeof(T));
    const operator_kind wanted = devices == 1 ? operators::usual
                                 : kind       ? kind
                                              : ranked_operators(statistics, rates)[0];
    const auto all = predict(statistics, rates);
    const auto found = std::ranges::find(all, std::string(to_string(wanted)), &prediction::name);
    if (found == all.end())
        throw std::logic_error(std::string("no cost model for operator ") + to_string(wanted));
    return *found;
}

/// No operator is faster on so many devices: one device's work in equal shares, and the phases.
double at_least(const prediction& alone, const machine_rates& rates, int devices) {
    const double phases = 3 * rates.phase_on(devices);
    return (alone.seconds - 3 * rates.phase_on(1)) / devices + phases;
}

void warn_of_idle_parts(const layout& layout, std::vector<std::string>& warnings) {
    const int p = layout.comm.ranks();
    int idle = 0;
    for (int rank = 0; rank < p; ++rank)
        if (layout.rows.owned(rank).size() == 0) ++idle;
    if (p > 1 && idle != 0)
        warnings.push_back(fmt::format("{} of {} devices own no rows", idle, p));
}

} // namespace

template <class T>
std::string why_operator(const matrix_operator<T>& a, const operator_options& asked) {
    if (asked.kind && !asked.kind->eager_because.empty() && a.recordable())
        return fmt::format("as asked for, but its own way can't be the faster one here: as {}",
                           to_string(operators::usual));
    if (asked.kind)
        return a.choice() != nullptr ? "as asked for, with " + a.choice()->because : "as asked for";
    if (a.comm().ranks() == 1) return "auto: one device, nothing moves";
    return a.choice() != nullptr ? "auto: " + a.choice()->because : "auto";
}

template <class T>
std::string fewer_devices(const matrix_operator<T>& a, const csr_view<T>& matrix) {
    const device_group& group = a.comm().devices();
    if (group.kind() == backend::host || a.comm().ranks() == 1 || !a.comm().has_one_driver())
        return "";
    return fewer_devices(matrix, group.size(), a.kind(), rates_of(group).rates);
}

template <class T>
std::string fewer_devices(const csr_view<T>& matrix, int most, operator_kind kind,
                          const machine_rates& rates) {
    if (matrix.rows == 0 || !is_modelled(kind)) return "";
    const longest_row longest = find_longest_row(matrix.row_offsets);
    const prediction now = fastest(matrix, longest, most, kind, rates);
    const prediction alone = fastest(matrix, longest, 1, operators::usual, rates);
    prediction best = alone;
    for (int devices = 2; devices < most; devices *= 2)
        if (at_least(alone, rates, devices) < std::min(now.seconds, best.seconds))
            best = std::min(best, fastest(matrix, longest, devices, operators::automatic, rates),
                            [](const auto& x, const auto& y) { return x.seconds < y.seconds; });
    if (best.seconds >= now.seconds) return "";
    return fmt::format("fewer devices would be faster: {} device{} would take {} an iteration of "
                       "cg by the cost model, {} take {}",
                       best.devices, best.devices == 1 ? "" : "s", in_seconds(best.seconds), most,
                       in_seconds(now.seconds));
}

template <class T>
device_group fastest_devices(const device_options& options, operator_kind kind,
                             const csr_view<T>& matrix, std::string& because) {
    if (select_backend(options) == backend::host) {
        because = "one host device has all cores";
        return first_devices(options, 1);
    }
    const int most = default_counts(options).back();
    if (most == 1 || matrix.rows == 0 || matrix.rows != matrix.columns) {
        because = most == 1          ? "there is one"
                  : matrix.rows == 0 ? "the matrix has no rows"
                                     : "the model is of square matrices";
        return first_devices(options, 1);
    }
    const machine_rates rates = rates_of(first_devices(options, most)).rates;
    const longest_row longest = find_longest_row(matrix.row_offsets);
    const operator_kind reckoned = is_modelled(kind) ? kind : operators::usual;
    const prediction alone = fastest(matrix, longest, 1, reckoned, rates);
    prediction best = alone;
    because = "1: " + in_seconds(alone.seconds);
    for (const int devices : default_counts(options)) {
        if (devices == 1 || at_least(alone, rates, devices) >= best.seconds) continue;
        const prediction p = fastest(matrix, longest, devices, reckoned, rates);
        because += fmt::format(", {}: {} with {}", devices, in_seconds(p.seconds), p.name);
        if (p.seconds < best.seconds) best = p;
    }
    because += " an iteration of cg by the cost model";
    if (reckoned != kind)
        because += fmt::format(", which has no times for {}, since {}", to_string(kind),
                               static_cast<std::string_view>(kind->not_predicted_because));
    return first_devices(options, best.devices);
}

template <class T>
std::string why_transport(const matrix_operator<T>& a, const operator_options& asked) {
    if (a.comm().ranks() == 1) return "one device, nothing moves";
    if (asked.transport) return "as asked for";
    if (a.comm().carrier() != nullptr)
        return "auto: stores within a machine, and what goes to others the hosts carry";
    if (a.transport()->exchange == nullptr)
        return "auto: every device reaches the memory of the others";
    if (a.comm().concurrent())
        return "auto: redundant rows must be blocks of their own for format " + a.format_name();
    return "auto: " + a.comm().serialised_because();
}

std::vector<std::string> placement_warnings(const layout& layout) {
    std::vector<std::string> warnings;
    if (!layout.comm.concurrent())
        warnings.push_back("devices wait for the host between operations: " +
                           layout.comm.serialised_because());
    warn_of_idle_parts(layout, warnings);
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    if (layout.comm.kind() == backend::host && layout.comm.ranks() > cores)
        warnings.push_back(
            fmt::format("{} host devices share {} cores", layout.comm.ranks(), cores));
    return warnings;
}

template std::string why_operator(const matrix_operator<double>&, const operator_options&);
template std::string why_operator(const matrix_operator<float>&, const operator_options&);
template std::string fewer_devices(const matrix_operator<double>&, const csr_view<double>&);
template std::string fewer_devices(const matrix_operator<float>&, const csr_view<float>&);
template std::string fewer_devices(const csr_view<double>&, int, operator_kind,
                                   const machine_rates&);
template std::string fewer_devices(const csr_view<float>&, int, operator_kind,
                                   const machine_rates&);
template device_group fastest_devices(const device_options&, operator_kind, const csr_view<double>&,
                                      std::string&);
template device_group fastest_devices(const device_options&, operator_kind, const csr_view<float>&,
                                      std::string&);
template std::string why_transport(const matrix_operator<double>&, const operator_options&);
template std::string why_transport(const matrix_operator<float>&, const operator_options&);

} // namespace krylith::tool

#include <krylith/bench/multigrid/multigrid_peer.hpp>

#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/bench/common/array_folder.hpp>
#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/common/other_program.hpp>

namespace krylith::bench {

std::string missing_pyamg(const std::string& python) {
    const program_outcome there = run_program({python, KRYLITH_BENCH_MULTIGRID_PYAMG});
    return there.status == 0 ? "" : python + " has none (" + last_line(there.text) + ")";
}

multigrid_numbers measure_pyamg(const std::string& python, const std::string& folder,
                                const workload& w, const multigrid_task& task) {
    const array_folder arrays(folder, "multigrid");
    arrays.write("offsets.bin", w.matrix.row_offsets);
    arrays.write("columns.bin", w.matrix.column_indices);
    arrays.write("values.bin", w.matrix.values);
    arrays.write("rhs.bin", w.b);
    const program_outcome done =
        run_program({python, KRYLITH_BENCH_MULTIGRID_PYAMG, arrays.path(),
                     fmt::format("{}", task.rtol), std::to_string(task.repetitions)});
    if (done.status != 0) throw measurement_failed("PyAMG failed: " + last_line(done.text));
    const auto line = nlohmann::json::parse(last_line(done.text), nullptr, false);
    if (line.is_discarded()) throw measurement_failed("PyAMG printed no JSON: " + done.text);
    multigrid_numbers result;
    result.preconditioner = "PyAMG " + line.at("version").get<std::string>();
    for (const char* const name : {"set-up", "solve", "total"})
        result.phases.push_back({name, line.at(name).get<std::vector<double>>()});
    result.iterations = line.at("iterations");
    result.relative_residual = line.at("relative_residual");
    result.operator_complexity = line.at("operator_complexity");
    if (!(result.relative_residual <= 1.01 * task.rtol))
        result.void_because.push_back(
            fmt::format("||b - A x|| / ||b|| is {:.2e}", result.relative_residual));
    return result;
}

} // namespace krylith::bench

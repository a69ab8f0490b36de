#include <krylith/bench/total/total_peer.hpp>

#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/bench/common/array_folder.hpp>
#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/common/other_program.hpp>

namespace krylith::bench {

std::string missing_cupy(const std::string& python) {
    const program_outcome there = run_program({python, KRYLITH_BENCH_TOTAL_CUPY});
    return there.status == 0 ? "" : python + " has none (" + last_line(there.text) + ")";
}

cupy_numbers measure_cupy(const std::string& python, const std::string& folder, const workload& w,
                          double rtol, int repetitions) {
    const array_folder arrays(folder, "total");
    arrays.write("offsets.bin", w.matrix.row_offsets);
    arrays.write("columns.bin", w.matrix.column_indices);
    arrays.write("values.bin", w.matrix.values);
    const program_outcome done =
        run_program({python, KRYLITH_BENCH_TOTAL_CUPY, arrays.path(), fmt::format("{}", rtol),
                     std::to_string(repetitions)});
    if (done.status != 0) throw measurement_failed("CuPy failed: " + last_line(done.text));
    const auto line = nlohmann::json::parse(last_line(done.text), nullptr, false);
    if (line.is_discarded()) throw measurement_failed("CuPy printed no JSON: " + done.text);
    cupy_numbers result{{}, line.at("version")};
    for (const char* const name : {"make matrix", "upload b", "solve", "total"}) {
        result.numbers.phases.push_back({name, 0, line.at(name).get<std::vector<double>>()});
    }
    result.numbers.iterations = line.at("iterations");
    result.numbers.relative_residual = line.at("relative_residual");
    if (!line.at("converged").get<bool>()) {
        result.numbers.void_because.push_back("CuPy's CG did not converge");
    }
    return result;
}

} // namespace krylith::bench

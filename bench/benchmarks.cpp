// The table of benchmarks: a name, a line of help, and its request and run.
#include <array>
#include <memory>

#include <krylith/bench/break_even/break_even.hpp>
#include <krylith/bench/calls/calls_run.hpp>
#include <krylith/bench/factors/factors_run.hpp>
#include <krylith/bench/graph/graph_run.hpp>
#include <krylith/bench/imbalance/imbalance_run.hpp>
#include <krylith/bench/multigrid/multigrid_run.hpp>
#include <krylith/bench/processes/processes_run.hpp>
#include <krylith/bench/read/read_run.hpp>
#include <krylith/bench/right_hand_sides/right_hand_sides_run.hpp>
#include <krylith/bench/solver/solver_run.hpp>
#include <krylith/bench/sparse/sparse_run.hpp>
#include <krylith/bench/spmspv/spmspv_run.hpp>
#include <krylith/bench/spmv/spmv_run.hpp>
#include <krylith/bench/streamed/streamed_run.hpp>
#include <krylith/bench/total/total_run.hpp>
#include <krylith/bench/watch/watch_run.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/tools/cli/command.hpp>

namespace krylith::tool {

namespace {

template <class Run>
exit_status status_of_run(Run&& run) {
    return run.run() ? exit_status::success : exit_status::not_converged;
}

template <class Request, class Run>
std::function<exit_status()> add(CLI::App& options, std::string_view /*name*/) {
    const auto request = std::make_shared<Request>();
    bench::add_options(options, *request);
    return [request] { return status_of_run(Run(*request)); };
}

std::function<exit_status()> add_solver(CLI::App& options, std::string_view name) {
    const auto request = std::make_shared<bench::solver_request>();
    request->solver = name;
    bench::add_options(options, *request);
    return [request] { return status_of_run(bench::solver_run(*request)); };
}

constexpr std::array<benchmark, 15> others = {{
    {"calls", "What a call of a solver costs beside its iterations, and time steps",
     add<bench::calls_request, bench::calls_run>},
    {"spmv", "y = A x: formats on one device, operators on several, and their limits",
     add<bench::spmv_request, bench::spmv_run>},
    {"sparse", "Kernels on one device: transposition and others, against cuSPARSE or Eigen",
     add<bench::sparse_request, bench::sparse_run>},
    {"spmspv", "y = A x for sparse x by each kernel: what kernel models are trained with",
     add<bench::spmspv_request, bench::spmspv_run>},
    {"streamed", "y = A x of a matrix in host memory, its distribution included",
     add<bench::streamed_request, bench::streamed_run>},
    {"graph", "Breadth-first search, PageRank and shortest paths, against cuSPARSE",
     add<bench::graph_request, bench::graph_run>},
    {"imbalance", "What equal rows cost where blocks of rows carry two kinds of load",
     add<bench::imbalance_request, bench::imbalance_run>},
    {"read", "Matrix Market files to CSR, against SciPy and fast_matrix_market",
     add<bench::read_request, bench::read_run>},
    {"watch", "What watching a solve costs, and how soon a stop ends it",
     add<bench::watch_request, bench::watch_run>},
    {"total", "From CSR arrays in host memory to the answer, step by step, against CuPy",
     add<bench::total_request, bench::total_run>},
    {"multigrid", "From a matrix on the devices to the answer by amg, step by step",
     add<bench::multigrid_request, bench::multigrid_run>},
    {"processes", "CG by two processes that mpirun has started, beside messages alone",
     add<bench::processes_request, bench::processes_run>},
    {"right-hand-sides", "Several systems with one matrix: at once, and one after another",
     add<bench::right_hand_sides_request, bench::right_hand_sides_run>},
    {"factors", "ILU(0) and IC(0) made on the devices, step by step, and CG with them",
     add<bench::factors_request, bench::factors_run>},
    {"break_even", "Rows a GPU from which several pay, by the cost model; needs no device",
     add<bench::break_even_request, bench::break_even_run>},
}};

} // namespace

std::vector<benchmark> benchmarks() {
    std::vector<benchmark> all;
    for (const std::string_view solver : solver_names()) {
        all.push_back({solver, "An iteration and a solve", add_solver});
    }
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

void hand_over_to_benchmarks(char** /*arguments*/) {}

} // namespace krylith::tool

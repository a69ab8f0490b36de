// bench_graph: breadth-first search, PageRank and shortest paths by sparse products.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/graph/graph_run.hpp>

int main(int argc, char** argv) {
    CLI::App app(
        "Breadth-first search, PageRank and shortest paths (fp32), kernels chosen step by step, "
        "against cuSPARSE with dense vectors in every step (one GPU; not sssp), switches between "
        "push and pull at fixed thresholds, and each kernel by itself: milliseconds, steps, GTEPS "
        "and speedups. Exits with 1 where a check failed or a named matrix is unreadable.");
    krylith::bench::graph_request request;
    krylith::bench::add_options(app, request);
    try {
        app.parse(argc, argv);
        return krylith::bench::graph_run(request).run() ? 0 : 1;
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_graph: {}\n", e.what());
        return 2;
    }
}

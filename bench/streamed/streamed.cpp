// bench_msrep: y = A x once, from a matrix in host memory, distribution included.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/streamed/streamed_run.hpp>

int main(int argc, char** argv) {
    CLI::App app(
        "y = A x from a matrix in host memory, distribution included, in three versions: "
        "microseconds of each phase, overheads of partition and merging, speedups over one "
        "device and over baseline, and the kernels alone. Exits with 1 where a check "
        "failed or a named matrix is unreadable.");
    krylith::bench::msrep_request request;
    krylith::bench::add_options(app, request);
    try {
        app.parse(argc, argv);
        return krylith::bench::msrep_run(request).run() ? 0 : 1;
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_msrep: {}\n", e.what());
        return 2;
    }
}

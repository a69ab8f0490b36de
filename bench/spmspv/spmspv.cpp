// bench_spmspv: y = A x for sparse x by each of the eight kernels: what models are trained with.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/spmspv/spmspv_request.hpp>
#include <krylith/bench/spmspv/spmspv_run.hpp>

int main(int argc, char** argv) {
    CLI::App app("y = A x for sparse x on one device by each of the eight kernels: microseconds, "
                 "with the conversions that a kernel needs, for x given and y wanted in several "
                 "forms. Exits with 1 where a check failed or a named matrix is unreadable.");
    krylith::bench::spmspv_request request;
    krylith::bench::add_options(app, request);
    try {
        app.parse(argc, argv);
        return krylith::bench::spmspv_run(request).run() ? 0 : 1;
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_spmspv: {}\n", e.what());
        return 2;
    }
}

// bench_spmv: y = A x, by each format on one device and each operator on 2..n.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/spmv/spmv_request.hpp>
#include <krylith/bench/spmv/spmv_run.hpp>

int main(int argc, char** argv) {
    CLI::App app("y = A x on one device by each format, and on several by each operator: "
                 "microseconds, speedups, the operator's own limit, and what set-up costs in "
                 "products. GB/s are of the bytes that must move (12 nnz + 20 n). Exits with 1 "
                 "where a check failed or a named matrix is unreadable.");
    krylith::bench::spmv_request request;
    krylith::bench::add_options(app, request);
    try {
        app.parse(argc, argv);
        return krylith::bench::spmv_run(request).run() ? 0 : 1;
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_spmv: {}\n", e.what());
        return 2;
    }
}

// bench_imbalance: what blocks of equal rows cost where rows carry two kinds of load.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/imbalance/imbalance_run.hpp>

int main(int argc, char** argv) {
    CLI::App app("The kernels of y = A x alone on several devices, where some blocks of rows have "
                 "fewer nonzeros than the others: blocks of equal rows against equal nonzeros "
                 "(pCSR), relative to a balanced matrix of as many nonzeros. Exits with 1 where a "
                 "check failed.");
    krylith::bench::imbalance_request request;
    krylith::bench::add_options(app, request);
    try {
        app.parse(argc, argv);
        return krylith::bench::imbalance_run(request).run() ? 0 : 1;
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_imbalance: {}\n", e.what());
        return 2;
    }
}

// The whole of `krylith bench processes`: what CG takes where its GPUs are of two processes, by
// direct and by posted paths, beside what messages alone take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/processes/bare_exchange.hpp>
#include <krylith/comm/communicator.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/tools/cli/processes.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct processes_request {
    std::vector<std::string> matrices;   ///< without: 7-point stencils, 16^3 to 128^3
    std::vector<std::string> transports; ///< without: auto and posted
    std::int64_t iterations = 400;       ///< of a solve that is timed, less a quarter of them
    int repetitions = 7;
    tool::device_options devices;
    std::string report_file;
};

void add_options(CLI::App& app, processes_request& q);

/// Two processes run it together; the first prints and writes the report.
class processes_run {
public:
    /// Collective. Throws usage_error unless a launcher has started two processes.
    explicit processes_run(const processes_request& request);

    /// Runs and prints as it goes. Returns whether no row is void. Collective.
    [[nodiscard]] bool run();

private:
    void run_transport(const std::string& transport);
    void run_bare(const communicator& comm);
    void run_sums(const communicator& comm, const std::string& transport);
    void run_matrix(const communicator& comm, const std::string& transport, std::size_t which);
    /// Prints and reports a row, in the first process.
    void tell(const std::string& what, const std::string& transport, const spread& seconds,
              const std::string& wrong = "", std::int64_t bytes = 0);

    processes_request request_;
    tool::process_team team_;
    report report_;
    std::vector<csr_matrix<double>> matrices_;
    int tag_;
};

} // namespace krylith::bench

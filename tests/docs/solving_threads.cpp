// The program of docs/several_devices.md, "Threads", on host devices.
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

std::vector<double> solve_by_threads(const std::vector<device_group>& groups,
                                     const csr_matrix<double>& matrix,
                                     const std::vector<double>& rhs) {
    auto links = link_threads(static_cast<int>(groups.size()));
    std::vector<double> solution(rhs.size());
    std::vector<std::exception_ptr> thrown(groups.size());
    const auto work = [&](std::size_t k) {
        try {
            const communicator comm(groups[k], std::move(links[k])); // the link ends with the work
            const auto a = make_operator(comm, matrix, {.kind = operators::halo});
            const jacobi<double> m(*a, matrix);
            auto b = a->make_range_vector();
            auto x = a->make_domain_vector();
            b.upload(rhs);
            (void)cg(*a, b, x, {.on_failure = failure_policy::throw_error}, m);
            std::vector<double> all(rhs.size());
            x.download(all); // in every thread
            if (k == 0) solution = all;
        } catch (...) {
            thrown[k] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < groups.size(); ++k) threads.emplace_back(work, k);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& one : thrown) // the same in all threads
        if (one) std::rethrow_exception(one);
    return solution;
}

int main() {
    const group_options each{.host_threads = 1}; // without, each group takes all cores
    const std::vector groups{device_group::host(1, each), device_group::host(2, each)};
    const auto matrix = poisson3d<double>(12);
    const std::vector<double> rhs(static_cast<std::size_t>(matrix.rows), 1.0);
    const std::vector<double> x = solve_by_threads(groups, matrix, rhs);
    std::printf("x[0] = %.6f\n", x[0]);
    try {
        (void)solve_by_threads(groups, matrix, std::vector<double>(5, 1.0));
    } catch (const usage_error& e) {
        std::printf("%s\n", e.what());
        return x[0] > 0 ? 0 : 1;
    }
    return 1;
}

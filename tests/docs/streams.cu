// The piece of docs/several_devices.md that borrows CUDA streams: it must compile.
#include <vector>

#include <cuda_runtime_api.h>

#include <krylith/device/device_group.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

solve_result solve(const std::vector<int>& gpus, const std::vector<cudaStream_t>& streams,
                   const csr_matrix<double>& matrix, const std::vector<double*>& b_parts,
                   const std::vector<double*>& x_parts) {
    const auto group =
        device_group::cuda(gpus, {.streams = std::vector<void*>(streams.begin(), streams.end())});
    const auto a = make_operator(group, matrix, {.kind = operators::halo});
    const auto b = krylith::distributed_vector<double>::borrow(a->layout(), b_parts);
    auto x = krylith::distributed_vector<double>::borrow(a->layout(), x_parts);
    return cg(*a, b, x, {.initial_guess = true});
}

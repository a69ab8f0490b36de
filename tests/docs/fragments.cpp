// Pieces of code that the pages show and that run nowhere: they must compile.
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/spmv/one_shot_product.hpp>

using namespace krylith;

/// Returns seconds.
double multiply_once(const device_group& group, const csr_matrix<double>& a,
                     const std::vector<double>& x, std::vector<double>& y) {
    one_shot_product<double> product(group); // keeps its buffers: for more calls
    const one_shot_times times = product(csr_view<double>(a), x, y); // y = A x
    return times.total;
}

void groups() {
    const auto cpu = device_group::host(1);                       // the CPU, all cores
    const auto gpus = device_group::cuda(std::vector<int>{0, 1}); // CUDA ordinals, in this order
    (void)cpu;
    (void)gpus;
}

// Pieces of code that the pages show and that run nowhere: they must compile.
#include <vector>

#include <krylith/device/device_group.hpp>

using namespace krylith;

void groups() {
    const auto cpu = device_group::host(1);                       // the CPU, all cores
    const auto gpus = device_group::cuda(std::vector<int>{0, 1}); // CUDA ordinals, in this order
    (void)cpu;
    (void)gpus;
}

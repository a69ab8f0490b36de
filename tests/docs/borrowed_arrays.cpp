// The program of docs/several_devices.md.
#include <cstdio>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

int main() {
    const auto group = device_group::host(2);
    const auto a = make_operator(group, poisson3d<double>(20), {.kind = operators::halo});
    const layout_handle layout = a->layout();

    std::vector<std::vector<double>> b_arrays; // the simulation's own
    std::vector<std::vector<double>> x_arrays;
    for (int rank = 0; rank < group.size(); ++rank) {
        const row_range rows = layout->rows.owned(rank); // global rows of this device
        b_arrays.emplace_back(static_cast<std::size_t>(rows.size()), 1.0);
        x_arrays.emplace_back(static_cast<std::size_t>(rows.size()), 0.0);
    }

    std::vector<double*> b_parts; // one pointer a device
    std::vector<double*> x_parts;
    for (auto& array : b_arrays) b_parts.push_back(array.data());
    for (auto& array : x_arrays) x_parts.push_back(array.data());
    const auto b = krylith::distributed_vector<double>::borrow(layout, b_parts);
    auto x = krylith::distributed_vector<double>::borrow(layout, x_parts);
    const solve_result result = cg(*a, b, x);
    std::printf("%s, x[0] = %.6f\n", to_string(result.reason), x_arrays[0][0]);
    return result.converged() && x_arrays[0][0] > 0 ? 0 : 1;
}

// Would surface: pages of names of missing instantiations, from the linker.
#include <complex>

#include <krylith/matrix/load.hpp>
#include <krylith/spmv/matrix_operator.hpp>

int main() {
    const auto matrix = krylith::load_matrix<std::complex<double>>("a.mtx");
    return make_operator(krylith::device_group::host(1), matrix) == nullptr ? 1 : 0;
}

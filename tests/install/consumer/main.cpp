// A stranger's program: solves a system with the installed library.
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

int main() {
    const auto matrix = krylith::make_gallery<double>("poisson2d:20");
    const auto a = krylith::make_operator(krylith::device_group::host(2), matrix);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(std::vector<double>(400, 1.0));
    return krylith::cg(*a, b, x).converged() ? 0 : 1;
}

// CG on a matrix of the program's own, without anything that a build can leave out.
#include <cstdint>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#if KRYLITH_HAVE_GALLERY || KRYLITH_HAVE_SPMSPV || KRYLITH_HAVE_GRAPHS || KRYLITH_HAVE_STREAMING
#error "config.hpp names a part that was left out"
#endif

int main() {
    constexpr std::int32_t n = 100;
    krylith::csr_matrix<double> matrix{n, n, {0}, {}, {}};
    for (std::int32_t row = 0; row < n; ++row) {
        for (std::int32_t column = row - 1; column <= row + 1; ++column) {
            if (column < 0 || column >= n) continue;
            matrix.column_indices.push_back(column);
            matrix.values.push_back(column == row ? 2.5 : -1);
        }
        matrix.row_offsets.push_back(matrix.nnz());
    }
    const auto a = krylith::make_operator(krylith::device_group::host(2), matrix);
    const krylith::jacobi<double> m(*a);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(std::vector<double>(n, 1.0));
    return krylith::cg(*a, b, x, {}, m).converged() ? 0 : 1;
}

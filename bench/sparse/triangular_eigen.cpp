#include <limits>
#include <vector>

#include <Eigen/SparseCore>

#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/bench/sparse/triangular_peers.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

template <class T>
triangular_peer_seconds eigen_triangular(device& on, int repeats, const csr_matrix<T>& a,
                                         bool upper, const std::vector<T>& b) {
    using sparse = Eigen::SparseMatrix<T, Eigen::RowMajor>;
    using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    if (a.nnz() > std::numeric_limits<int>::max())
        throw usage_error("Eigen's default index counts at most 2^31 - 1 nonzeros");
    const std::vector<int> offsets(a.row_offsets.begin(), a.row_offsets.end());
    const Eigen::Map<const sparse> view(a.rows, a.columns, a.nnz(), offsets.data(),
                                        a.column_indices.data(), a.values.data());
    const Eigen::Map<const vector> right(b.data(), a.rows);
    vector x(a.rows);
    const auto solve = [&] {
        x = right;
        if (upper)
            view.template triangularView<Eigen::Upper>().solveInPlace(x);
        else
            view.template triangularView<Eigen::Lower>().solveInPlace(x);
    };
    return {time_runs(on, repeats, solve).median, 0};
}

template triangular_peer_seconds eigen_triangular(device&, int, const csr_matrix<double>&, bool,
                                                  const std::vector<double>&);
template triangular_peer_seconds eigen_triangular(device&, int, const csr_matrix<float>&, bool,
                                                  const std::vector<float>&);

} // namespace krylith::bench

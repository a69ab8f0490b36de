#include <limits>
#include <vector>

#include <Eigen/SparseCore>

#include <krylith/bench/sparse/formats_peers.hpp>
#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

template <class T>
product_peer_seconds eigen_product_seconds(device& on, int repeats, const csr_matrix<T>& a) {
    using sparse = Eigen::SparseMatrix<T, Eigen::RowMajor>;
    using dense = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    if (a.nnz() > std::numeric_limits<int>::max())
        throw usage_error("Eigen's default index counts at most 2^31 - 1 nonzeros");
    const std::vector<int> offsets(a.row_offsets.begin(), a.row_offsets.end());
    const Eigen::Map<const sparse> view(a.rows, a.columns, a.nnz(), offsets.data(),
                                        a.column_indices.data(), a.values.data());
    const dense x = dense::Ones(a.columns);
    dense y(a.rows);
    return {time_runs(on, repeats, [&] { y.noalias() = view * x; }).median, 0};
}

template product_peer_seconds eigen_product_seconds(device&, int, const csr_matrix<double>&);
template product_peer_seconds eigen_product_seconds(device&, int, const csr_matrix<float>&);

} // namespace krylith::bench

#include <limits>
#include <vector>

#include <Eigen/SparseCore>

#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/bench/sparse/spgemm_peers.hpp>
#include <krylith/config.hpp>

namespace krylith::bench {

namespace {

/// A matrix of Eigen's own, so that both factors have its usual type.
template <class T>
Eigen::SparseMatrix<T, Eigen::RowMajor> eigen_matrix(const csr_matrix<T>& a) {
    const std::vector<int> offsets(a.row_offsets.begin(), a.row_offsets.end());
    return Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor>>(
        a.rows, a.columns, a.nnz(), offsets.data(), a.column_indices.data(), a.values.data());
}

template <class T>
spgemm_peer_times eigen_spgemm_times(device& on, int repeats, const csr_matrix<T>& a,
                                     const csr_matrix<T>& b) {
    spgemm_peer_times times{.name = "eigen"};
    if (a.nnz() > std::numeric_limits<int>::max() || b.nnz() > std::numeric_limits<int>::max()) {
        times.note = "Eigen's default index counts at most 2^31 - 1 nonzeros";
        return times;
    }
    const auto ea = eigen_matrix(a);
    const auto eb = eigen_matrix(b);
    times.whole = time_runs(on, repeats, [&] {
                      const Eigen::SparseMatrix<T, Eigen::RowMajor> c = ea * eb;
                  }).median;
    return times;
}

} // namespace

template <class T>
spgemm_peer_times time_spgemm_peer(const std::shared_ptr<device>& on, int repeats,
                                   const csr_matrix<T>& a, const csr_matrix<T>& b) {
#if KRYLITH_HAVE_CUDA
    if (on->kind() == backend::cuda) return cusparse_spgemm_times(on, repeats, a, b);
#endif
    return eigen_spgemm_times(*on, repeats, a, b);
}

template spgemm_peer_times time_spgemm_peer(const std::shared_ptr<device>&, int,
                                            const csr_matrix<double>&, const csr_matrix<double>&);
template spgemm_peer_times time_spgemm_peer(const std::shared_ptr<device>&, int,
                                            const csr_matrix<float>&, const csr_matrix<float>&);

} // namespace krylith::bench

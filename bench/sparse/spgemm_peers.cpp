#include <krylith/bench/sparse/spgemm_peers.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <Eigen/SparseCore>
#include <fmt/format.h>

#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/config.hpp>
#include <krylith/device/error.hpp>

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
    const auto ea = eigen_matrix(a);
    const auto eb = eigen_matrix(b);
    times.whole = time_runs(on, repeats, [&] {
                      const Eigen::SparseMatrix<T, Eigen::RowMajor> c = ea * eb;
                  }).median;
    return times;
}

#if KRYLITH_HAVE_CUDA
template <class T>
spgemm_peer_times cusparse_spgemm_times(const std::shared_ptr<device>& on, int repeats,
                                        const csr_matrix<T>& a, const csr_matrix<T>& b) {
    spgemm_peer_times times{.name = "cusparse"};
    try {
        const auto product = make_cusparse_spgemm(on, a, b);
        times.whole = time_runs(*on, repeats, [&] { product->whole(); }).median;
        times.note = fmt::format("cuSPARSE's buffers {:.2f} GB",
                                 static_cast<double>(product->buffer_bytes()) / 1e9);
        times.plan = time_runs(*on, std::min(repeats, 3), [&] { product->prepare_reuse(); }).median;
        times.numeric = time_runs(*on, repeats, [&] { product->reuse(); }).median;
    } catch (const device_error& e) { // it needs more memory than there is, often
        times.note += (times.note.empty() ? "" : "; ") + std::string(e.what());
    }
    return times;
}
#endif

} // namespace

template <class T>
spgemm_peer_times time_spgemm_peer(const std::shared_ptr<device>& on, int repeats,
                                   const csr_matrix<T>& a, const csr_matrix<T>& b) {
    if (a.nnz() > std::numeric_limits<int>::max() || b.nnz() > std::numeric_limits<int>::max())
        return {.name = {}, .note = "others count nonzeros in 32 bits"};
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

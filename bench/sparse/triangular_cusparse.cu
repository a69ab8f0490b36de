#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <krylith/bench/common/cusparse_library.cuh>
#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/bench/sparse/triangular_peers.hpp>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith::bench {

namespace {

constexpr auto operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto algorithm = CUSPARSE_SPSV_ALG_DEFAULT;

/// A solve with the descriptors that it needs.
template <class T>
class cusparse_solve {
public:
    cusparse_solve(const std::shared_ptr<device>& on, const device_csr<T>& a,
                   const std::vector<std::int32_t>& offsets, bool upper, const std::vector<T>& b)
        : on_(on),
          offsets_(on, std::span<const std::int32_t>(offsets), "cuSPARSE"),
          b_(on, std::span<const T>(b), "cuSPARSE"),
          x_(on, b.size(), "cuSPARSE") {
        const cuda::current_device current(on->ordinal());
        const device_csr_view<T> view = a.view();
        check_cusparse(cusparseCreate(&handle_), "create");
        check_cusparse(cusparseSetStream(handle_, static_cast<cuda::cuda_device&>(*on).stream()),
                       "set stream");
        check_cusparse(cusparseCreateCsr(&matrix_, view.rows, view.columns, view.nonzeros,
                                         offsets_.data(), const_cast<std::int32_t*>(view.indices),
                                         const_cast<T*>(view.values), CUSPARSE_INDEX_32I,
                                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
                       "create matrix");
        auto part = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
        auto diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
        check_cusparse(
            cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &part, sizeof part),
            "fill mode");
        check_cusparse(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal,
                                                 sizeof diagonal),
                       "diagonal");
        check_cusparse(cusparseCreateDnVec(&from_, view.rows, b_.data(), type), "create b");
        check_cusparse(cusparseCreateDnVec(&to_, view.rows, x_.data(), type), "create x");
        check_cusparse(cusparseSpSV_createDescr(&solve_), "create solve");
        std::size_t bytes = 0;
        check_cusparse(cusparseSpSV_bufferSize(handle_, operation, &one_, matrix_, from_, to_, type,
                                               algorithm, solve_, &bytes),
                       "buffer size");
        workspace_ = {on, bytes, "cuSPARSE"};
    }
    cusparse_solve(const cusparse_solve&) = delete;
    cusparse_solve& operator=(const cusparse_solve&) = delete;
    ~cusparse_solve() {
        const cuda::current_device current(on_->ordinal());
        if (solve_ != nullptr) cusparseSpSV_destroyDescr(solve_);
        if (from_ != nullptr) cusparseDestroyDnVec(from_);
        if (to_ != nullptr) cusparseDestroyDnVec(to_);
        if (matrix_ != nullptr) cusparseDestroySpMat(matrix_);
        if (handle_ != nullptr) cusparseDestroy(handle_);
    }

    void analyse() {
        const cuda::current_device current(on_->ordinal());
        check_cusparse(cusparseSpSV_analysis(handle_, operation, &one_, matrix_, from_, to_, type,
                                             algorithm, solve_, workspace_.data()),
                       "analysis");
    }
    void solve() {
        const cuda::current_device current(on_->ordinal());
        check_cusparse(cusparseSpSV_solve(handle_, operation, &one_, matrix_, from_, to_, type,
                                          algorithm, solve_),
                       "solve");
    }

private:
    static constexpr cudaDataType type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
    std::shared_ptr<device> on_;
    buffer<std::int32_t> offsets_;
    buffer<T> b_;
    buffer<T> x_;
    buffer<unsigned char> workspace_;
    T one_ = 1;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t from_ = nullptr;
    cusparseDnVecDescr_t to_ = nullptr;
    cusparseSpSVDescr_t solve_ = nullptr;
};

} // namespace

template <class T>
triangular_peer_seconds cusparse_triangular(const std::shared_ptr<device>& on, int repeats,
                                            const device_csr<T>& a, bool upper,
                                            const std::vector<T>& b) {
    if (a.nonzeros() > std::numeric_limits<std::int32_t>::max())
        throw usage_error("cuSPARSE's SpSV takes offsets of 32 bits");
    const csr_matrix<T> matrix = a.download();
    const std::vector<std::int32_t> offsets(matrix.row_offsets.begin(), matrix.row_offsets.end());
    cusparse_solve<T> peer(on, a, offsets, upper, b);
    triangular_peer_seconds seconds;
    seconds.analysis = time_runs(*on, std::min(repeats, 3), [&] { peer.analyse(); }).median;
    seconds.solve = time_runs(
                        *on, repeats, [&] { peer.solve(); }, 5)
                        .median;
    return seconds;
}

template triangular_peer_seconds cusparse_triangular(const std::shared_ptr<device>&, int,
                                                     const device_csr<double>&, bool,
                                                     const std::vector<double>&);
template triangular_peer_seconds cusparse_triangular(const std::shared_ptr<device>&, int,
                                                     const device_csr<float>&, bool,
                                                     const std::vector<float>&);

} // namespace krylith::bench

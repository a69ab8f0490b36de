#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <krylith/bench/common/cusparse_library.cuh>
#include <krylith/bench/sparse/formats_peers.hpp>
#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith::bench {

namespace {

constexpr int products_of_graph = 20;

/// y = A x by one of cuSPARSE's algorithms, prepared, as a graph of several products.
template <class T>
class cusparse_products {
public:
    cusparse_products(std::shared_ptr<device> device, const csr_matrix<T>& a,
                      cusparseSpMVAlg_t algorithm, int repeats)
        : device_(std::move(device)),
          offsets_(device_,
                   std::span<const std::int32_t>(
                       std::vector<std::int32_t>(a.row_offsets.begin(), a.row_offsets.end())),
                   "cuSPARSE"),
          columns_(device_, std::span<const std::int32_t>(a.column_indices), "cuSPARSE"),
          values_(device_, std::span<const T>(a.values), "cuSPARSE"),
          x_(device_, std::span<const T>(std::vector<T>(static_cast<std::size_t>(a.columns), T(1))),
             "cuSPARSE"),
          y_(device_, static_cast<std::size_t>(a.rows), "cuSPARSE") {
        constexpr auto type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
        constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
        auto& d = static_cast<cuda::cuda_device&>(*device_);
        const cuda::current_device current(d.ordinal());
        const T one = 1;
        const T zero = 0;
        check_cusparse(cusparseCreate(&handle_), "create");
        check_cusparse(cusparseSetStream(handle_, d.stream()), "set stream");
        check_cusparse(cusparseCreateCsr(&matrix_, a.rows, a.columns, a.nnz(), offsets_.data(),
                                         columns_.data(), values_.data(), CUSPARSE_INDEX_32I,
                                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
                       "create matrix");
        check_cusparse(cusparseCreateDnVec(&of_x_, a.columns, x_.data(), type), "create x");
        check_cusparse(cusparseCreateDnVec(&of_y_, a.rows, y_.data(), type), "create y");
        std::size_t bytes = 0;
        check_cusparse(cusparseSpMV_bufferSize(handle_, plain, &one, matrix_, of_x_, &zero, of_y_,
                                               type, algorithm, &bytes),
                       "buffer size");
        workspace_ = buffer<unsigned char>(device_, bytes, "cuSPARSE workspace");
        const auto prepare = [&] {
            check_cusparse(cusparseSpMV_preprocess(handle_, plain, &one, matrix_, of_x_, &zero,
                                                   of_y_, type, algorithm, workspace_.data()),
                           "preprocess");
        };
        set_up_ = time_runs(*device_, std::min(repeats, 3), prepare).median;
        cudaGraph_t graph = nullptr;
        KRYLITH_CUDA_CHECK(cudaStreamBeginCapture(d.stream(), cudaStreamCaptureModeRelaxed));
        cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
        for (int k = 0; k < products_of_graph && status == CUSPARSE_STATUS_SUCCESS; ++k)
            status = cusparseSpMV(handle_, plain, &one, matrix_, of_x_, &zero, of_y_, type,
                                  algorithm, workspace_.data());
        KRYLITH_CUDA_CHECK(cudaStreamEndCapture(d.stream(), &graph));
        check_cusparse(status, "product");
        KRYLITH_CUDA_CHECK(cudaGraphInstantiate(&graph_, graph, 0));
        KRYLITH_CUDA_CHECK(cudaGraphDestroy(graph));
    }
    cusparse_products(const cusparse_products&) = delete;
    cusparse_products& operator=(const cusparse_products&) = delete;
    ~cusparse_products() {
        const cuda::current_device current(device_->ordinal());
        if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
        if (of_x_ != nullptr) cusparseDestroyDnVec(of_x_);
        if (of_y_ != nullptr) cusparseDestroyDnVec(of_y_);
        if (matrix_ != nullptr) cusparseDestroySpMat(matrix_);
        if (handle_ != nullptr) cusparseDestroy(handle_);
    }

    void run() {
        auto& d = static_cast<cuda::cuda_device&>(*device_);
        const cuda::current_device current(d.ordinal());
        KRYLITH_CUDA_CHECK(cudaGraphLaunch(graph_, d.stream()));
    }

    [[nodiscard]] double set_up_seconds() const noexcept { return set_up_; }

private:
    std::shared_ptr<device> device_;
    double set_up_ = 0;
    buffer<std::int32_t> offsets_;
    buffer<std::int32_t> columns_;
    buffer<T> values_;
    buffer<T> x_;
    buffer<T> y_;
    buffer<unsigned char> workspace_;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t of_x_ = nullptr;
    cusparseDnVecDescr_t of_y_ = nullptr;
    cudaGraphExec_t graph_ = nullptr;
};

} // namespace

template <class T>
product_peer_seconds cusparse_product_seconds(const std::shared_ptr<device>& on, int repeats,
                                              const csr_matrix<T>& a) {
    if (a.nnz() > std::numeric_limits<std::int32_t>::max() || a.nnz() == 0)
        throw usage_error("cuSPARSE is measured with 1 to 2^31 - 1 nonzeros");
    product_peer_seconds best;
    for (const auto algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
        cusparse_products<T> products(on, a, algorithm, repeats);
        const double seconds =
            time_runs(*on, repeats, [&] { products.run(); }).median / products_of_graph;
        if (best.product == 0 || seconds < best.product)
            best = {seconds, products.set_up_seconds()};
    }
    return best;
}

template product_peer_seconds cusparse_product_seconds(const std::shared_ptr<device>&, int,
                                                       const csr_matrix<double>&);
template product_peer_seconds cusparse_product_seconds(const std::shared_ptr<device>&, int,
                                                       const csr_matrix<float>&);

} // namespace krylith::bench

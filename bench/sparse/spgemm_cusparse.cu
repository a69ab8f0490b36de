#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <krylith/bench/common/cusparse_library.cuh>
#include <krylith/bench/sparse/spgemm_peers.hpp>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>

namespace krylith::bench {

namespace {

void check_spgemm(cusparseStatus_t status, const char* what) {
    if (status != CUSPARSE_STATUS_SUCCESS)
        cudaGetLastError(); // a refused allocation is no failure of what comes next
    check_cusparse(status, what);
}

/// Memory of the runtime, as users of cuSPARSE have it.
class runtime_block {
public:
    runtime_block() = default;
    runtime_block(const runtime_block&) = delete;
    runtime_block& operator=(const runtime_block&) = delete;
    ~runtime_block() { cudaFree(memory_); }
    void* resize(std::size_t bytes) {
        cudaFree(memory_);
        memory_ = nullptr;
        bytes_ = bytes;
        if (bytes != 0) KRYLITH_CUDA_CHECK(cudaMalloc(&memory_, bytes));
        return memory_;
    }
    [[nodiscard]] void* get() const noexcept { return memory_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A matrix on the device with offsets of 32 bits.
template <class T>
class cusparse_factor {
public:
    cusparse_factor(const std::shared_ptr<device>& on, const csr_matrix<T>& a)
        : offsets_(on, a.row_offsets.size(), "cuSPARSE"),
          indices_(on, a.column_indices.size(), "cuSPARSE"),
          values_(on, a.values.size(), "cuSPARSE") {
        const std::vector<std::int32_t> narrow(a.row_offsets.begin(), a.row_offsets.end());
        on->upload(offsets_.data(), narrow.data(), narrow.size() * sizeof(std::int32_t));
        on->upload(indices_.data(), a.column_indices.data(),
                   a.column_indices.size() * sizeof(std::int32_t));
        on->upload(values_.data(), a.values.data(), a.values.size() * sizeof(T));
        check_spgemm(cusparseCreateCsr(&matrix, a.rows, a.columns, a.nnz(), offsets_.data(),
                                       indices_.data(), values_.data(), CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
                     "create matrix");
    }
    cusparse_factor(const cusparse_factor&) = delete;
    cusparse_factor& operator=(const cusparse_factor&) = delete;
    ~cusparse_factor() { cusparseDestroySpMat(matrix); }

    static constexpr cudaDataType type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
    cusparseSpMatDescr_t matrix = nullptr;

private:
    buffer<std::int32_t> offsets_;
    buffer<std::int32_t> indices_;
    buffer<T> values_;
};

/// C = A B from nothing, all memory given back in the end.
template <class T>
class cusparse_run {
public:
    cusparse_run(cusparseHandle_t handle, const cusparse_factor<T>& a, const cusparse_factor<T>& b,
                 std::int64_t rows, std::int64_t columns)
        : handle_(handle), a_(a.matrix), b_(b.matrix) {
        check_spgemm(cusparseSpGEMM_createDescr(&descriptor_), "create description");
        c_offsets_.resize(static_cast<std::size_t>(rows + 1) * sizeof(std::int32_t));
        check_spgemm(cusparseCreateCsr(&c_, rows, columns, 0, c_offsets_.get(), nullptr, nullptr,
                                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_BASE_ZERO, type),
                     "create C");
    }
    cusparse_run(const cusparse_run&) = delete;
    cusparse_run& operator=(const cusparse_run&) = delete;
    ~cusparse_run() {
        cusparseDestroySpMat(c_);
        cusparseSpGEMM_destroyDescr(descriptor_);
    }

    void whole() {
        const auto two = [&](const auto& function, runtime_block& block, const char* what) {
            std::size_t bytes = 0;
            for (void* at : {static_cast<void*>(nullptr), static_cast<void*>(&bytes)})
                check_spgemm(function(handle_, none, none, &one, a_, b_, &zero, c_, type, alg,
                                      descriptor_, &bytes,
                                      at == nullptr ? nullptr : block.resize(bytes)),
                             what);
        };
        two(cusparseSpGEMM_workEstimation, blocks_[0], "SpGEMM_workEstimation");
        two(cusparseSpGEMM_compute, blocks_[1], "SpGEMM_compute");
        make_room();
        check_spgemm(cusparseSpGEMM_copy(handle_, none, none, &one, a_, b_, &zero, c_, type, alg,
                                         descriptor_),
                     "SpGEMM_copy");
    }

    void analyse_for_reuse() {
        std::size_t bytes[5] = {};
        check_spgemm(cusparseSpGEMMreuse_workEstimation(handle_, none, none, a_, b_, c_, alg,
                                                        descriptor_, &bytes[0], nullptr),
                     "SpGEMMreuse_workEstimation");
        check_spgemm(cusparseSpGEMMreuse_workEstimation(handle_, none, none, a_, b_, c_, alg,
                                                        descriptor_, &bytes[0],
                                                        blocks_[0].resize(bytes[0])),
                     "SpGEMMreuse_workEstimation");
        check_spgemm(cusparseSpGEMMreuse_nnz(handle_, none, none, a_, b_, c_, alg, descriptor_,
                                             &bytes[1], nullptr, &bytes[2], nullptr, &bytes[3],
                                             nullptr),
                     "SpGEMMreuse_nnz");
        check_spgemm(cusparseSpGEMMreuse_nnz(handle_, none, none, a_, b_, c_, alg, descriptor_,
                                             &bytes[1], blocks_[1].resize(bytes[1]), &bytes[2],
                                             blocks_[2].resize(bytes[2]), &bytes[3],
                                             blocks_[3].resize(bytes[3])),
                     "SpGEMMreuse_nnz");
        make_room();
        check_spgemm(cusparseSpGEMMreuse_copy(handle_, none, none, a_, b_, c_, alg, descriptor_,
                                              &bytes[4], nullptr),
                     "SpGEMMreuse_copy");
        check_spgemm(cusparseSpGEMMreuse_copy(handle_, none, none, a_, b_, c_, alg, descriptor_,
                                              &bytes[4], blocks_[4].resize(bytes[4])),
                     "SpGEMMreuse_copy");
    }

    void reuse() {
        check_spgemm(cusparseSpGEMMreuse_compute(handle_, none, none, &one, a_, b_, &zero, c_, type,
                                                 alg, descriptor_),
                     "SpGEMMreuse_compute");
    }

    [[nodiscard]] std::size_t buffer_bytes() const {
        std::size_t sum = 0;
        for (const runtime_block& block : blocks_) sum += block.bytes();
        return sum;
    }

private:
    static constexpr cudaDataType type = cusparse_factor<T>::type;
    static constexpr cusparseSpGEMMAlg_t alg = CUSPARSE_SPGEMM_DEFAULT;
    static constexpr cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;

    void make_room() {
        std::int64_t rows = 0;
        std::int64_t columns = 0;
        std::int64_t nonzeros = 0;
        check_spgemm(cusparseSpMatGetSize(c_, &rows, &columns, &nonzeros), "get size");
        const auto count = static_cast<std::size_t>(nonzeros);
        check_spgemm(cusparseCsrSetPointers(c_, c_offsets_.get(),
                                            c_indices_.resize(count * sizeof(std::int32_t)),
                                            c_values_.resize(count * sizeof(T))),
                     "set pointers");
    }

    cusparseHandle_t handle_;
    cusparseSpMatDescr_t a_;
    cusparseSpMatDescr_t b_;
    cusparseSpGEMMDescr_t descriptor_ = nullptr;
    cusparseSpMatDescr_t c_ = nullptr;
    const T one = 1;
    const T zero = 0;
    runtime_block c_offsets_, c_indices_, c_values_;
    runtime_block blocks_[5];
};

template <class T>
class cusparse_phases final : public cusparse_spgemm {
public:
    cusparse_phases(std::shared_ptr<device> on, const csr_matrix<T>& a, const csr_matrix<T>& b)
        : on_(std::move(on)), a_(on_, a), b_(on_, b), rows_(a.rows), columns_(b.columns) {
        check_spgemm(cusparseCreate(&handle_), "create");
        check_spgemm(cusparseSetStream(handle_, static_cast<cuda::cuda_device&>(*on_).stream()),
                     "set stream");
    }
    ~cusparse_phases() override {
        kept_.reset();
        cusparseDestroy(handle_);
    }

    void whole() override {
        const cuda::current_device current(on_->ordinal());
        cusparse_run<T> run(handle_, a_, b_, rows_, columns_);
        run.whole();
        bytes_ = run.buffer_bytes();
    }
    void prepare_reuse() override {
        const cuda::current_device current(on_->ordinal());
        kept_.reset(); // gives its memory back first
        kept_ = std::make_unique<cusparse_run<T>>(handle_, a_, b_, rows_, columns_);
        kept_->analyse_for_reuse();
    }
    void reuse() override {
        const cuda::current_device current(on_->ordinal());
        kept_->reuse();
    }
    [[nodiscard]] std::size_t buffer_bytes() const override { return bytes_; }

private:
    std::shared_ptr<device> on_;
    cusparse_factor<T> a_;
    cusparse_factor<T> b_;
    std::int64_t rows_;
    std::int64_t columns_;
    cusparseHandle_t handle_ = nullptr;
    std::unique_ptr<cusparse_run<T>> kept_;
    std::size_t bytes_ = 0;
};

} // namespace

template <class T>
std::unique_ptr<cusparse_spgemm> make_cusparse_spgemm(const std::shared_ptr<device>& on,
                                                      const csr_matrix<T>& a,
                                                      const csr_matrix<T>& b) {
    return std::make_unique<cusparse_phases<T>>(on, a, b);
}

template std::unique_ptr<cusparse_spgemm> make_cusparse_spgemm(const std::shared_ptr<device>&,
                                                               const csr_matrix<double>&,
                                                               const csr_matrix<double>&);
template std::unique_ptr<cusparse_spgemm> make_cusparse_spgemm(const std::shared_ptr<device>&,
                                                               const csr_matrix<float>&,
                                                               const csr_matrix<float>&);

} // namespace krylith::bench

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <cusparse.h>
#include <fmt/format.h>

#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/bench/sparse/spgemm_peers.hpp>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>

namespace krylith::bench {

namespace {

void check_spgemm(cusparseStatus_t status, const char* what) {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    cudaGetLastError(); // a refused allocation is no failure of what comes next
    throw device_error(std::string("cuSPARSE: ") + what + ": " + cusparseGetErrorString(status));
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
        : offsets_(on, std::vector<std::int32_t>(a.row_offsets.begin(), a.row_offsets.end()),
                   "cuSPARSE"),
          indices_(on, a.column_indices, "cuSPARSE"),
          values_(on, a.values, "cuSPARSE") {
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
        : handle_(handle), a_(a.matrix), b_(b.matrix), rows_(rows) {
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
        const auto two = [&](auto function, runtime_block& block, const char* what) {
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
    std::int64_t rows_;
    cusparseSpGEMMDescr_t descriptor_ = nullptr;
    cusparseSpMatDescr_t c_ = nullptr;
    const T one = 1;
    const T zero = 0;
    runtime_block c_offsets_, c_indices_, c_values_;
    runtime_block blocks_[5];
};

} // namespace

template <class T>
spgemm_peer_times cusparse_spgemm_times(const std::shared_ptr<device>& on, int repeats,
                                        const csr_matrix<T>& a, const csr_matrix<T>& b) {
    spgemm_peer_times times{.name = "cusparse"};
    if (a.nnz() > std::numeric_limits<std::int32_t>::max() ||
        b.nnz() > std::numeric_limits<std::int32_t>::max()) {
        times.note = "more than 2^31 - 1 nonzeros are not given to cuSPARSE";
        return times;
    }
    const cuda::current_device current(on->ordinal());
    cusparseHandle_t handle = nullptr;
    check_spgemm(cusparseCreate(&handle), "create");
    try {
        check_spgemm(cusparseSetStream(handle, static_cast<cuda::cuda_device&>(*on).stream()),
                     "set stream");
        const cusparse_factor<T> fa(on, a);
        const cusparse_factor<T> fb(on, b);
        std::size_t bytes = 0;
        times.whole = time_runs(*on, repeats, [&] {
                          cusparse_run<T> run(handle, fa, fb, a.rows, b.columns);
                          run.whole();
                          bytes = run.buffer_bytes();
                      }).median;
        times.note = fmt::format("cuSPARSE's buffers {:.2f} GB", static_cast<double>(bytes) / 1e9);
        cusparse_run<T> kept(handle, fa, fb, a.rows, b.columns);
        kept.analyse_for_reuse();
        times.numeric = time_runs(*on, repeats, [&] { kept.reuse(); }).median;
    } catch (const device_error& e) { // it needs more memory than there is, often
        cudaGetLastError();
        times.note += (times.note.empty() ? "" : "; ") + std::string(e.what());
    }
    cusparseDestroy(handle);
    return times;
}

template spgemm_peer_times cusparse_spgemm_times(const std::shared_ptr<device>&, int,
                                                 const csr_matrix<double>&,
                                                 const csr_matrix<double>&);
template spgemm_peer_times cusparse_spgemm_times(const std::shared_ptr<device>&, int,
                                                 const csr_matrix<float>&,
                                                 const csr_matrix<float>&);

} // namespace krylith::bench

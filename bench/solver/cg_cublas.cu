#include <krylith/bench/solver/cg_cublas.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include <cublas_v2.h>

#include <krylith/bench/common/cusparse_library.cuh>
#include <krylith/device/cuda/cuda_check.cuh>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

const shared_library cublas_library = {
    .name = "cuBLAS",
    .file = KRYLITH_SONAME("libcublas", CUBLAS_VER_MAJOR),
    .other = "",
    .needs = "install CUDA's package libcublas, whose folder the system's loader or "
             "LD_LIBRARY_PATH must know; only this comparison needs it"};

KRYLITH_LOADED(cublas_library, cublasCreate);
KRYLITH_LOADED(cublas_library, cublasDestroy);
KRYLITH_LOADED(cublas_library, cublasSetStream);
KRYLITH_LOADED(cublas_library, cublasSetPointerMode);
KRYLITH_LOADED(cublas_library, cublasGetStatusString);
KRYLITH_LOADED(cublas_library, cublasDdot);
KRYLITH_LOADED(cublas_library, cublasDaxpy);
KRYLITH_LOADED(cublas_library, cublasDscal);

void check_cublas(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw device_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
    }
}

/// The product q = A p by cuSPARSE.
class csr_product {
public:
    csr_product(const std::shared_ptr<device>& device, cudaStream_t stream,
                const csr_matrix<double>& a, double* p, double* q)
        : columns_(device, std::span(a.column_indices), "baseline matrix"),
          values_(device, std::span(a.values), "baseline matrix") {
        const std::vector<std::int32_t> narrow(a.row_offsets.begin(), a.row_offsets.end());
        offsets_ = buffer<std::int32_t>(device, std::span(narrow), "baseline matrix");
        check_cusparse(cusparseCreate(&handle_), "create");
        check_cusparse(cusparseSetStream(handle_, stream), "set stream");
        check_cusparse(cusparseCreateCsr(&matrix_, a.rows, a.columns, a.nnz(), offsets_.data(),
                                         columns_.data(), values_.data(), CUSPARSE_INDEX_32I,
                                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
                       "create matrix");
        check_cusparse(cusparseCreateDnVec(&p_, a.columns, p, CUDA_R_64F), "create p");
        check_cusparse(cusparseCreateDnVec(&q_, a.rows, q, CUDA_R_64F), "create q");
        choose_algorithm(device, stream);
    }

    csr_product(const csr_product&) = delete;
    csr_product& operator=(const csr_product&) = delete;

    ~csr_product() {
        cusparseDestroyDnVec(q_);
        cusparseDestroyDnVec(p_);
        cusparseDestroySpMat(matrix_);
        cusparseDestroy(handle_);
    }

    void enqueue() {
        check_cusparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, p_,
                                    &zero, q_, CUDA_R_64F, algorithm_, workspace_.data()),
                       "product");
    }

    [[nodiscard]] const char* algorithm() const {
        return algorithm_ == CUSPARSE_SPMV_CSR_ALG1 ? "CSR_ALG1" : "default";
    }

private:
    static constexpr double one = 1;
    static constexpr double zero = 0;

    void choose_algorithm(const std::shared_ptr<device>& device, cudaStream_t stream) {
        constexpr std::array candidates = {CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_CSR_ALG1};
        cusparseSpMVAlg_t best = candidates.front();
        double least = std::numeric_limits<double>::infinity();
        for (const auto candidate : candidates) {
            prepare(device, candidate);
            const double seconds = time_products(stream);
            if (seconds < least) {
                least = seconds;
                best = candidate;
            }
        }
        prepare(device, best);
    }

    void prepare(const std::shared_ptr<device>& device, cusparseSpMVAlg_t algorithm) {
        algorithm_ = algorithm;
        std::size_t bytes = 0;
        check_cusparse(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                               matrix_, p_, &zero, q_, CUDA_R_64F, algorithm_,
                                               &bytes),
                       "buffer size");
        workspace_ = buffer<unsigned char>(device, bytes, "baseline workspace");
        check_cusparse(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                               matrix_, p_, &zero, q_, CUDA_R_64F, algorithm_,
                                               workspace_.data()),
                       "preprocess");
    }

    [[nodiscard]] double time_products(cudaStream_t stream) {
        const auto products = [&](int count) {
            KRYLITH_CUDA_CHECK(cudaStreamSynchronize(stream));
            const tool::stopwatch watch;
            for (int i = 0; i < count; ++i) {
                enqueue();
            }
            KRYLITH_CUDA_CHECK(cudaStreamSynchronize(stream));
            return watch.seconds();
        };
        (void)products(10);
        double least = products(40);
        for (int repetition = 0; repetition < 2; ++repetition) {
            least = std::min(least, products(40));
        }
        return least;
    }

    buffer<std::int32_t> offsets_;
    buffer<std::int32_t> columns_;
    buffer<double> values_;
    buffer<unsigned char> workspace_;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t p_ = nullptr;
    cusparseDnVecDescr_t q_ = nullptr;
    cusparseSpMVAlg_t algorithm_ = CUSPARSE_SPMV_ALG_DEFAULT;
};

class cublas_cg final : public solver_contestant {
public:
    cublas_cg(const workload& w, int ordinal)
        : ordinal_(ordinal),
          device_(cuda::make_devices({&ordinal, 1}, {}).front()),
          stream_(static_cast<cudaStream_t>(cuda::stream_of(*device_))),
          n_(static_cast<int>(w.n())),
          rhs_norm_(w.rhs_norm) {
        const cuda::current_device current(ordinal_);
        const tool::stopwatch watch;
        for (auto* v : {&b_, &x_, &r_, &p_, &q_}) {
            *v = buffer<double>(device_, w.b.size(), "baseline vectors");
        }
        b_.upload(w.b);
        // The products are timed on true data: zeros can be faster.
        p_.upload(w.b);
        product_ = std::make_unique<csr_product>(device_, stream_, w.matrix, p_.data(), q_.data());
        check_cublas(cublasCreate(&blas_));
        check_cublas(cublasSetStream(blas_, stream_));
        check_cublas(cublasSetPointerMode(blas_, CUBLAS_POINTER_MODE_HOST));
        KRYLITH_CUDA_CHECK(cudaStreamSynchronize(stream_));
        setup_seconds_ = watch.seconds();
    }

    ~cublas_cg() override {
        const cuda::current_device current(ordinal_);
        if (blas_ != nullptr) {
            cublasDestroy(blas_);
        }
    }

    [[nodiscard]] std::string name() const override {
        return std::string("cusparse+cublas, host scalars, ") + product_->algorithm();
    }

    [[nodiscard]] double iterate(std::int64_t iterations) override {
        const solver_outcome outcome = run(0, iterations);
        if (outcome.iterations != iterations) {
            throw measurement_failed("the baseline ended after " +
                                     std::to_string(outcome.iterations) + " of " +
                                     std::to_string(iterations) + " iterations");
        }
        return outcome.seconds;
    }

    [[nodiscard]] solver_outcome solve(double rtol, std::int64_t max_iterations) override {
        solver_outcome outcome = run(rtol, max_iterations);
        outcome.x = x_.download();
        return outcome;
    }

    [[nodiscard]] double setup_seconds() const override { return setup_seconds_; }

private:
    [[nodiscard]] double dot(const buffer<double>& a, const buffer<double>& b) const {
        double sum = 0;
        check_cublas(cublasDdot(blas_, n_, a.data(), 1, b.data(), 1, &sum)); // waits for the device
        return sum;
    }

    /// Adds c v to y.
    void axpy(double c, const buffer<double>& v, buffer<double>& y) const {
        check_cublas(cublasDaxpy(blas_, n_, &c, v.data(), 1, y.data(), 1));
    }

    solver_outcome run(double rtol, std::int64_t max_iterations) {
        const cuda::current_device current(ordinal_);
        const std::size_t bytes = b_.size() * sizeof(double);
        const double target = rtol * rhs_norm_;
        KRYLITH_CUDA_CHECK(cudaStreamSynchronize(stream_));
        solver_outcome outcome;
        const tool::stopwatch watch;
        x_.zero();
        device_->copy(r_.data(), b_.data(), bytes);
        device_->copy(p_.data(), b_.data(), bytes);
        double rr = dot(r_, r_);
        while (std::sqrt(rr) > target && outcome.iterations < max_iterations) {
            product_->enqueue(); // q = A p
            const double alpha = rr / dot(p_, q_);
            axpy(alpha, p_, x_);
            axpy(-alpha, q_, r_);
            const double before = std::exchange(rr, dot(r_, r_));
            const double beta = rr / before;
            check_cublas(cublasDscal(blas_, n_, &beta, p_.data(), 1));
            axpy(1, r_, p_);
            ++outcome.iterations;
        }
        KRYLITH_CUDA_CHECK(cudaStreamSynchronize(stream_));
        outcome.seconds = watch.seconds();
        outcome.converged = std::sqrt(rr) <= target;
        outcome.reason = outcome.converged ? "converged" : "max_iterations";
        return outcome;
    }

    int ordinal_;
    std::shared_ptr<device> device_;
    cudaStream_t stream_;
    int n_;
    double rhs_norm_;
    buffer<double> b_;
    buffer<double> x_;
    buffer<double> r_;
    buffer<double> p_;
    buffer<double> q_;
    std::unique_ptr<csr_product> product_;
    cublasHandle_t blas_ = nullptr;
    double setup_seconds_ = 0;
};

} // namespace

std::unique_ptr<solver_contestant> make_cublas_cg(const workload& w, int ordinal) {
    if (w.nnz() > std::numeric_limits<std::int32_t>::max()) {
        throw usage_error("the baseline counts nonzeros in 32 bits, " + std::to_string(w.nnz()) +
                          " are too many");
    }
    return std::make_unique<cublas_cg>(w, ordinal);
}

} // namespace krylith::bench

// A matrix with giant rows, cut into equal entries by pCSR and multiplied by cuSPARSE, a part on
// each GPU: the cut alone, for programs that have products of their own. Parts go round where there
// are more of them than GPUs.
//
//     example_cusparse_parts [GALLERY [PARTS]]
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <cusparse.h>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/pcsr.hpp>

using namespace krylith;

namespace {

void expect(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
void expect(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}

/// A copy of an array on the current GPU.
template <class T>
class device_array {
public:
    explicit device_array(std::span<const T> host) {
        void* memory = nullptr;
        expect(cudaMalloc(&memory, std::max<std::size_t>(1, host.size_bytes())));
        memory_.reset(memory);
        expect(cudaMemcpy(memory, host.data(), host.size_bytes(), cudaMemcpyHostToDevice));
    }
    [[nodiscard]] void* get() const { return memory_.get(); }

private:
    struct freed {
        void operator()(void* memory) const { (void)cudaFree(memory); }
    };
    std::unique_ptr<void, freed> memory_;
};

/// A range of the matrix on a GPU: for cuSPARSE a matrix like any other, since columns and values
/// lie in it as they do in the whole one.
class part {
public:
    part(int gpu, const csr_matrix<double>& a, const major_range& range,
         const std::vector<double>& x)
        : gpu_(gpu),
          offsets_((expect(cudaSetDevice(gpu)), narrow(range_offsets(a.row_offsets, range)))),
          columns_(entries(a.column_indices, range)),
          values_(entries(a.values, range)),
          x_(std::span(x)),
          sums_(static_cast<std::size_t>(range.majors())),
          y_(std::span<const double>(sums_)) {
        expect(cusparseCreate(&handle_));
        expect(cusparseCreateCsr(&matrix_, range.majors(), a.columns, range.entries(),
                                 offsets_.get(), columns_.get(), values_.get(), CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
        expect(cusparseCreateDnVec(&from_, a.columns, x_.get(), CUDA_R_64F));
        expect(cusparseCreateDnVec(&to_, range.majors(), y_.get(), CUDA_R_64F));
        std::size_t bytes = 0;
        expect(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_,
                                       from_, &zero, to_, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT,
                                       &bytes));
        room_ = std::make_unique<device_array<char>>(std::vector<char>(bytes));
    }
    part(const part&) = delete;
    part& operator=(const part&) = delete;
    ~part() {
        (void)cudaSetDevice(gpu_);
        (void)cusparseDestroyDnVec(to_);
        (void)cusparseDestroyDnVec(from_);
        (void)cusparseDestroySpMat(matrix_);
        (void)cusparseDestroy(handle_);
    }

    /// Enqueues y = A x of the range.
    void multiply() {
        expect(cudaSetDevice(gpu_));
        expect(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, from_, &zero,
                            to_, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, room_->get()));
    }
    /// Waits for it. The sums of the rows from range.start_major on.
    [[nodiscard]] const std::vector<double>& sums() {
        expect(cudaSetDevice(gpu_));
        expect(cudaMemcpy(sums_.data(), y_.get(), sums_.size() * sizeof(double),
                          cudaMemcpyDeviceToHost));
        return sums_;
    }

private:
    static constexpr double one = 1;
    static constexpr double zero = 0;

    /// cuSPARSE wants offsets as wide as columns.
    static std::vector<std::int32_t> narrow(const std::vector<std::int64_t>& offsets) {
        return {offsets.begin(), offsets.end()};
    }
    template <class T>
    static std::span<const T> entries(const std::vector<T>& all, const major_range& range) {
        return std::span(all).subspan(static_cast<std::size_t>(range.start_idx),
                                      static_cast<std::size_t>(range.entries()));
    }

    int gpu_;
    device_array<std::int32_t> offsets_;
    device_array<std::int32_t> columns_;
    device_array<double> values_;
    device_array<double> x_;
    std::vector<double> sums_;
    device_array<double> y_;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t from_ = nullptr;
    cusparseDnVecDescr_t to_ = nullptr;
    std::unique_ptr<device_array<char>> room_;
};

/// Returns A x by parts of equal entries.
std::vector<double> multiply_by_parts(const csr_matrix<double>& a, const std::vector<double>& x,
                                      int count) {
    const pcsr cut = make_pcsr(a.row_offsets, equal_entries(a.row_offsets.back(), count));
    std::vector<std::unique_ptr<part>> parts;
    for (const major_range& range : cut.ranges) {
        const int gpu = static_cast<int>(parts.size()) % cuda_device_count();
        parts.push_back(std::make_unique<part>(gpu, a, range, x));
        std::printf("GPU %d: rows %lld to %lld, %lld entries%s\n", gpu,
                    static_cast<long long>(range.start_major),
                    static_cast<long long>(range.end_major - 1),
                    static_cast<long long>(range.entries()),
                    range.start_flag ? ", the first row goes on from another part" : "");
    }
    for (const auto& one : parts) one->multiply(); // all GPUs at once

    std::vector<double> y(static_cast<std::size_t>(a.rows));
    std::vector<double> firsts;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const std::vector<double>& sums = parts[k]->sums();
        const row_range own = cut.ranges[k].owned();
        std::copy(sums.end() - own.size(), sums.end(), y.begin() + own.begin);
        firsts.push_back(sums.empty() ? 0 : sums.front());
    }
    for (const shared_major& row : cut.shared)
        for (auto k = static_cast<std::size_t>(row.first) + 1;
             k <= static_cast<std::size_t>(row.last); ++k)
            if (cut.ranges[k].entries() != 0) y[static_cast<std::size_t>(row.major)] += firsts[k];
    return y;
}

/// Whether y is A x, by a loop over the rows.
bool is_product(const csr_matrix<double>& a, const std::vector<double>& x,
                const std::vector<double>& y) {
    double largest = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        double sum = 0;
        double magnitudes = 1e-300;
        for (auto e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) {
            const auto k = static_cast<std::size_t>(e);
            const double term = a.values[k] * x[static_cast<std::size_t>(a.column_indices[k])];
            sum += term;
            magnitudes += std::fabs(term);
        }
        largest = std::max(largest, std::fabs(sum - y[i]) / magnitudes);
    }
    std::printf("largest error of a row, over the sum of its magnitudes: %.1e\n", largest);
    return largest < 1e-12;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (cuda_device_count() == 0) throw std::runtime_error("there is no GPU");
        const auto a = make_gallery<double>(argc > 1 ? argv[1] : "fullchip:300000");
        const int parts = argc > 2 ? std::atoi(argv[2]) : std::max(4, cuda_device_count());
        std::vector<double> x(static_cast<std::size_t>(a.columns));
        for (std::size_t j = 0; j < x.size(); ++j) x[j] = std::sin(static_cast<double>(j));
        const bool good = is_product(a, x, multiply_by_parts(a, x, parts));
        std::puts(good ? "The parts make the whole product." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_cusparse_parts: %s\n", e.what());
        return 1;
    }
}

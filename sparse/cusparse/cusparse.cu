// The CSR product of cuSPARSE as a format: to compare with, and for patterns where it is faster.

#include <algorithm>
#include <limits>
#include <type_traits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/cusparse/cusparse_library.cuh>
#include <krylith/sparse/external/external_product.hpp>
#include <krylith/sparse/residual/row_kernels.cuh>
#include <krylith/sparse/storage/block_array.hpp>

namespace krylith::cuda {

namespace {

template <class T>
constexpr cudaDataType_t data_type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

template <class T>
class cusparse_matrix final : public device_matrix<T>, private whole_intake<T> {
public:
    cusparse_matrix(std::shared_ptr<device> device, const local_csr<T>& block)
        : device_(std::move(device)), rows_(block.rows) {
        const std::int64_t nnz = block.nonzeros();
        // The arrays are always copied: a descriptor of cuSPARSE would have to follow the caller's
        // arrays.
        local_csr<T> copied = block;
        copied.borrow = false;
        values_ = values_of(device_, copied, item_);
        own_ = buffer<T>(device_, static_cast<std::size_t>(rows_), "product");
        own_.zero();                  // cuSPARSE takes no empty matrix: A x stays zero
        if (rows_ == 0 || nnz == 0) { // diagonal() needs them all the same
            narrow_offsets_ =
                buffer<std::int32_t>(device_, static_cast<std::size_t>(rows_) + 1, item_);
            narrow_offsets_.zero();
            return;
        }
        const resident_pattern pattern(device_, block, true);
        const current_device current(device_->ordinal());
        const bool narrow = nnz <= std::numeric_limits<std::int32_t>::max();
        if (narrow)
            take_pattern(*pattern, narrow_offsets_, columns_);
        else // cuSPARSE takes offsets and columns of the same width
            take_pattern(*pattern, wide_offsets_, wide_columns_);
        make_descriptors(block.columns, nnz, narrow);
        prepare_product();
        device_->synchronize(); // before the pattern is given back
    }

    ~cusparse_matrix() override {
        const current_device current(device_->ordinal());
        if (x_ != nullptr) cusparseDestroyDnVec(x_);
        if (y_ != nullptr) cusparseDestroyDnVec(y_);
        if (matrix_ != nullptr) cusparseDestroySpMat(matrix_);
        if (handle_ != nullptr) cusparseDestroy(handle_);
    }

    void apply(const spmv_arguments<T>& a) override {
        before_product(*device_, a);
        // The product goes into y only where the loop can't have stopped, since cuSPARSE runs all
        // the same.
        const bool direct = (!a.common.guarded || handle_ == nullptr) && leaves_rows_in_place(a);
        T* const product = handle_ != nullptr && direct ? a.y : own_.data();
        if (handle_ != nullptr) {
            const T alpha = direct ? a.alpha : T(1);
            const T beta = direct ? a.beta : T(0);
            const current_device current(device_->ordinal());
            check_cusparse(cusparseDnVecSetValues(x_, const_cast<T*>(a.x)), "set x");
            check_cusparse(cusparseDnVecSetValues(y_, product), "set y");
            check_cusparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix_,
                                        x_, &beta, y_, data_type<T>, CUSPARSE_SPMV_CSR_ALG2,
                                        workspace_.data()),
                           "product");
        }
        after_product(*device_, a, rows_, product);
    }

    void update(std::span<const T> values) override { values_.upload(values); }
    [[nodiscard]] value_intake<T>* intake() override { return this; }
    void update_on_device(const T* values) override { values_.take(*device_, values); }
    void diagonal(T* d, const row_map& rows, std::int64_t first_owned) const override {
        with_rows([&](const auto& all) { compute_diagonal(*device_, all, rows, first_owned, d); });
    }
    [[nodiscard]] buffer<residual_sums> residual(const residual_operands<T>& a) const override {
        return with_rows([&](const auto& all) { return compute_residual(device_, all, a); });
    }
    [[nodiscard]] std::string name() const override { return "cusparse"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override {
        const std::int64_t width = wide_columns_.size() != 0 ? 8 : 4;
        return static_cast<std::int64_t>(values_.size()) *
                   (static_cast<std::int64_t>(sizeof(T)) + width) +
               (rows_ + 1) * width;
    }

private:
    template <class Index>
    void take_pattern(const device_pattern& from, buffer<Index>& offsets, buffer<Index>& columns) {
        const std::int64_t nnz = from.lengths.nonzeros;
        columns = buffer<Index>(device_, static_cast<std::size_t>(nnz), item_);
        move_indices(*device_, from.columns, nnz, 0, columns.data());
        offsets = buffer<Index>(device_, static_cast<std::size_t>(rows_) + 1, item_);
        move_indices(*device_, from.offsets, rows_ + 1, 0, offsets.data());
    }

    void make_descriptors(std::int64_t columns, std::int64_t nnz, bool narrow) {
        const auto width = narrow ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
        void* const starts = narrow ? static_cast<void*>(narrow_offsets_.data())
                                    : static_cast<void*>(wide_offsets_.data());
        void* const indices =
            narrow ? static_cast<void*>(columns_.data()) : static_cast<void*>(wide_columns_.data());
        check_cusparse(cusparseCreate(&handle_), "create");
        check_cusparse(cusparseSetStream(handle_, static_cast<cuda_device&>(*device_).stream()),
                       "set stream");
        T* const values = const_cast<T*>(values_.data()); // cuSPARSE has no const here
        // cuSPARSE refuses more nonzeros than rows times columns, which a matrix with entries of
        // the same place can have. It reads x at the columns of entries alone.
        columns = std::max(columns, (nnz + rows_ - 1) / rows_);
        check_cusparse(cusparseCreateCsr(&matrix_, rows_, columns, nnz, starts, indices, values,
                                         width, width, CUSPARSE_INDEX_BASE_ZERO, data_type<T>),
                       "create matrix");
        check_cusparse(cusparseCreateDnVec(&x_, columns, values, data_type<T>), "create x");
        check_cusparse(cusparseCreateDnVec(&y_, rows_, values, data_type<T>), "create y");
    }

    void prepare_product() {
        const T one = 1;
        const T zero = 0;
        std::size_t bytes = 0;
        check_cusparse(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                               matrix_, x_, &zero, y_, data_type<T>,
                                               CUSPARSE_SPMV_CSR_ALG2, &bytes),
                       "buffer size");
        workspace_ = buffer<unsigned char>(device_, bytes, "cuSPARSE workspace");
        check_cusparse(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                               matrix_, x_, &zero, y_, data_type<T>,
                                               CUSPARSE_SPMV_CSR_ALG2, workspace_.data()),
                       "preprocess");
    }

    [[nodiscard]] const block_array<T>& array() const override { return values_; }
    template <class F>
    auto with_rows(const F& f) const {
        if (wide_offsets_.size() != 0)
            return f(csr_rows<T, std::int64_t, std::int64_t>{
                wide_offsets_.data(), wide_columns_.data(), values_.data(), rows_});
        return f(csr_rows<T, std::int32_t>{narrow_offsets_.data(), columns_.data(), values_.data(),
                                           rows_});
    }
    static constexpr const char* item_ = "matrix";

    std::shared_ptr<device> device_;
    std::int64_t rows_;
    buffer<std::int32_t> narrow_offsets_;
    buffer<std::int64_t> wide_offsets_;
    buffer<std::int32_t> columns_;
    buffer<std::int64_t> wide_columns_;
    block_array<T> values_;
    buffer<T> own_; ///< A x where it can't go into y directly
    buffer<unsigned char> workspace_;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t x_ = nullptr;
    cusparseDnVecDescr_t y_ = nullptr;
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_cusparse(std::shared_ptr<device> device,
                                                const local_csr<T>& block) {
    return std::make_unique<cusparse_matrix<T>>(std::move(device), block);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_cusparse(std::shared_ptr<device>,              \
                                                             const local_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <krylith/bench/common/cusparse_library.cuh>
#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/bench/sparse/transpose_peers.hpp>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/matrix/conversions.hpp>

namespace krylith::bench {

namespace {

/// csr2csc with everything on the device, in offsets of 32 bits, as it takes no others.
template <class T>
class cusparse_transposition {
public:
    cusparse_transposition(const std::shared_ptr<device>& on, const csr_matrix<T>& a)
        : on_(on),
          rows_(static_cast<int>(a.rows)),
          columns_(static_cast<int>(a.columns)),
          nonzeros_(static_cast<int>(a.nnz())),
          offsets_(upload(on, a.row_offsets)),
          indices_(on, std::span<const std::int32_t>(a.column_indices), item),
          values_(on, std::span<const T>(a.values), item),
          to_offsets_(on, static_cast<std::size_t>(a.columns) + 1, item),
          to_indices_(on, a.column_indices.size(), item),
          to_values_(on, a.values.size(), item) {
        const cuda::launch_scope launch(*on_);
        check_cusparse(cusparseCreate(&handle_), "create");
        check_cusparse(cusparseSetStream(handle_, launch.stream()), "set stream");
        std::size_t bytes = 0;
        check_cusparse(cusparseCsr2cscEx2_bufferSize(
                           handle_, rows_, columns_, nonzeros_, values_.data(), offsets_.data(),
                           indices_.data(), to_values_.data(), to_offsets_.data(),
                           to_indices_.data(), type, CUSPARSE_ACTION_NUMERIC,
                           CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, &bytes),
                       "buffer size");
        workspace_ = {on_, bytes, "cuSPARSE workspace"};
    }
    cusparse_transposition(const cusparse_transposition&) = delete;
    cusparse_transposition& operator=(const cusparse_transposition&) = delete;
    ~cusparse_transposition() {
        const cuda::launch_scope launch(*on_);
        if (handle_ != nullptr) cusparseDestroy(handle_);
    }

    void run() {
        const cuda::launch_scope launch(*on_);
        check_cusparse(cusparseCsr2cscEx2(handle_, rows_, columns_, nonzeros_, values_.data(),
                                          offsets_.data(), indices_.data(), to_values_.data(),
                                          to_offsets_.data(), to_indices_.data(), type,
                                          CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                          CUSPARSE_CSR2CSC_ALG1, workspace_.data()),
                       "csr2csc");
    }
    /// Whether the result is this one.
    [[nodiscard]] bool gave(const csr_matrix<T>& expected) const {
        const std::vector<std::int32_t> offsets = to_offsets_.download();
        return std::equal(offsets.begin(), offsets.end(), expected.row_offsets.begin(),
                          expected.row_offsets.end()) &&
               to_indices_.download() == expected.column_indices &&
               to_values_.download() == expected.values;
    }

private:
    static constexpr const char* item = "cuSPARSE";
    static constexpr cudaDataType_t type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

    static buffer<std::int32_t> upload(const std::shared_ptr<device>& on,
                                       const std::vector<std::int64_t>& wide) {
        const std::vector<std::int32_t> offsets(wide.begin(), wide.end());
        return {on, std::span<const std::int32_t>(offsets), item};
    }

    std::shared_ptr<device> on_;
    int rows_, columns_, nonzeros_;
    buffer<std::int32_t> offsets_;
    buffer<std::int32_t> indices_;
    buffer<T> values_;
    buffer<std::int32_t> to_offsets_;
    buffer<std::int32_t> to_indices_;
    buffer<T> to_values_;
    buffer<unsigned char> workspace_;
    cusparseHandle_t handle_ = nullptr;
};

} // namespace

template <class T>
double cusparse_transpose_seconds(const std::shared_ptr<device>& on, int repeats,
                                  const csr_matrix<T>& a) {
    if (a.nnz() > std::numeric_limits<int>::max())
        throw usage_error("cuSPARSE's csr2csc counts at most 2^31 - 1 nonzeros");
    cusparse_transposition<T> peer(on, a);
    const double seconds = time_runs(*on, repeats, [&] { peer.run(); }).median;
    if (!peer.gave(transpose(a))) throw measurement_failed("cuSPARSE's transposed is another one");
    return seconds;
}

template double cusparse_transpose_seconds(const std::shared_ptr<device>&, int,
                                           const csr_matrix<double>&);
template double cusparse_transpose_seconds(const std::shared_ptr<device>&, int,
                                           const csr_matrix<float>&);

} // namespace krylith::bench

// Compiled with DISABLE_CUSPARSE_DEPRECATED (bench/CMakeLists.txt): csrilu02 is deprecated.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <krylith/bench/common/cusparse_library.cuh>
#include <krylith/bench/factors/factors_peers.hpp>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

KRYLITH_CUSPARSE(cusparseCreateCsrilu02Info);
KRYLITH_CUSPARSE(cusparseCreateMatDescr);
KRYLITH_CUSPARSE(cusparseDcsrilu02);
KRYLITH_CUSPARSE(cusparseDcsrilu02_analysis);
KRYLITH_CUSPARSE(cusparseDcsrilu02_bufferSize);
KRYLITH_CUSPARSE(cusparseDestroyCsrilu02Info);
KRYLITH_CUSPARSE(cusparseDestroyMatDescr);
KRYLITH_CUSPARSE(cusparseXcsrilu02_zeroPivot);

constexpr auto policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

/// A factorisation with the descriptors that it needs.
class cusparse_factors {
public:
    cusparse_factors(const std::shared_ptr<device>& on, const csr_matrix<double>& a)
        : on_(on),
          rows_(static_cast<int>(a.rows)),
          nonzeros_(static_cast<int>(a.nnz())),
          given_(on, std::span<const double>(a.values), "cuSPARSE"),
          values_(on, a.values.size(), "cuSPARSE"),
          columns_(on, std::span<const std::int32_t>(a.column_indices), "cuSPARSE") {
        const std::vector<std::int32_t> offsets(a.row_offsets.begin(), a.row_offsets.end());
        offsets_ = {on, std::span<const std::int32_t>(offsets), "cuSPARSE"};
        const cuda::current_device current(on->ordinal());
        check_cusparse(cusparseCreate(&handle_), "create");
        check_cusparse(cusparseSetStream(handle_, static_cast<cuda::cuda_device&>(*on).stream()),
                       "set stream");
        check_cusparse(cusparseCreateMatDescr(&matrix_), "create matrix");
        restore();
        renew();
        int bytes = 0;
        check_cusparse(cusparseDcsrilu02_bufferSize(handle_, rows_, nonzeros_, matrix_,
                                                    values_.data(), offsets_.data(),
                                                    columns_.data(), info_, &bytes),
                       "buffer size");
        workspace_ = {on, static_cast<std::size_t>(bytes), "cuSPARSE"};
    }
    cusparse_factors(const cusparse_factors&) = delete;
    cusparse_factors& operator=(const cusparse_factors&) = delete;
    ~cusparse_factors() {
        const cuda::current_device current(on_->ordinal());
        if (info_ != nullptr) cusparseDestroyCsrilu02Info(info_);
        if (matrix_ != nullptr) cusparseDestroyMatDescr(matrix_);
        if (handle_ != nullptr) cusparseDestroy(handle_);
    }

    /// Forgets the analysis.
    void renew() {
        const cuda::current_device current(on_->ordinal());
        if (info_ != nullptr)
            check_cusparse(cusparseDestroyCsrilu02Info(info_), "destroy analysis");
        info_ = nullptr;
        check_cusparse(cusparseCreateCsrilu02Info(&info_), "create analysis");
    }
    /// Takes the values of A again, which the factors overwrite.
    void restore() { on_->copy(values_.data(), given_.data(), values_.size() * sizeof(double)); }
    void analyse() {
        const cuda::current_device current(on_->ordinal());
        check_cusparse(cusparseDcsrilu02_analysis(handle_, rows_, nonzeros_, matrix_,
                                                  values_.data(), offsets_.data(), columns_.data(),
                                                  info_, policy, workspace_.data()),
                       "analysis");
    }
    void factor() {
        const cuda::current_device current(on_->ordinal());
        check_cusparse(cusparseDcsrilu02(handle_, rows_, nonzeros_, matrix_, values_.data(),
                                         offsets_.data(), columns_.data(), info_, policy,
                                         workspace_.data()),
                       "factorisation");
    }
    void check_pivots() {
        const cuda::current_device current(on_->ordinal());
        int row = -1;
        check_cusparse(cusparseXcsrilu02_zeroPivot(handle_, info_, &row), "a pivot is 0");
    }

private:
    std::shared_ptr<device> on_;
    int rows_;
    int nonzeros_;
    buffer<double> given_;
    buffer<double> values_;
    buffer<std::int32_t> columns_;
    buffer<std::int32_t> offsets_;
    buffer<unsigned char> workspace_;
    cusparseHandle_t handle_ = nullptr;
    cusparseMatDescr_t matrix_ = nullptr;
    csrilu02Info_t info_ = nullptr;
};

} // namespace

factors_peer_seconds cusparse_ilu0(const std::shared_ptr<device>& on, const csr_matrix<double>& a,
                                   int repetitions) {
    if (a.nnz() > std::numeric_limits<std::int32_t>::max())
        throw usage_error("cuSPARSE's csrilu02 takes offsets of 32 bits");
    cusparse_factors peer(on, a);
    factors_peer_seconds seconds;
    for (int i = -1; i < repetitions; ++i) {
        peer.renew();
        peer.restore();
        on->synchronize();
        tool::stopwatch watch;
        peer.analyse();
        on->synchronize();
        const double analysis = watch.lap();
        peer.factor();
        on->synchronize();
        const double factorisation = watch.lap();
        peer.check_pivots();
        if (i < 0) continue;
        seconds.analysis.push_back(analysis);
        seconds.factorisation.push_back(factorisation);
    }
    return seconds;
}

} // namespace krylith::bench

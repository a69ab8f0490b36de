#include <krylith/bench/graph/graph_cusparse.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <krylith/bench/common/cusparse_library.cuh>
#include <krylith/bench/graph/graph_check.hpp>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/posted_words.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::bench {

namespace {

using cuda::block_sum;
using cuda::block_threads;
using cuda::block_warps;

/// y = alpha A x, by the algorithm that cuSPARSE takes by default.
class cusparse_product {
public:
    cusparse_product(std::shared_ptr<device> device, const spmspv::compressed_view<float>& a,
                     const float* x, float* y)
        : device_(std::move(device)) {
        const cuda::current_device current(device_->ordinal());
        auto& d = static_cast<cuda::cuda_device&>(*device_);
        check_cusparse(cusparseCreate(&handle_), "create");
        check_cusparse(cusparseSetStream(handle_, d.stream()), "set stream");
        check_cusparse(cusparseCreateCsr(&matrix_, a.major_size, a.across, a.nonzeros,
                                         const_cast<std::int32_t*>(a.offsets),
                                         const_cast<std::int32_t*>(a.indices),
                                         const_cast<float*>(a.values), CUSPARSE_INDEX_32I,
                                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
                       "create matrix");
        check_cusparse(cusparseCreateDnVec(&x_, a.across, const_cast<float*>(x), CUDA_R_32F),
                       "create x");
        check_cusparse(cusparseCreateDnVec(&y_, a.major_size, y, CUDA_R_32F), "create y");
        const float one = 1;
        const float zero = 0;
        std::size_t bytes = 0;
        check_cusparse(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                               matrix_, x_, &zero, y_, CUDA_R_32F,
                                               CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
                       "buffer size");
        workspace_ = buffer<unsigned char>(device_, bytes, "cuSPARSE workspace");
        check_cusparse(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                               matrix_, x_, &zero, y_, CUDA_R_32F,
                                               CUSPARSE_SPMV_ALG_DEFAULT, workspace_.data()),
                       "preprocess");
    }
    cusparse_product(const cusparse_product&) = delete;
    cusparse_product& operator=(const cusparse_product&) = delete;
    ~cusparse_product() {
        const cuda::current_device current(device_->ordinal());
        if (x_ != nullptr) cusparseDestroyDnVec(x_);
        if (y_ != nullptr) cusparseDestroyDnVec(y_);
        if (matrix_ != nullptr) cusparseDestroySpMat(matrix_);
        if (handle_ != nullptr) cusparseDestroy(handle_);
    }

    void multiply(float alpha) {
        const cuda::current_device current(device_->ordinal());
        const float zero = 0;
        check_cusparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix_, x_,
                                    &zero, y_, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                                    workspace_.data()),
                       "product");
    }

private:
    std::shared_ptr<device> device_;
    buffer<unsigned char> workspace_;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t x_ = nullptr;
    cusparseDnVecDescr_t y_ = nullptr;
};

/// `Sums` sums of blocks, in double; the last block posts them.
struct block_sums {
    double* partials; ///< [2 * most_blocks]
    unsigned* finished;
    post_address post;
};
constexpr unsigned most_blocks = 1024;

__device__ inline void post_sums(const block_sums& s, double first, double second) {
    __shared__ double warp_sums[block_warps];
    first = block_sum(first, warp_sums);
    second = block_sum(second, warp_sums);
    if (threadIdx.x == 0) {
        s.partials[blockIdx.x] = first;
        s.partials[most_blocks + blockIdx.x] = second;
    }
    if (!cuda::last_block(s.finished)) return;
    first = second = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
        first += s.partials[b];
        second += s.partials[most_blocks + b];
    }
    first = block_sum(first, warp_sums);
    second = block_sum(second, warp_sums);
    if (threadIdx.x != 0) return;
    *s.finished = 0;
    cuda::post(s.post, __double_as_longlong(first), __double_as_longlong(second));
}

/// Gives the level to vertices that the product has reached first, and makes them the next x. Any x
/// > 0 is an entry: weights count for that alone, those of 0 are not seen.
__global__ void __launch_bounds__(block_threads)
    visit_kernel(const float* y, std::int32_t* levels, float* x, std::int64_t n, std::int32_t level,
                 const block_sums sums) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    double entries = 0;
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
        const bool reached = y[i] != 0.0f && levels[i] < 0;
        x[i] = reached ? 1.0f : 0.0f;
        if (!reached) continue;
        levels[i] = level;
        entries += 1;
    }
    post_sums(sums, entries, 0);
}

/// Computes r = v + y, and the sums of |change| and of the ranks of dangling vertices.
__global__ void __launch_bounds__(block_threads)
    rank_kernel(const float* y, float* ranks, const std::uint32_t* dangling, float jump,
                std::int64_t n, const block_sums sums) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    double change = 0;
    double sum = 0;
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float rank = jump + y[i];
        change += fabs(static_cast<double>(rank) - static_cast<double>(ranks[i]));
        if ((dangling[i / 32] >> (i % 32) & 1) != 0) sum += static_cast<double>(rank);
        ranks[i] = rank;
    }
    post_sums(sums, change, sum);
}

/// The bits of vertices without edges.
std::vector<std::uint32_t> dangling_bits(const csr_matrix<float>& edges) {
    std::vector<std::uint32_t> bits(static_cast<std::size_t>((edges.rows + 31) / 32), 0);
    for (std::size_t i = 0; i + 1 < edges.row_offsets.size(); ++i)
        if (edges.row_offsets[i] == edges.row_offsets[i + 1])
            bits[i / 32] |= std::uint32_t{1} << (i % 32);
    return bits;
}

/// The values that cuSPARSE multiplies by for PageRank, since it must have some. `along` is the
/// graph's matrix on the device, `edges` the matrix whose edges leave the rows.
std::vector<float> fractions_of(device& device, const spmspv::compressed_view<float>& along,
                                const csr_matrix<float>& edges) {
    std::vector<std::int32_t> from(static_cast<std::size_t>(along.nonzeros));
    device.download(from.data(), along.indices, from.size() * sizeof(std::int32_t));
    std::vector<float> fractions;
    fractions.reserve(from.size());
    for (const std::int32_t vertex : from) {
        const auto v = static_cast<std::size_t>(vertex);
        fractions.push_back(1 /
                            static_cast<float>(edges.row_offsets[v + 1] - edges.row_offsets[v]));
    }
    return fractions;
}

class cusparse_runner final : public graph_runner {
public:
    cusparse_runner(const graph<float>& g, graph_task task)
        : task_(std::move(task)),
          device_(g.group().handle(g.matrix()->local().front().rank)),
          n_(g.vertices()),
          x_(device_, static_cast<std::size_t>(n_), "bench"),
          y_(device_, static_cast<std::size_t>(n_), "bench"),
          levels_(device_, static_cast<std::size_t>(n_), "bench"),
          partials_(device_, 2 * most_blocks, "bench"),
          finished_(device_, 1, "bench"),
          posted_(device_, 2),
          product_(device_, multiplied(g), x_.data(), y_.data()),
          edges_(g.edges()) {
        finished_.zero();
    }

    graph_timing run(bool check) override {
        graph_timing timing;
        if (task_.algorithm == "pagerank") {
            add(timing, ranks(), check);
        } else {
            for (const auto source : task_.sources) add(timing, search(source), check, source);
            timing.seconds /= static_cast<double>(task_.sources.size());
        }
        return timing;
    }

private:
    /// The matrix that searches multiply by, with the graph's own values.
    spmspv::compressed_view<float> multiplied(const graph<float>& g) {
        auto along = g.matrix()->local().front().part->by_rows();
        if (task_.algorithm != "pagerank") return along;
        const auto fractions = fractions_of(*device_, along, *task_.matrix);
        fractions_ = buffer<float>(device_, std::span<const float>(fractions), "bench");
        along.values = fractions_.data();
        const auto bits = dangling_bits(*task_.matrix);
        dangling_ = buffer<std::uint32_t>(device_, std::span<const std::uint32_t>(bits), "bench");
        for (const std::uint32_t word : bits) dangling_fraction_ += std::popcount(word);
        dangling_fraction_ /= static_cast<double>(n_);
        return along;
    }

    void add(graph_timing& timing, const graph_outcome& outcome, bool check,
             std::int64_t source = -1) {
        timing.seconds += outcome.seconds;
        timing.outcomes.push_back(outcome);
        if (!check || !timing.wrong.empty()) return;
        if (source >= 0) {
            timing.wrong = check_levels(*task_.matrix, source, levels_.download());
            return;
        }
        std::vector<float> found = x_.download();
        double sum = 0;
        for (const float rank : found) sum += rank;
        for (float& rank : found) rank = static_cast<float>(rank / sum);
        timing.wrong = check_ranks(*task_.matrix, 0.85, found, task_.tolerance);
    }

    template <class Kernel, class... Arguments>
    std::pair<double, double> launch(Kernel kernel, Arguments... arguments) {
        const cuda::launch_scope launch(*device_);
        const unsigned blocks =
            std::min(launch.blocks(kernel, block_threads, n_ / block_threads + 1), most_blocks);
        const block_sums sums{partials_.data(), finished_.data(), posted_.next()};
        kernel<<<blocks, block_threads, 0, launch.stream()>>>(arguments..., sums);
        launch.check_launch();
        const auto words = posted_.wait();
        return {std::bit_cast<double>(words[0]), std::bit_cast<double>(words[1])};
    }

    graph_outcome search(std::int64_t source) {
        graph_outcome outcome;
        device_->synchronize();
        step_log log(outcome);
        x_.zero();
        const float one = 1;
        device_->upload(x_.data() + source, &one, sizeof one);
        spmspv::fill<std::int32_t>(*device_, levels_.data(), n_, -1);
        const std::int32_t zero = 0;
        device_->upload(levels_.data() + source, &zero, sizeof zero);
        std::int64_t entries = 1;
        for (std::int32_t level = 1; entries > 0; ++level) {
            const std::int64_t before = entries;
            product_.multiply(1);
            entries = static_cast<std::int64_t>(
                launch(visit_kernel, y_.data(), levels_.data(), x_.data(), n_, level).first);
            log.add({before, edges_, spmspv::exchange_form::none, {}});
        }
        log.finish(graph_reason::nothing_left);
        return outcome;
    }

    /// The power method from equal ranks, with jumps from dangling vertices, until the bound of
    /// pagerank.hpp holds.
    graph_outcome ranks() {
        constexpr double damping = 0.85;
        const double n = static_cast<double>(n_);
        graph_outcome outcome;
        device_->synchronize();
        step_log log(outcome);
        spmspv::fill<float>(*device_, x_.data(), n_, static_cast<float>(1 / n));
        double dangling = dangling_fraction_;
        double least = 2;
        for (int since_least = 0;;) {
            product_.multiply(static_cast<float>(damping));
            const double jump = (1 - damping + damping * dangling) / n;
            const auto [change, sum] = launch(rank_kernel, y_.data(), x_.data(), dangling_.data(),
                                              static_cast<float>(jump), n_);
            dangling = sum;
            log.add({n_, edges_, spmspv::exchange_form::none, {}});
            // The residual of the ranks before is this change; that of the new ranks is less by d.
            if (2 * damping * change / (1 - damping) <= task_.tolerance) break;
            // Changes may end at rounding in single precision, above the tolerance.
            since_least = change < 0.99 * least ? 0 : since_least + 1;
            least = std::min(least, change);
            if (since_least == 3 || outcome.iterations() == 1000) break;
        }
        log.finish(graph_reason::converged);
        return outcome;
    }

    graph_task task_;
    std::shared_ptr<device> device_;
    std::int64_t n_;
    buffer<float> x_;
    buffer<float> y_;
    buffer<std::int32_t> levels_;
    buffer<double> partials_;
    buffer<unsigned> finished_;
    posted_words posted_;
    buffer<float> fractions_; ///< of PageRank, as the next two
    buffer<std::uint32_t> dangling_;
    double dangling_fraction_ = 0; ///< of all vertices
    cusparse_product product_;
    std::int64_t edges_;
};

} // namespace

std::unique_ptr<graph_runner> make_cusparse_runner(const graph<float>& g, const graph_task& task) {
    if (task.algorithm == "sssp" || g.matrix()->local().size() != 1) return nullptr;
    return std::make_unique<cusparse_runner>(g, task);
}

} // namespace krylith::bench

// Eliminations on CUDA devices. Without colours rows wait for those that they depend on, in the
// form of synchronisation-free solves (sparse/sptrsv/row_sweep.cuh): a team of lanes takes a chain
// of rows by a ticket, and no team waits inside a step, so that teams of a warp may depend on each
// other. With colours each colour is a launch in which nothing waits.
#include <vector>

#include <krylith/precond/incomplete/row_elimination.hpp>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/sptrsv/chain_starts.hpp>
#include <krylith/sparse/sptrsv/level_order.hpp>

namespace krylith::incomplete::cuda {

namespace {

using krylith::cuda::all_lanes;
using krylith::cuda::chain_starts;
using krylith::cuda::launch_scope;

constexpr int waiting_threads = 128;
/// Of blocks whose rows wait for nothing but the memory: a multiprocessor has 8 blocks at most.
constexpr int colour_threads = 256;
constexpr const char* elimination_item = "elimination of rows";

/// Mean entries of a row from which more lanes take it.
constexpr std::int64_t long_rows = 40;
constexpr std::int64_t very_long_rows = 160;

/// More launches than this cost more than rows that wait.
constexpr std::size_t most_colours = 256;

template <int Lanes>
struct lane_team {
    static constexpr int lanes = Lanes;
    int lane;
    unsigned members;

    __device__ lane_team()
        : lane(static_cast<int>(threadIdx.x) % Lanes),
          members(Lanes == 32 ? all_lanes
                              : ((1u << (Lanes % 32)) - 1) << (threadIdx.x % 32 / Lanes * Lanes)) {}
    __device__ void sync() const {
        if constexpr (Lanes > 1) __syncwarp(members);
    }
};

__device__ inline std::uint32_t look_at_done(const std::uint32_t* done) {
    std::uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(done) : "memory");
    return value;
}
__device__ inline void note(std::uint32_t* done) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(done), "r"(1u) : "memory");
}

/// Moves `next` over the lane's lower entries whose rows are done; returns whether all are.
template <class T>
__device__ inline bool pass_done(const factor_rows<T>& a, const std::uint32_t* done,
                                 std::int64_t& next, std::int64_t diagonal, int lanes) {
    constexpr int batch = 4;
    while (next < diagonal) {
        std::uint32_t seen[batch];
#pragma unroll
        for (int u = 0; u < batch; ++u)
            seen[u] =
                next + u * lanes < diagonal ? look_at_done(done + a.columns[next + u * lanes]) : 1;
#pragma unroll
        for (int u = 0; u < batch; ++u) {
            if (seen[u] == 0) return false;
            next += lanes;
        }
    }
    return true;
}

/// done[rows] and the ticket behind it are 0.
template <int Lanes, class T>
__global__ void __launch_bounds__(waiting_threads)
    eliminate_waiting(const __grid_constant__ factor_rows<T> a, std::uint32_t* done,
                      const std::int32_t* starts, std::int64_t chains) {
    const lane_team<Lanes> team;
    constexpr int teams = 32 / Lanes;
    const int number_in_warp = static_cast<int>(threadIdx.x) % 32 / Lanes;
    for (;;) {
        unsigned ticket = 0;
        if (threadIdx.x % 32 == 0) ticket = atomicAdd(done + a.rows, 1u);
        ticket = __shfl_sync(all_lanes, ticket, 0);
        if (std::int64_t{ticket} * teams >= chains) return;
        const std::int64_t own = std::int64_t{ticket} * teams + number_in_warp;
        std::int64_t row = own < chains ? starts[own] : a.rows;
        const std::int64_t last = own + 1 < chains ? starts[own + 1] : a.rows;
        std::int64_t next = 0;
        std::int64_t diagonal = 0;
        const auto enter = [&] {
            if (row >= last) return;
            next = a.offsets[row] + team.lane;
            diagonal = a.offsets[row] + a.diagonals[row];
        };
        enter();
        for (;;) {
            const bool at_row = row < last;
            bool ready = at_row && pass_done(a, done, next, diagonal, Lanes);
            if constexpr (Lanes > 1)
                ready = (__ballot_sync(all_lanes, ready) & team.members) == team.members;
            if (ready) {
                __threadfence(); // what the rows that are done hold comes after their words
                eliminate_row(a, row, team);
                __threadfence();
                team.sync();
                if (team.lane == 0) note(done + row);
                ++row;
                enter();
            }
            if (__all_sync(all_lanes, row >= last) != 0) break;
        }
    }
}

template <int Lanes, class T>
__global__ void __launch_bounds__(colour_threads)
    eliminate_colour(const __grid_constant__ factor_rows<T> a, std::int64_t first,
                     std::int64_t last) {
    const lane_team<Lanes> team;
    constexpr std::int64_t teams = colour_threads / Lanes;
    for (std::int64_t row = first + blockIdx.x * teams + threadIdx.x / Lanes; row < last;
         row += gridDim.x * teams)
        eliminate_row(a, row, team);
}

template <class T>
triangle_source<T> lower_triangle(const factor_rows<T>& a) {
    return {a.rows, a.offsets, a.columns, a.values, false, true};
}

template <class T>
class cuda_elimination final : public row_elimination<T> {
public:
    cuda_elimination(std::shared_ptr<device> device, const factor_rows<T>& a,
                     std::span<const std::int64_t> colours)
        : device_(std::move(device)) {
        if (a.rows == 0) return;
        if (!colours.empty() && colours.size() <= most_colours + 1) {
            colours_.assign(colours.begin(), colours.end());
            return;
        }
        chains_ = krylith::cuda::find_chains(device_, lower_triangle(a));
        chains_.starts = {};
        done_ = {device_, static_cast<std::size_t>(a.rows) + 1, elimination_item};
    }

    void run(const factor_rows<T>& a) override {
        if (a.rows == 0) return;
        const std::int64_t mean = a.nonzeros / a.rows;
        if (mean < long_rows)
            run_by<1>(a);
        else if (mean < very_long_rows)
            run_by<8>(a);
        else
            run_by<32>(a);
    }

    [[nodiscard]] std::int64_t bytes() const override {
        return static_cast<std::int64_t>(chains_.places.size() * sizeof(std::int32_t) +
                                         done_.size() * sizeof(std::uint32_t));
    }

private:
    template <int Lanes>
    void run_by(const factor_rows<T>& a) {
        const launch_scope launch(*device_);
        if (!colours_.empty()) {
            constexpr std::int64_t teams = colour_threads / Lanes;
            const auto kernel = eliminate_colour<Lanes, T>;
            for (std::size_t c = 0; c + 1 < colours_.size(); ++c) {
                const std::int64_t rows = colours_[c + 1] - colours_[c];
                if (rows == 0) continue;
                kernel<<<launch.blocks(kernel, colour_threads, (rows + teams - 1) / teams),
                         colour_threads, 0, launch.stream()>>>(a, colours_[c], colours_[c + 1]);
                launch.check_launch();
            }
            return;
        }
        done_.zero();
        constexpr std::int64_t teams = waiting_threads / Lanes;
        const auto kernel = eliminate_waiting<Lanes, T>;
        kernel<<<launch.blocks(kernel, waiting_threads, (chains_.count + teams - 1) / teams),
                 waiting_threads, 0, launch.stream()>>>(a, done_.data(), chains_.places.data(),
                                                        chains_.count);
        launch.check_launch();
    }

    std::shared_ptr<device> device_;
    std::vector<std::int64_t> colours_; ///< first places; empty where rows wait
    chain_starts chains_;
    buffer<std::uint32_t> done_; ///< [rows] whether a row is done, and the ticket
};

} // namespace

template <class T>
std::unique_ptr<row_elimination<T>> make_elimination(const std::shared_ptr<device>& device,
                                                     const factor_rows<T>& a,
                                                     std::span<const std::int64_t> colours) {
    return std::make_unique<cuda_elimination<T>>(device, a, colours);
}

template <class T>
std::int64_t count_levels(const std::shared_ptr<device>& device, const factor_rows<T>& a) {
    if (a.rows == 0) return 0;
    return krylith::cuda::count_levels(device, lower_triangle(a));
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::int64_t count_levels(const std::shared_ptr<device>&, const factor_rows<T>&);     \
    template std::unique_ptr<row_elimination<T>> make_elimination(                                 \
        const std::shared_ptr<device>&, const factor_rows<T>&, std::span<const std::int64_t>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::incomplete::cuda

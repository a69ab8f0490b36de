#include <krylith/graph/levels/persistent_levels.hpp>

#include <algorithm>

#include <krylith/device/cuda/cooperative_launch.cuh>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/grid_barrier.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/device/kernel/peer_memory.cuh>

// Blocks read what others write in the same launch past L1: frontiers by __ldcg, levels and
// counters by relaxed loads, and parents by atomics, all in L2. The graph is not written, so its
// loads may be cached.

namespace krylith::cuda {

namespace {

using spmspv::frontier_vertex;
using spmspv::level_arguments;
using spmspv::visit;

constexpr unsigned not_reached = 0xffffffffu; ///< -1 of parents
constexpr int level_threads = 512;
constexpr int in_flight = 2; ///< edges that a lane loads at once

/// A frontier's size in one word, so that one atomic adds to both and gives the place: entries from
/// bit 32 on, nonzeros below; each is less than 2^31. The highest bit says that it has too wide a
/// vertex.
using frontier_size = unsigned long long;
constexpr frontier_size too_wide = 1ULL << 63;

__device__ inline std::uint32_t entries_of(frontier_size s) {
    return static_cast<std::uint32_t>(s >> 32) & 0x7fffffffu;
}
__device__ inline std::uint32_t nonzeros_of(frontier_size s) {
    return static_cast<std::uint32_t>(s);
}

/// Each counter has a cache line of its own, because blocks add to them at different times. Level l
/// of a launch adds to sizes[(rotation + l + 1) % 3], all blocks read sizes[(rotation + l) % 3],
/// and the third, which no block reads, is cleared for the level after. A launch leaves `rotation`
/// at a size that is clear.
struct level_scratch {
    alignas(128) frontier_size sizes[3];
    alignas(128) unsigned barrier;
    alignas(128) unsigned rotation;
};

/// The log of a launch, which block 0 keeps.
struct level_log {
    frontier_size size[spmspv::most_persistent_levels + 1];
    long long clock[spmspv::most_persistent_levels + 1]; ///< ticks of the multiprocessor at the
                                                         ///< start of each level
    double nanoseconds_a_tick;
};

__device__ inline std::uint32_t thread_of_grid() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ inline std::uint32_t threads_of_grid() {
    return gridDim.x * blockDim.x;
}

__device__ inline frontier_vertex load_vertex(const frontier_vertex* from) {
    const int4 raw = __ldcg(reinterpret_cast<const int4*>(from));
    return {raw.x, raw.y, raw.z, raw.w};
}
__device__ inline void store_vertex(frontier_vertex* to, std::int32_t vertex,
                                    std::int32_t first_edge, std::int32_t degree) {
    *reinterpret_cast<int4*>(to) = make_int4(vertex, first_edge, degree, 0);
}

__device__ inline void prefetch_into_l2(const void* line) {
    asm volatile("prefetch.global.L2 [%0];" : : "l"(line));
}

/// Adds the vertices and edges of all lanes to a frontier's size, by a whole warp, and returns the
/// place of the warp's vertices.
__device__ inline std::uint32_t make_room(frontier_size* size, int vertices, std::int32_t edges,
                                          bool wide) {
    const auto frontier_nonzeros = warp_sum(static_cast<unsigned>(edges));
    wide = __any_sync(all_lanes, wide) != 0;
    frontier_size before = 0;
    if (lane_number() == 0) {
        before = atomicAdd(size, static_cast<frontier_size>(vertices) << 32 | frontier_nonzeros);
        if (wide) atomicOr(size, too_wide);
    }
    return entries_of(__shfl_sync(all_lanes, before, 0));
}

/// Follows the edges `begin`, `begin + stride`, ... of each lane's vertex, by a whole warp, up to
/// in_flight of them.
__device__ inline void follow(const level_arguments& a, const visit& rule, frontier_vertex from,
                              std::int32_t begin, std::int32_t stride, frontier_vertex* next,
                              frontier_size* size) {
    std::int32_t to[in_flight];
    std::int32_t seen[in_flight];
    std::int32_t first[in_flight];
    std::int32_t degree[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
        const std::int32_t k = begin + u * stride;
        to[u] = k < from.degree ? __ldg(a.graph.ends + from.first_edge + k) : -1;
    }
    // Offsets are needed only for vertices that are new here, but those then need them, and the
    // parents, at once.
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
        first[u] = degree[u] = seen[u] = 0;
        if (to[u] < 0) continue;
        seen[u] = load_relaxed(rule.levels + to[u]);
        prefetch_into_l2(rule.parents + to[u]);
        first[u] = __ldg(a.graph.offsets + to[u]);
        degree[u] = __ldg(a.graph.offsets + to[u] + 1);
    }
    // Lanes that see a level another warp has just set, or see it late, take part all the same.
    unsigned before[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
        before[u] = 0;
        if (to[u] >= 0 && (seen[u] == -1 || seen[u] == rule.level))
            before[u] = atomicMin(reinterpret_cast<unsigned*>(rule.parents + to[u]),
                                  static_cast<unsigned>(from.vertex));
    }
    unsigned won[in_flight];
    int vertices = 0;
    std::int32_t edges = 0;
    bool wide = false;
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
        const bool mine = before[u] == not_reached;
        won[u] = __ballot_sync(all_lanes, mine);
        vertices += __popc(won[u]);
        degree[u] -= first[u];
        if (mine) edges += degree[u];
        wide = wide || (mine && degree[u] > spmspv::widest_vertex);
    }
    if (vertices == 0) return;
    std::uint32_t place = make_room(size, vertices, edges, wide);
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
        if (before[u] == not_reached) {
            const unsigned lanes_before = (1u << lane_number()) - 1;
            store_vertex(next + place + __popc(won[u] & lanes_before), to[u], first[u], degree[u]);
            *static_cast<volatile std::int32_t*>(rule.levels + to[u]) = rule.level;
            rule.mark(to[u]);
        }
        place += __popc(won[u]);
    }
}

/// Runs one level, by all threads. A vertex has as many lanes as it has edges on average, at most a
/// warp; the edges beyond in_flight times that are followed by its whole warp.
__device__ inline void reach(const level_arguments& a, const visit& rule, frontier_size now,
                             const frontier_vertex* frontier, frontier_vertex* next,
                             frontier_size* size) {
    const std::uint32_t entries = entries_of(now);
    const std::uint32_t mean = (nonzeros_of(now) + entries - 1) / entries;
    const int exponent = mean <= 1 ? 0 : min(32 - __clz(static_cast<int>(mean - 1)), 5);
    const int lanes = 1 << exponent;
    const std::uint32_t of_warp = 32u >> exponent;
    const int place = lane_number() & (lanes - 1);
    const std::uint32_t group = static_cast<std::uint32_t>(lane_number()) >> exponent;
    const std::uint32_t stride = threads_of_grid() / 32 * of_warp;
    for (std::uint32_t base = thread_of_grid() / 32 * of_warp; base < entries; base += stride) {
        frontier_vertex from{};
        if (base + group < entries) from = load_vertex(frontier + base + group);
        follow(a, rule, from, place, lanes, next, size);
        const std::int32_t done = in_flight * lanes;
        unsigned rest = __ballot_sync(all_lanes, place == 0 && from.degree > done);
        for (; rest != 0; rest &= rest - 1) {
            const int lane = __ffs(static_cast<int>(rest)) - 1;
            const frontier_vertex one = {__shfl_sync(all_lanes, from.vertex, lane),
                                         __shfl_sync(all_lanes, from.first_edge, lane),
                                         __shfl_sync(all_lanes, from.degree, lane), 0};
            for (std::int32_t k = done; k < one.degree; k += in_flight * 32)
                follow(a, rule, one, k + lane_number(), 32, next, size);
        }
    }
}

/// Turns the pairs of x into a frontier, by all threads.
__device__ inline void begin(const level_arguments& a, frontier_size* size) {
    const auto entries = static_cast<std::uint32_t>(a.entries);
    for (std::uint32_t base = thread_of_grid() & ~31u; base < entries; base += threads_of_grid()) {
        const std::uint32_t i = base + static_cast<std::uint32_t>(lane_number());
        const bool mine = i < entries;
        std::int32_t degree = 0;
        if (mine) {
            const std::int32_t vertex = a.indices[i];
            const std::int32_t first = a.graph.offsets[vertex];
            degree = a.graph.offsets[vertex + 1] - first;
            store_vertex(a.frontiers[0] + i, vertex, first, degree);
        }
        (void)make_room(size, __popc(__ballot_sync(all_lanes, mine)), degree,
                        degree > spmspv::widest_vertex);
    }
}

/// Posts to the host, by block 0.
__device__ inline void post_levels(const level_arguments& a, const level_log& log, int levels,
                                   frontier_size left) {
    std::int64_t* const words = a.post.words;
    for (int l = static_cast<int>(threadIdx.x); l < levels; l += level_threads) {
        std::int64_t* const entry = words + spmspv::posted_level_heads + 2 * l;
        entry[0] = static_cast<std::int64_t>(log.size[l]);
        entry[1] = static_cast<std::int64_t>(static_cast<double>(log.clock[l + 1] - log.clock[l]) *
                                             log.nanoseconds_a_tick);
    }
    if (threadIdx.x == 0) {
        words[0] = levels;
        words[1] = entries_of(left);
        words[2] = nonzeros_of(left);
        words[3] = (left & too_wide) != 0 ? 1 : 0;
        *a.count = static_cast<std::int32_t>(entries_of(left));
    }
    __syncthreads();
    if (threadIdx.x == 0) store_release(a.post.posted, a.post.number);
}

__global__ void __launch_bounds__(level_threads)
    level_kernel(const __grid_constant__ level_arguments a, level_scratch* scratch) {
    __shared__ level_log log;
    __shared__ frontier_size now; // the same in all blocks
    const bool logs = blockIdx.x == 0 && threadIdx.x == 0;
    const std::uint64_t began = logs ? nanoseconds() : 0;
    const long long first_tick = logs ? clock64() : 0;
    const unsigned rotation =
        scratch->rotation; // it is written at the end, after all blocks have arrived
    const auto size_of = [&](int level) { return scratch->sizes + (rotation + level) % 3; };
    /// Ends a level: every block sees what all have found.
    const auto end_level = [&](int level) {
        grid_barrier(&scratch->barrier, [&] {
            now = *static_cast<const volatile frontier_size*>(size_of(level));
            if (!logs) return;
            log.size[level] = now;
            log.clock[level] = clock64();
        });
    };
    const auto clear = [&](int level) { // called before the barrier after which others add to it
        if (logs) *static_cast<volatile frontier_size*>(size_of(level)) = 0;
    };

    begin(a, size_of(0));
    clear(1);
    end_level(0);
    int level = 0;
    for (; level < a.most_levels; ++level) {
        if (entries_of(now) == 0 || (now & too_wide) != 0 ||
            nonzeros_of(now) > a.most_frontier_nonzeros)
            break;
        visit rule = a.rule;
        rule.level += level;
        clear(level + 2);
        reach(a, rule, now, a.frontiers[level % 2], a.frontiers[(level + 1) % 2],
              size_of(level + 1));
        end_level(level + 1);
    }

    const frontier_vertex* const left = a.frontiers[level % 2];
    for (std::uint32_t i = thread_of_grid(); i < entries_of(now); i += threads_of_grid()) {
        a.indices[i] = load_vertex(left + i).vertex;
        a.values[i] = a.rule.outgoing(i);
    }
    if (blockIdx.x != 0) return;
    if (logs) {
        const auto ticks = static_cast<double>(log.clock[level] - first_tick);
        log.nanoseconds_a_tick = ticks > 0 ? static_cast<double>(nanoseconds() - began) / ticks : 0;
        scratch->rotation = (rotation + level + 1) % 3;
    }
    __syncthreads();
    post_levels(a, log, level, now);
}

} // namespace

/// Launches no more blocks than the largest frontier has edges for, because a barrier of few blocks
/// is cheaper.
void run_persistent_levels(device& device, const spmspv::level_arguments& a) {
    const launch_scope launch(device);
    const auto kernel = level_kernel;
    const std::int64_t edges = std::max(a.most_frontier_nonzeros, a.entries);
    const std::int64_t useful = (edges + level_threads - 1) / level_threads;
    const auto most = std::int64_t{static_cast<cuda_device&>(device).multiprocessors()};
    launch_together(launch, kernel, launch.blocks(kernel, level_threads, std::min(useful, most)),
                    level_threads, 0, a, reinterpret_cast<level_scratch*>(a.scratch));
}

std::size_t level_scratch_bytes() {
    return sizeof(level_scratch);
}

} // namespace krylith::cuda

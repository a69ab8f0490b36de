// Steps on CUDA devices: a team of 1, 8 or 32 lanes a row.
#include <cstring>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/precond/approximate/pattern_steps.hpp>
#include <krylith/precond/blocks/block_steps.hpp>
#include <krylith/precond/coarsening/join_steps.hpp>
#include <krylith/precond/coarsening/mirror_steps.hpp>
#include <krylith/precond/coarsening/near_null_steps.hpp>
#include <krylith/precond/coarsening/node_prolongation_steps.hpp>
#include <krylith/precond/coarsening/node_steps.hpp>
#include <krylith/precond/coarsening/pair_steps.hpp>
#include <krylith/precond/coarsening/rounding_steps.hpp>
#include <krylith/precond/coarsening/row_steps.hpp>
#include <krylith/precond/coarsening/set_steps.hpp>
#include <krylith/precond/coarsening/strength_steps.hpp>
#include <krylith/precond/coarsening/tentative_steps.hpp>
#include <krylith/precond/colouring/colour_steps.hpp>
#include <krylith/precond/incomplete/pattern_steps.hpp>
#include <krylith/precond/sweeps/sweep_steps.hpp>
#include <krylith/sparse/storage/two_pass_scan.cuh>

namespace krylith::aggregation::cuda {

namespace {

using krylith::cuda::all_lanes;
using krylith::cuda::launch_scope;

constexpr int threads = 256;

/// A value of the lane `by` away.
template <class V>
__device__ V of_other_lane(const V& value, int by) {
    static_assert(sizeof(V) % 4 == 0);
    int words[sizeof(V) / 4];
    std::memcpy(words, &value, sizeof value);
#pragma unroll
    for (int& word : words) word = __shfl_xor_sync(all_lanes, word, by);
    V result;
    std::memcpy(&result, words, sizeof result);
    return result;
}

/// Appends rows to a list, block by block: one addition to the counter serves 256 threads, since
/// additions to one address follow one another. All threads of the block call it together.
class block_appender {
public:
    __device__ void append(bool stays, std::int64_t row, const list_step& list,
                           unsigned (&counts)[2][threads / 32], unsigned (&first)[2]) {
        const unsigned warp = threadIdx.x / 32;
        const unsigned lane = threadIdx.x % 32;
        const unsigned staying = __ballot_sync(all_lanes, stays);
        turn_ ^= 1; // what slow warps still read of the last call stays
        if (lane == 0) counts[turn_][warp] = static_cast<unsigned>(__popc(staying));
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned sum = 0;
            for (unsigned& count : counts[turn_]) {
                const unsigned of_warp = count;
                count = sum;
                sum += of_warp;
            }
            first[turn_] = sum != 0 ? atomicAdd(list.stay_count, sum) : 0;
        }
        __syncthreads();
        if (stays)
            list.stay[first[turn_] + counts[turn_][warp] +
                      static_cast<unsigned>(__popc(staying & ((1u << lane) - 1)))] =
                static_cast<std::int32_t>(row);
    }

private:
    int turn_ = 0;
};

template <int Lanes, class Step>
__global__ void __launch_bounds__(threads)
    visit(const __grid_constant__ Step step, std::int64_t rows,
          const __grid_constant__ list_step list) {
    __shared__ unsigned counts[2][threads / 32];
    __shared__ unsigned first_place[2];
    constexpr int rows_of_block = threads / Lanes;
    const int of_team = static_cast<int>(threadIdx.x) % Lanes;
    const std::int64_t count = list.rows != nullptr ? std::int64_t{*list.count} : rows;
    const std::int64_t stride = std::int64_t{gridDim.x} * rows_of_block;
    block_appender appender;
    for (std::int64_t first = std::int64_t{blockIdx.x} * rows_of_block; first < count;
         first += stride) {
        const std::int64_t at = first + threadIdx.x / Lanes;
        std::int64_t row = at;
        bool wanted = at < count;
        if (wanted && list.rows != nullptr) row = list.rows[at];
        wanted = wanted && step.wanted(row);
        typename Step::part_type part{};
        if (wanted) part = step.part(row, of_team, Lanes);
#pragma unroll
        for (int by = Lanes / 2; by > 0; by /= 2) part = Step::join(part, of_other_lane(part, by));
        const bool stays = wanted && of_team == 0 && step.finish(row, part);
        if (list.stay != nullptr) appender.append(stays, row, list, counts, first_place);
    }
}

template <int Lanes, class Step>
void launch_visit(device& device, std::int64_t rows, const list_step& list, const Step& step) {
    constexpr int rows_of_block = threads / Lanes;
    const launch_scope launch(device);
    const auto kernel = visit<Lanes, Step>;
    kernel<<<launch.blocks(kernel, threads, (rows + rows_of_block - 1) / rows_of_block), threads, 0,
             launch.stream()>>>(step, rows, list);
    launch.check_launch();
}

template <class Leads>
struct leading_items {
    struct item {
        std::int32_t size;
    };
    Leads leads;
    std::int32_t* numbers;
    std::uint32_t number;

    [[nodiscard]] __device__ std::uint32_t count() const { return number; }
    [[nodiscard]] __device__ item load(std::uint32_t i) const { return {leads(i) ? 1 : 0}; }
    __device__ void emit(bool there, std::uint32_t i, item, std::int32_t before) const {
        if (there) numbers[i] = before;
    }
    __device__ void finish(std::int32_t total) const { numbers[number] = total; }
};

struct counted_items {
    struct item {
        std::int64_t size;
    };
    const std::int32_t* counts;
    std::int64_t* offsets;
    std::uint32_t number;

    [[nodiscard]] __device__ std::uint32_t count() const { return number; }
    [[nodiscard]] __device__ item load(std::uint32_t i) const { return {counts[i]}; }
    __device__ void emit(bool there, std::uint32_t i, item, std::int64_t before) const {
        if (there) offsets[i] = before;
    }
    __device__ void finish(std::int64_t total) const { offsets[number] = total; }
};

} // namespace

template <class Step>
void visit_list(device& device, const list_step& list, std::int64_t rows, std::int64_t mean,
                const Step& step) {
    if (mean <= 12) return launch_visit<1>(device, rows, list, step);
    if (mean <= 64) return launch_visit<8>(device, rows, list, step);
    launch_visit<32>(device, rows, list, step);
}

template <class Step>
void visit_rows(device& device, std::int64_t rows, std::int64_t mean, const Step& step) {
    visit_list(device, {}, rows, mean, step);
}

template <class Leads>
void number_leads(device& device, std::int64_t count, const Leads& leads, std::int32_t* numbers,
                  void* scratch) {
    krylith::cuda::scan(device,
                        leading_items<Leads>{leads, numbers, static_cast<std::uint32_t>(count)},
                        count, scratch);
}

void add_up_counts(device& device, std::int64_t count, const std::int32_t* counts,
                   std::int64_t* offsets, void* scratch) {
    static_assert(krylith::cuda::scan_scratch_bytes_of<std::int64_t> <= numbering_scratch);
    krylith::cuda::scan(device, counted_items{counts, offsets, static_cast<std::uint32_t>(count)},
                        count, scratch);
}

template void visit_list(device&, const list_step&, std::int64_t, std::int64_t,
                         const largest_key_step&);
template void visit_list(device&, const list_step&, std::int64_t, std::int64_t, const decide_step&);
template void visit_list(device&, const list_step&, std::int64_t, std::int64_t, const choose_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const diagonal_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const diagonal_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const strength_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const strength_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const filter_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const filter_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const begin_set_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const left_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const candidate_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const number_roots_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const join_root_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const join_strongest_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const renumber_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const couple_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const send_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const receive_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const begin_pairs_step&);

template void visit_list(device&, const list_step&, std::int64_t, std::int64_t,
                         const colouring::colour_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const colouring::mirror_sum_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const colouring::uncolour_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const colouring::list_colour_step&);
template void number_leads(device&, std::int64_t, const colouring::has_colour&, std::int32_t*,
                           void*);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::pattern_hash_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::same_pattern_step&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::gather_blocks_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::gather_blocks_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::pack_rows_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::pack_rows_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::unpack_rows_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::unpack_rows_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::take_rows_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::take_rows_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::longest_row_step&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::count_chosen_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::count_chosen_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::list_chosen_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::list_chosen_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::diagonal_root_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::diagonal_root_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::coupling_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::coupling_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::count_sweep_step&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::fill_sweep_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::fill_sweep_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::take_diagonal_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::take_diagonal_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::scale_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::scale_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const agree_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const number_pairs_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const magnitude_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const magnitude_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const square_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const square_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const norm_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const norm_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const tentative_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const tentative_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const join_largest_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const join_sum_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const count_mirror_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const fill_mirror_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const fill_mirror_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const count_blocks_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const count_reached_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const list_reached_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const spread_pattern_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const factor_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const fill_blocks_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const fill_blocks_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const filter_blocks_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const filter_blocks_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const magnitudes_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const magnitudes_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const products_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const products_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const coarse_vectors_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const coarse_vectors_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const tentative_rows_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const tentative_rows_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const fill_dropped_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const fill_dropped_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const scale_vectors_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const scale_vectors_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const fill_prolongation_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const fill_prolongation_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const rounding_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const flag_values_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const incomplete::place_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const incomplete::count_owned_step&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const incomplete::fill_owned_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const incomplete::fill_owned_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const incomplete::same_pattern_step&);
template void number_leads(device&, std::int64_t, const is_root&, std::int32_t*, void*);
template void number_leads(device&, std::int64_t, const leads_pair&, std::int32_t*, void*);

} // namespace krylith::aggregation::cuda

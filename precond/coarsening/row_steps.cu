// The steps of aggregation on CUDA devices.
#include <krylith/precond/coarsening/join_steps.hpp>
#include <krylith/precond/coarsening/mirror_steps.hpp>
#include <krylith/precond/coarsening/near_null_steps.hpp>
#include <krylith/precond/coarsening/node_prolongation_steps.hpp>
#include <krylith/precond/coarsening/node_steps.hpp>
#include <krylith/precond/coarsening/pair_steps.hpp>
#include <krylith/precond/coarsening/rounding_steps.hpp>
#include <krylith/precond/coarsening/row_visits.cuh>
#include <krylith/precond/coarsening/set_steps.hpp>
#include <krylith/precond/coarsening/strength_steps.hpp>
#include <krylith/precond/coarsening/tentative_steps.hpp>
#include <krylith/precond/coarsening/used_steps.hpp>

namespace krylith::aggregation::cuda {

namespace {

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
template void visit_list(device&, const list_step&, std::int64_t, std::int64_t,
                         const join_root_step&);
template void visit_list(device&, const list_step&, std::int64_t, std::int64_t,
                         const join_strongest_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const begin_set_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const left_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const candidate_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const number_roots_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const renumber_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const used_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const couple_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const send_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const receive_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const begin_pairs_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const agree_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const number_pairs_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const join_largest_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const join_sum_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const count_mirror_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const count_blocks_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const count_reached_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const list_reached_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const spread_pattern_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const factor_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const rounding_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const flag_values_step&);
template void number_leads(device&, std::int64_t, const is_root&, std::int32_t*, void*);
template void number_leads(device&, std::int64_t, const leads_pair&, std::int32_t*, void*);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void visit_rows(device&, std::int64_t, std::int64_t, const diagonal_step<T>&);        \
    template void visit_rows(device&, std::int64_t, std::int64_t, const strength_step<T>&);        \
    template void visit_rows(device&, std::int64_t, std::int64_t, const filter_step<T>&);          \
    template void visit_rows(device&, std::int64_t, std::int64_t, const magnitude_step<T>&);       \
    template void visit_rows(device&, std::int64_t, std::int64_t, const square_step<T>&);          \
    template void visit_rows(device&, std::int64_t, std::int64_t, const norm_step<T>&);            \
    template void visit_rows(device&, std::int64_t, std::int64_t, const tentative_step<T>&);       \
    template void visit_rows(device&, std::int64_t, std::int64_t, const fill_mirror_step<T>&);     \
    template void visit_rows(device&, std::int64_t, std::int64_t, const fill_blocks_step<T>&);     \
    template void visit_rows(device&, std::int64_t, std::int64_t, const filter_blocks_step<T>&);   \
    template void visit_rows(device&, std::int64_t, std::int64_t, const magnitudes_step<T>&);      \
    template void visit_rows(device&, std::int64_t, std::int64_t, const products_step<T>&);        \
    template void visit_rows(device&, std::int64_t, std::int64_t, const coarse_vectors_step<T>&);  \
    template void visit_rows(device&, std::int64_t, std::int64_t, const tentative_rows_step<T>&);  \
    template void visit_rows(device&, std::int64_t, std::int64_t, const fill_dropped_step<T>&);    \
    template void visit_rows(device&, std::int64_t, std::int64_t, const scale_vectors_step<T>&);   \
    template void visit_rows(device&, std::int64_t, std::int64_t, const fill_prolongation_step<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation::cuda

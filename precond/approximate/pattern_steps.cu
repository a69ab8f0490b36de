// The steps of patterns of approximate inverses on CUDA devices.
#include <krylith/precond/approximate/pattern_steps.hpp>
#include <krylith/precond/coarsening/row_visits.cuh>

namespace krylith::aggregation::cuda {

template void visit_rows(device&, std::int64_t, std::int64_t, const detail::longest_row_step&);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::count_chosen_step<T>&);                                 \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::list_chosen_step<T>&);                                  \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::diagonal_root_step<T>&);                                \
    template void visit_rows(device&, std::int64_t, std::int64_t, const detail::coupling_step<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation::cuda

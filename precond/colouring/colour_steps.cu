// The steps of colouring on CUDA devices.
#include <krylith/precond/coarsening/row_visits.cuh>
#include <krylith/precond/colouring/colour_steps.hpp>
#include <krylith/sparse/storage/two_pass_scan.cuh>

namespace krylith::aggregation::cuda {

template void visit_list(device&, const list_step&, std::int64_t, std::int64_t,
                         const colouring::colour_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const colouring::mirror_sum_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const colouring::uncolour_step&);

} // namespace krylith::aggregation::cuda

namespace krylith::colouring::cuda {

namespace {

/// The rows of one colour for the scan, which go to where those of the colour before end.
struct rows_of_colour {
    struct item {
        std::int32_t size;
    };
    const std::int32_t* colour;
    std::int32_t wanted;
    std::uint32_t rows;
    std::int64_t* begin; ///< of the colour, and then of the next
    std::int32_t* order;

    [[nodiscard]] __device__ std::uint32_t count() const { return rows; }
    [[nodiscard]] __device__ item load(std::uint32_t i) const {
        return {colour[i] == wanted ? 1 : 0};
    }
    __device__ void emit(bool there, std::uint32_t i, item is, std::int32_t before) const {
        if (there && is.size != 0) order[begin[0] + before] = static_cast<std::int32_t>(i);
    }
    __device__ void finish(std::int32_t total) const { begin[1] = begin[0] + total; }
};

} // namespace

void list_colours(device& device, std::int64_t rows, const std::int32_t* colour, std::int32_t count,
                  std::int64_t* begin, std::int32_t* order, void* scratch) {
    static_assert(krylith::cuda::scan_scratch_bytes <= aggregation::numbering_scratch);
    device.zero(begin, sizeof *begin);
    for (std::int32_t c = 0; c < count; ++c)
        krylith::cuda::scan(
            device, rows_of_colour{colour, c, static_cast<std::uint32_t>(rows), begin + c, order},
            rows, scratch);
}

} // namespace krylith::colouring::cuda

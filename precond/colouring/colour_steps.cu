// The steps of colouring on CUDA devices.
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/colouring/colour_steps.hpp>

namespace krylith::cuda {

template struct list_visits<colouring::colour_step>;
template struct row_visits<colouring::mirror_sum_step, colouring::uncolour_step>;

} // namespace krylith::cuda

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

void list_colours(const std::shared_ptr<device>& device, std::int64_t rows,
                  const std::int32_t* colour, std::int32_t count, std::int64_t* begin,
                  std::int32_t* order) {
    const buffer<std::byte> scratch(device, krylith::cuda::scan_scratch_bytes, "colours of rows");
    device->zero(begin, sizeof *begin);
    for (std::int32_t c = 0; c < count; ++c)
        krylith::cuda::scan(
            *device, rows_of_colour{colour, c, static_cast<std::uint32_t>(rows), begin + c, order},
            rows, scratch.data());
}

} // namespace krylith::colouring::cuda

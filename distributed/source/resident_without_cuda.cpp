// Stands for patterns on devices in builds without CUDA, where no group has such devices.
#include <krylith/distributed/source/dealt_rows.hpp>

#include <krylith/config.hpp>
#if !KRYLITH_HAVE_CUDA

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

/// Ends calls that no group of a build without CUDA can make.
[[noreturn]] void refuse_cuda() {
    throw device_error("krylith was built without CUDA");
}

} // namespace

template <class T>
std::shared_ptr<resident_matrix> upload_pattern(const communicator& /*group*/,
                                                const csr_view<T>& /*matrix*/,
                                                const row_partition& /*rows*/) {
    refuse_cuda();
}
std::shared_ptr<resident_matrix> take_pattern(const communicator& /*group*/,
                                              std::span<const given_rows> /*given*/,
                                              std::int64_t /*columns*/) {
    refuse_cuda();
}
std::shared_ptr<resident_matrix> take_numbered(const communicator& /*group*/,
                                               std::span<const numbered_rows> /*given*/,
                                               std::int64_t /*columns*/) {
    refuse_cuda();
}
double scattered_fraction(const resident_matrix& /*matrix*/, int /*rank*/,
                          std::int64_t /*value_bytes*/) {
    refuse_cuda();
}
halo_plan make_halo_plan(resident_matrix& /*matrix*/, row_partition /*of_rows*/,
                         row_partition /*of_columns*/) {
    refuse_cuda();
}
halo_plan make_allgather_plan(resident_matrix& /*matrix*/, row_partition /*of_rows*/,
                              row_partition /*of_columns*/) {
    refuse_cuda();
}
resident_block local_block(const resident_matrix& /*matrix*/, const halo_plan& /*plan*/,
                           int /*rank*/) {
    refuse_cuda();
}
void measure_rows(const std::shared_ptr<device>& /*device*/, resident_rows& /*rows*/) {
    refuse_cuda();
}
local_indices number_blocks(const std::shared_ptr<device>& /*device*/, row_range /*owned*/,
                            std::int64_t /*columns*/, std::span<resident_rows* const> /*blocks*/) {
    refuse_cuda();
}
template <class T>
std::vector<resident_rows> bring_rows(const communicator& /*group*/,
                                      const matrix_source<T>& /*source*/,
                                      std::span<const wanted_rows> /*wanted*/) {
    refuse_cuda();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<resident_rows> bring_rows(const communicator&, const matrix_source<T>&,   \
                                                   std::span<const wanted_rows>);                  \
    template std::shared_ptr<resident_matrix> upload_pattern(                                      \
        const communicator&, const csr_view<T>&, const row_partition&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

#endif

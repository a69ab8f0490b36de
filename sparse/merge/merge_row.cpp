#include <krylith/config.hpp>
#include <krylith/sparse/csr/csr_bytes.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/format.hpp>

namespace krylith {

namespace {

#if KRYLITH_HAVE_CUDA
constexpr format_makers merge_makers_cuda = {cuda::make_merge<double>, cuda::make_merge<float>};
#else
constexpr format_makers merge_makers_cuda = {};
#endif

} // namespace

constinit const format_method format_rows::merge = {
    .name = "merge",
    .help =
        "compressed rows by merge path: equal work for all blocks, whatever the lengths of rows",
    .on_host = false,
    .on_cuda = true,
    .rounds_by_block = true,
    .borrows = true,
    .listed_as = "csr",
    .matrix_bytes = csr_bytes,
    .host = format_makers{},
    .cuda = merge_makers_cuda,
};

} // namespace krylith

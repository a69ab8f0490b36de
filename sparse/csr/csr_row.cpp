#include <krylith/config.hpp>
#include <krylith/sparse/csr/csr_bytes.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/format.hpp>

namespace krylith {

namespace {

#if KRYLITH_HAVE_CUDA
constexpr format_makers csr_makers_cuda = {cuda::make_csr<double>, cuda::make_csr<float>};
#else
constexpr format_makers csr_makers_cuda = {};
#endif

} // namespace

constinit const format_method format_rows::csr = {
    .name = "csr",
    .help = "compressed rows",
    .on_host = true,
    .on_cuda = true,
    .borrows = true,
    .matrix_bytes = csr_bytes,
    .host = format_makers{host::make_csr<double>, host::make_csr<float>},
    .cuda = csr_makers_cuda,
};

} // namespace krylith

#include <krylith/config.hpp>
#include <krylith/sparse/csr/csr_bytes.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/format.hpp>

namespace krylith {

namespace {

std::int64_t cusparse_bytes(const block_pattern& block) {
    // Columns are as wide as offsets.
    const auto nonzeros = static_cast<std::int64_t>(block.columns.size());
    return csr_bytes(block) + nonzeros * (offset_bytes(nonzeros) - 4);
}

#if KRYLITH_HAVE_CUDA
constexpr format_makers cusparse_makers_cuda = {cuda::make_cusparse<double>,
                                                cuda::make_cusparse<float>};
#else
constexpr format_makers cusparse_makers_cuda = {};
#endif

} // namespace

constinit const format_method format_rows::cusparse = {
    .name = "cusparse",
    .help = "what cuSPARSE makes of compressed rows",
    .on_host = false,
    .on_cuda = true,
    .rounds_by_block = true,
    .listed_as = "csr",
    .matrix_bytes = cusparse_bytes,
    .host = format_makers{},
    .cuda = cusparse_makers_cuda,
};

} // namespace krylith

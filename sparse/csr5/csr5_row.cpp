#include <krylith/config.hpp>
#include <krylith/sparse/csr5/csr5_layout.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/format.hpp>

namespace krylith {

namespace {

std::int64_t bytes_of_csr5(const block_pattern& block) {
    const auto rows = static_cast<std::int64_t>(block.offsets.size()) - 1;
    const auto nonzeros = static_cast<std::int64_t>(block.columns.size());
    const csr5_shape shape{csr5_omega, choose_csr5_sigma(rows, nonzeros)};
    return nonzeros * (block.value_bytes + 4) +
           csr5_layout_bytes(make_csr5_layout(block.offsets, shape));
}

#if KRYLITH_HAVE_CUDA
constexpr format_makers csr5_makers_cuda = {cuda::make_csr5<double>, cuda::make_csr5<float>};
#else
constexpr format_makers csr5_makers_cuda = {};
#endif

} // namespace

constinit const format_method format_rows::csr5 = {
    .name = "csr5",
    .help = "compressed rows in tiles of equal work for every lane of a warp (CSR5)",
    .on_host = false,
    .on_cuda = true,
    .rounds_by_block = true,
    .listed_as = "csr",
    .matrix_bytes = bytes_of_csr5,
    .host = format_makers{},
    .cuda = csr5_makers_cuda,
};

} // namespace krylith

#include <krylith/config.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/format.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>
#include <krylith/sparse/sell/sell_columns.hpp>

namespace krylith {

namespace {

std::int64_t bytes_of_sell(const block_pattern& block) {
    const sell_layout layout = make_sell_layout(block.offsets);
    return sell_bytes(layout, choose_column_codes(layout, block.offsets, block.columns),
                      block.value_bytes);
}

#if KRYLITH_HAVE_CUDA
constexpr format_makers sell_makers_cuda = {cuda::make_sell<double>, cuda::make_sell<float>};
#else
constexpr format_makers sell_makers_cuda = {};
#endif

} // namespace

constinit const format_method format_rows::sell = {
    .name = "sell",
    .aliases = {"sellp"},
    .help = "slices of 32 rows, stored by columns",
    .on_host = false,
    .on_cuda = true,
    .persistent = true,
    .matrix_bytes = bytes_of_sell,
    .host = format_makers{},
    .cuda = sell_makers_cuda,
};

} // namespace krylith

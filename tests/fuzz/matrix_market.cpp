// Feeds any bytes as a Matrix Market file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <krylith/tests/fuzz/support/market_oracle.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    krylith::fuzz::check_market({reinterpret_cast<const char*>(data), size});
    return 0;
}

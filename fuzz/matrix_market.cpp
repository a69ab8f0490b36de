// Any bytes as a Matrix Market file: read, or refused by an input_error, never anything else.

#include <krylith/device/error.hpp>
#include <krylith/matrix/matrix_market.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        validate(krylith::parse_matrix_market<double>(text, "fuzz.mtx"));
    } catch (const krylith::input_error&) {
    }
    return 0;
}

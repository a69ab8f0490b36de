#include <krylith/tests/fuzz/support/byte_source.hpp>
#include <krylith/tests/fuzz/support/csr_arrays.hpp>

#include <algorithm>
#include <cstddef>

namespace krylith::fuzz {
namespace {

csr_arrays take_anything(byte_source& from) {
    csr_arrays a;
    a.rows = from.take<std::int64_t>();
    a.columns = from.take<std::int64_t>();
    const auto offsets = from.take<std::uint8_t>();
    const auto indices = from.take<std::uint8_t>();
    const auto values = from.take<std::uint8_t>();
    for (int k = 0; k < offsets; ++k) a.offsets.push_back(from.take<std::int64_t>());
    for (int k = 0; k < indices; ++k) a.indices.push_back(from.take<std::int32_t>());
    for (int k = 0; k < values; ++k) a.values.push_back(from.take<std::int8_t>() / 4.0);
    return a;
}

csr_arrays take_small(byte_source& from, bool valid, bool square) {
    csr_arrays a;
    a.rows = from.take<std::uint8_t>() % 64;
    a.columns = square ? a.rows : from.take<std::uint8_t>() % 64;
    a.offsets.push_back(valid ? 0 : from.take<std::int8_t>());
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int64_t length =
            valid ? from.take<std::uint8_t>() % 16 : from.take<std::int8_t>();
        a.offsets.push_back(a.offsets.back() + (a.columns == 0 && valid ? 0 : length));
    }
    const std::int64_t entries =
        valid ? a.offsets.back() : std::clamp<std::int64_t>(a.offsets.back(), 0, 4096);
    for (std::int64_t k = 0; k < entries; ++k) {
        const std::int32_t index = valid ? from.take<std::uint8_t>() % static_cast<int>(a.columns)
                                         : from.take<std::int8_t>();
        a.indices.push_back(index);
        a.values.push_back(from.take<std::int8_t>() / 4.0);
    }
    return a;
}

} // namespace

csr_arrays take_csr_arrays(std::span<const std::uint8_t> bytes) {
    byte_source from(bytes);
    const auto how = from.take<std::uint8_t>();
    return (how & 1) != 0 ? take_anything(from) : take_small(from, (how & 2) != 0, (how & 4) != 0);
}

} // namespace krylith::fuzz

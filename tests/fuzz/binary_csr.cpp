// Feeds any bytes as a .kcsr file: it is refused by an input_error, or is a valid matrix that is
// written as the same bytes. The first byte decides whether the checksum of the head is made right
// first, and the others ignored: otherwise no changed file would ever get beyond them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/checksum.hpp>
#include <krylith/matrix/kcsr/image.hpp>
#include <krylith/matrix/kcsr/row_file.hpp>
#include <krylith/matrix/kcsr/serialise.hpp>
#include <krylith/tests/fuzz/support/require.hpp>

namespace {

using namespace krylith;
using fuzz::require;

template <class T>
std::vector<std::byte> written(const csr_view<T>& matrix) {
    std::vector<std::byte> bytes;
    binary::serialise<T>(matrix, [&](std::span<const std::byte> piece) {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
    });
    return bytes;
}

template <class T>
void require_same_bytes(const binary::image& file, std::span<const std::byte> bytes,
                        bool checksums) {
    const auto again = written(file.view<T>());
    const std::size_t begin = checksums ? 0 : binary::layout_of(file.what).row_offsets.begin;
    require(again.size() == bytes.size(), "a matrix is written in as many bytes");
    // The gaps may hold anything where checksums are ignored; the last array has no gap behind it.
    const std::size_t compared = checksums ? begin : binary::layout_of(file.what).values.begin;
    require(compared == bytes.size() ||
                std::memcmp(again.data() + compared, bytes.data() + compared,
                            bytes.size() - compared) == 0,
            "a matrix is written as the bytes that it was read from");
}

void read(std::span<const std::byte> bytes, binary::file_check check) {
    const binary::image file = binary::open_image(bytes, "fuzz.kcsr", check);
    if (file.what.type == binary::value_type::fp64) {
        require_same_bytes<double>(file, bytes, check.checksums);
    } else {
        require_same_bytes<float>(file, bytes, check.checksums);
    }
    const binary::byte_source source{
        "fuzz.kcsr", bytes.size(), [&](std::uint64_t begin, std::span<std::byte> place) {
            std::ranges::copy(bytes.subspan(begin, place.size()), place.begin());
        }};
    validate(binary::read_matrix<double>(source, check));
    validate(binary::read_matrix<float>(source, check)); // may refuse an overflow
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const bool repair = (data[0] & 1) != 0;
    const std::size_t length = size - 1;
    std::vector<std::uint64_t> aligned(length / 8); // the remaining bytes: exactly as long
    aligned.resize((length + 7) / 8);
    auto bytes = std::as_writable_bytes(std::span(aligned)).first(length);
    if (length > 0) std::memcpy(bytes.data(), data + 1, length);
    if (repair && length >= binary::head_bytes) {
        const std::uint64_t sum = binary::checksum(bytes.first(120));
        std::memcpy(bytes.data() + 120, &sum, sizeof sum);
    }
    try {
        read(bytes, {.checksums = !repair});
    } catch (const input_error&) {
    }
    return 0;
}

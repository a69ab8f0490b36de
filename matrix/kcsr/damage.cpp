#include <krylith/matrix/kcsr/damage.hpp>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/checksum.hpp>

namespace krylith::binary {
namespace {

void compare(const std::string& name, std::uint64_t begin, std::span<const std::byte> bytes,
             const std::string& what, std::uint64_t expected) {
    if (const std::uint64_t found = checksum(bytes); found != expected) {
        throw input_error(name + ": bytes " + std::to_string(begin) + " to " +
                          std::to_string(begin + bytes.size() - 1) + what +
                          " are damaged: their checksum is " + std::to_string(found) +
                          ", allowed is " + std::to_string(expected));
    }
}

} // namespace

void check_sum(const std::string& name, std::uint64_t begin, std::span<const std::byte> chunk,
               std::uint64_t expected) {
    compare(name, begin, chunk, "", expected);
}

void check_table(const std::string& name, const section& table, std::span<const std::byte> bytes,
                 std::uint64_t expected) {
    compare(name, table.begin, bytes, " (the checksums)", expected);
}

void check_gap(const std::string& name, std::uint64_t begin, std::span<const std::byte> gap) {
    for (std::size_t k = 0; k < gap.size(); ++k) {
        if (gap[k] != std::byte{0}) {
            throw input_error(name + ": byte " + std::to_string(begin + k) +
                              ", between two arrays, is " +
                              std::to_string(std::to_integer<int>(gap[k])) + ", allowed is 0");
        }
    }
}

} // namespace krylith::binary

// The members of a zip archive, as far as .npz files use the format: stored or deflated, zip64,
// in one part and without passwords (APPNOTE.TXT of PKWARE, 6.3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/files/byte_source.hpp>

namespace krylith::numpy {

/// What numbers of 16 and 32 bits stand at where the true one is in a zip64 record.
inline constexpr std::uint64_t all_16 = 0xffff;
inline constexpr std::uint64_t all_32 = 0xffffffff;

struct zip_member {
    std::string name;
    bool deflated = false;
    std::uint32_t checksum = 0;     ///< CRC-32 of its bytes
    std::uint64_t stored_bytes = 0; ///< in the archive
    std::uint64_t bytes = 0;        ///< unpacked
    std::uint64_t local_header = 0; ///< where it is
};

/// Reads the directory at the end of the archive. Throws input_error for what is no archive or is
/// damaged there, is encrypted or in several parts, and for members that claim to unpack to more
/// than deflated data can.
[[nodiscard]] std::vector<zip_member> read_zip_directory(const binary::byte_source& archive);

/// The bytes of a member, checked against their checksum: in place where they are stored, else
/// unpacked in memory, of which they need `bytes`. The archive must live as long as the result.
/// Throws input_error where they are damaged.
[[nodiscard]] binary::byte_source open_zip_member(const binary::byte_source& archive,
                                                  const zip_member& member);

} // namespace krylith::numpy

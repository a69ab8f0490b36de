// A zip archive of stored members, written from begin to end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <krylith/matrix/files/output_target.hpp>

namespace krylith::numpy {

/// Writes members one by one, in place on a stream. Call close() at the end: without it, as after
/// an exception, a file stays as it was. Zip64 where sizes need it. All throw input_error where
/// writing fails.
class zip_writer {
public:
    explicit zip_writer(const std::filesystem::path& path) : target_(path) {}

    /// A member of two pieces, one behind the other.
    void add(std::string_view name, std::span<const std::byte> first,
             std::span<const std::byte> second);
    void close();

private:
    void put(std::string_view bytes);

    output_target target_;
    std::uint64_t written_ = 0;
    std::uint64_t members_ = 0;
    std::string directory_;
};

/// The CRC-32 of bytes in memory, by all OpenMP threads.
[[nodiscard]] std::uint32_t zip_checksum(std::span<const std::byte> bytes);

} // namespace krylith::numpy

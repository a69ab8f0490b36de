#include <krylith/matrix/numpy/zip_writer.hpp>

#include <algorithm>
#include <vector>

#include <zlib.h>

#include <krylith/matrix/numpy/zip_archive.hpp>

namespace krylith::numpy {
namespace {

/// Appends a number, little endian.
void append(std::string& to, std::uint64_t value, int bytes) {
    for (int k = 0; k < bytes; ++k) {
        to += static_cast<char>(value % 256);
        value /= 256;
    }
}

/// Version needed, flags, method 0 (stored), and the first day that the format knows: the same
/// matrix gives the same file.
void append_common(std::string& to, std::uint32_t checksum, std::uint64_t bytes, bool wide) {
    append(to, wide ? 45 : 20, 2);
    append(to, 0, 2);
    append(to, 0, 2);
    append(to, 0, 2);
    append(to, (1 << 5) + 1, 2);
    append(to, checksum, 4);
    append(to, wide ? all_32 : bytes, 4);
    append(to, wide ? all_32 : bytes, 4);
}

} // namespace

std::uint32_t zip_checksum(std::span<const std::byte> bytes) {
    constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
    const auto chunks = static_cast<std::int64_t>((bytes.size() + chunk_bytes - 1) / chunk_bytes);
    std::vector<uLong> sums(static_cast<std::size_t>(chunks));
    const auto chunk = [&](std::int64_t k) {
        const std::size_t begin = static_cast<std::size_t>(k) * chunk_bytes;
        return bytes.subspan(begin, std::min(chunk_bytes, bytes.size() - begin));
    };
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < chunks; ++k) {
        const auto part = chunk(k);
        sums[static_cast<std::size_t>(k)] =
            crc32_z(0, reinterpret_cast<const Bytef*>(part.data()), part.size());
    }
    uLong sum = 0;
    for (std::int64_t k = 0; k < chunks; ++k) {
        sum = crc32_combine(sum, sums[static_cast<std::size_t>(k)],
                            static_cast<z_off_t>(chunk(k).size()));
    }
    return static_cast<std::uint32_t>(sum);
}

void zip_writer::put(std::string_view bytes) {
    target_.write(std::as_bytes(std::span(bytes)));
    written_ += bytes.size();
}

void zip_writer::add(std::string_view name, std::span<const std::byte> first,
                     std::span<const std::byte> second) {
    const std::uint64_t bytes = first.size() + second.size();
    const auto checksum = static_cast<std::uint32_t>(crc32_combine(
        zip_checksum(first), zip_checksum(second), static_cast<z_off_t>(second.size())));
    const bool wide = bytes >= all_32;
    const std::uint64_t begin = written_;

    std::string header = "PK\x03\x04";
    append_common(header, checksum, bytes, wide);
    append(header, name.size(), 2);
    append(header, wide ? 20 : 0, 2);
    header += name;
    if (wide) { // the field 1 of zip64: both sizes
        append(header, 1, 2);
        append(header, 16, 2);
        append(header, bytes, 8);
        append(header, bytes, 8);
    }
    put(header);
    target_.write(first);
    target_.write(second);
    written_ += bytes;

    const bool far = begin >= all_32;
    std::string extra;
    if (wide || far) {
        append(extra, 1, 2);
        append(extra, (wide ? 16 : 0) + (far ? 8 : 0), 2);
        append(extra, bytes, wide ? 8 : 0);
        append(extra, bytes, wide ? 8 : 0);
        append(extra, begin, far ? 8 : 0);
    }
    directory_ += "PK\x01\x02";
    append(directory_, 45, 2); // version made by
    append_common(directory_, checksum, bytes, wide);
    append(directory_, name.size(), 2);
    append(directory_, extra.size(), 2);
    append(directory_, 0, 2 + 2 + 2 + 4); // comment, part, attributes
    append(directory_, far ? all_32 : begin, 4);
    directory_ += name;
    directory_ += extra;
    ++members_;
}

void zip_writer::close() {
    const std::uint64_t begin = written_;
    const bool wide = begin >= all_32 || directory_.size() >= all_32;
    put(directory_);
    std::string end;
    if (wide) {
        const std::uint64_t record = written_;
        end += "PK\x06\x06";
        append(end, 44, 8); // bytes behind this field
        append(end, 45, 2);
        append(end, 45, 2);
        append(end, 0, 4 + 4);
        append(end, members_, 8);
        append(end, members_, 8);
        append(end, directory_.size(), 8);
        append(end, begin, 8);
        end += "PK\x06\x07";
        append(end, 0, 4);
        append(end, record, 8);
        append(end, 1, 4);
    }
    end += "PK\x05\x06";
    append(end, 0, 2 + 2);
    append(end, members_, 2);
    append(end, members_, 2);
    append(end, std::min<std::uint64_t>(directory_.size(), all_32), 4);
    append(end, std::min(begin, all_32), 4);
    append(end, 0, 2);
    put(end);
    target_.commit();
}

} // namespace krylith::numpy

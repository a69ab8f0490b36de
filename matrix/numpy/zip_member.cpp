#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <zlib.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/first_failure.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/numpy/zip_archive.hpp>

namespace krylith::numpy {
namespace {

constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20;

[[noreturn]] void refuse(const binary::byte_source& archive, const zip_member& member,
                         const std::string& what) {
    throw input_error(archive.name + ": member " + market::quoted(member.name) + " " + what);
}

/// Where its bytes begin: behind a header whose length only it says.
std::uint64_t first_byte(const binary::byte_source& archive, const zip_member& member) {
    constexpr std::uint64_t header_bytes = 30;
    std::array<unsigned char, header_bytes> header{};
    const bool inside =
        archive.bytes >= header_bytes && member.local_header <= archive.bytes - header_bytes;
    if (inside) {
        archive.read(member.local_header, std::as_writable_bytes(std::span(header)));
    }
    const auto number = [&](std::size_t at) { return header[at] + 256U * header[at + 1]; };
    const std::uint64_t begin =
        member.local_header + header_bytes + number(26) + std::uint64_t{number(28)};
    if (!inside || std::memcmp(header.data(), "PK\x03\x04", 4) != 0 || begin > archive.bytes ||
        member.stored_bytes > archive.bytes - begin) {
        refuse(archive, member,
               "lies outside of the file or has a damaged header, allowed is a complete zip file");
    }
    return begin;
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Of chunks that all threads take, put together in their order.
std::uint32_t checksum(const binary::byte_source& member) {
    const auto chunks = static_cast<std::int64_t>((member.bytes + chunk_bytes - 1) / chunk_bytes);
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(chunks));
    files::first_failure failure;
    const auto length = [&](std::int64_t k) {
        return std::min(chunk_bytes, member.bytes - static_cast<std::uint64_t>(k) * chunk_bytes);
    };
#pragma omp parallel
    {
        std::vector<std::byte> buffer;
#pragma omp for schedule(static)
        for (std::int64_t k = 0; k < chunks; ++k) {
            failure.attempt(k, [&] {
                buffer.resize(length(k));
                member.read(static_cast<std::uint64_t>(k) * chunk_bytes, buffer);
                sums[static_cast<std::size_t>(k)] = checksum(buffer);
            });
        }
    }
    failure.rethrow();
    uLong sum = 0;
    for (std::int64_t k = 0; k < chunks; ++k) {
        sum =
            crc32_combine(sum, sums[static_cast<std::size_t>(k)], static_cast<z_off_t>(length(k)));
    }
    return static_cast<std::uint32_t>(sum);
}

/// Unpacks raw deflate data; false if they aren't exactly the member.
bool unpack(const binary::byte_source& archive, const zip_member& member, std::uint64_t begin,
            std::span<std::byte> to) {
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        throw std::bad_alloc();
    }
    const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, inflateEnd);
    std::vector<std::byte> block(std::min(chunk_bytes, member.stored_bytes));
    std::uint64_t taken = 0;
    std::uint64_t made = 0;
    int status = Z_OK;
    std::byte beyond{}; // a byte more than the member may have
    while (status == Z_OK || status == Z_BUF_ERROR) {
        if (stream.avail_in == 0 && taken < member.stored_bytes) {
            const std::uint64_t length =
                std::min<std::uint64_t>(block.size(), member.stored_bytes - taken);
            archive.read(begin + taken, std::span(block).first(length));
            taken += length;
            stream.next_in = reinterpret_cast<Bytef*>(block.data());
            stream.avail_in = static_cast<uInt>(length);
        }
        const bool full = made == to.size();
        const std::uint64_t room = full ? 1 : std::min<std::uint64_t>(to.size() - made, 1 << 30);
        stream.next_out = reinterpret_cast<Bytef*>(full ? &beyond : to.data() + made);
        stream.avail_out = static_cast<uInt>(room);
        const bool starved = stream.avail_in == 0;
        status = inflate(&stream, Z_NO_FLUSH);
        const std::uint64_t count = room - stream.avail_out;
        if ((full && count > 0) || (starved && count == 0 && status != Z_STREAM_END)) {
            return false;
        }
        made += count;
    }
    return status == Z_STREAM_END && made == to.size();
}

} // namespace

binary::byte_source open_zip_member(const binary::byte_source& archive, const zip_member& member) {
    const std::uint64_t begin = first_byte(archive, member);
    binary::byte_source source;
    source.name = archive.name;
    source.bytes = member.bytes;
    if (member.deflated) {
        const auto bytes = std::make_shared<std::vector<std::byte>>(member.bytes);
        if (!unpack(archive, member, begin, *bytes)) {
            refuse(archive, member,
                   "is damaged: its data don't unpack to " + std::to_string(member.bytes) +
                       " bytes, allowed is a valid zip file");
        }
        source.read = [bytes](std::uint64_t from, std::span<std::byte> place) {
            std::memcpy(place.data(), bytes->data() + from, place.size());
        };
    } else {
        source.read = [&archive, begin](std::uint64_t from, std::span<std::byte> place) {
            archive.read(begin + from, place);
        };
    }
    if (const std::uint32_t found = checksum(source); found != member.checksum) {
        refuse(archive, member,
               "is damaged: its checksum is " + std::to_string(found) + ", allowed is " +
                   std::to_string(member.checksum));
    }
    return source;
}

} // namespace krylith::numpy

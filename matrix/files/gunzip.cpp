#include <krylith/matrix/files/gunzip.hpp>

#include <algorithm>
#include <new>
#include <span>
#include <vector>

#include <zlib.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/growing_text.hpp>

namespace krylith::files {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;

/// The state of zlib for gzip data.
class decoder {
public:
    decoder() {
        constexpr int gzip_only = 16;
        if (inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) {
            throw std::bad_alloc();
        }
    }
    ~decoder() { inflateEnd(&stream_); }
    decoder(const decoder&) = delete;
    decoder& operator=(const decoder&) = delete;

    void give(std::span<const std::byte> packed) {
        // zlib's older interface takes a pointer to non-const, and writes nothing there.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
        stream_.avail_in = static_cast<uInt>(packed.size());
    }
    [[nodiscard]] std::size_t left() const noexcept { return stream_.avail_in; }

    /// Unpacks into the place; returns zlib's status, and in `count` how many bytes came.
    int unpack(std::span<char> place, std::size_t& count) {
        const auto most = static_cast<uInt>(std::min(place.size(), std::size_t{1} << 30));
        stream_.next_out = reinterpret_cast<Bytef*>(place.data());
        stream_.avail_out = most;
        const int status = inflate(&stream_, Z_NO_FLUSH);
        count = most - stream_.avail_out;
        return status;
    }
    void start_again() { inflateReset(&stream_); }

private:
    z_stream stream_{};
};

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
    throw input_error(name + ": " + what);
}

} // namespace

bool is_gzip(std::string_view beginning) noexcept {
    return beginning.starts_with("\x1f\x8b");
}

std::string unpack_beginning(std::string_view packed, std::size_t most) {
    decoder gzip;
    gzip.give(std::as_bytes(std::span(packed)));
    std::string text(most, '\0');
    std::size_t used = 0;
    for (int status = Z_OK; status == Z_OK && used < most && gzip.left() > 0;) {
        std::size_t count = 0;
        status = gzip.unpack(std::span(text).subspan(used), count);
        used += count;
    }
    text.resize(used);
    return text;
}

std::string unpack(const binary::byte_source& packed, const unpacking_limits& limits) {
    decoder gzip;
    growing_text text(packed.name);
    std::vector<std::byte> block(std::min<std::uint64_t>(block_bytes, packed.bytes));
    bool inside = true; // a member, which has not ended
    for (std::uint64_t at = 0; at < packed.bytes;) {
        const std::size_t length = std::min<std::uint64_t>(block.size(), packed.bytes - at);
        packed.read(at, std::span(block).first(length));
        at += length;
        gzip.give(std::span(block).first(length));
        for (bool more = true; more;) {
            const std::span<char> place = text.room(block_bytes);
            std::size_t count = 0;
            const int status = gzip.unpack(place, count);
            text.keep(count);
            if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
                refuse(packed.name, "the gzip data are corrupt near byte " +
                                        std::to_string(at - gzip.left()) +
                                        ", allowed is a valid file");
            }
            if (text.size() > limits.bytes && text.size() / limits.ratio > at) {
                refuse(packed.name,
                       std::to_string(at) + " bytes of gzip data unpack to more than " +
                           std::to_string(limits.ratio) + " times as much, allowed is that up to " +
                           std::to_string(limits.bytes) + " bytes");
            }
            inside = status != Z_STREAM_END;
            if (!inside && gzip.left() > 0) {
                gzip.start_again();
                inside = true;
            }
            more = gzip.left() > 0 || (inside && count == place.size());
        }
        if (!inside && at < packed.bytes) {
            gzip.start_again();
            inside = true;
        }
    }
    if (inside) {
        refuse(packed.name, "the gzip data end too early, allowed is a complete file (was a "
                            "transfer cut off?)");
    }
    return text.take();
}

} // namespace krylith::files

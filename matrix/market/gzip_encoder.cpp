#include <krylith/matrix/market/gzip_encoder.hpp>

#include <new>
#include <vector>

#include <zlib.h>

namespace krylith::market {

void gzip_encoder::closer::operator()(z_stream_s* stream) const {
    deflateEnd(stream);
    delete stream; // NOLINT(cppcoreguidelines-owning-memory)
}

gzip_encoder::gzip_encoder() {
    constexpr int level = 6;
    constexpr int largest_window_with_gzip_head = MAX_WBITS + 16;
    constexpr int usual_memory = 8;
    auto stream = std::make_unique<z_stream>();
    *stream = {};
    if (deflateInit2(stream.get(), level, Z_DEFLATED, largest_window_with_gzip_head, usual_memory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::bad_alloc();
    }
    stream_.reset(stream.release());
}

void gzip_encoder::encode(std::string_view text, const sink& put) {
    run(text, Z_NO_FLUSH, put);
}

void gzip_encoder::finish(const sink& put) {
    run({}, Z_FINISH, put);
}

void gzip_encoder::run(std::string_view text, int flush, const sink& put) {
    std::vector<std::byte> encoded(std::size_t{1} << 16);
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_->avail_in = static_cast<uInt>(text.size());
    do { // repeats until there is room left: then nothing waits
        stream_->next_out = reinterpret_cast<Bytef*>(encoded.data());
        stream_->avail_out = static_cast<uInt>(encoded.size());
        deflate(stream_.get(), flush);
        put(std::span(encoded).first(encoded.size() - stream_->avail_out));
    } while (stream_->avail_out == 0);
}

} // namespace krylith::market

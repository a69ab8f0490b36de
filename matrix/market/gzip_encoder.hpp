// gzip data from text, piece by piece.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

struct z_stream_s;

namespace krylith::market {

class gzip_encoder {
public:
    using sink = std::function<void(std::span<const std::byte>)>;

    gzip_encoder();

    /// Calls put with what is complete of the encoded data.
    void encode(std::string_view text, const sink& put);
    /// Once, at the end: with the rest.
    void finish(const sink& put);

private:
    struct closer {
        void operator()(z_stream_s* stream) const;
    };

    void run(std::string_view text, int flush, const sink& put);

    std::unique_ptr<z_stream_s, closer> stream_;
};

} // namespace krylith::market

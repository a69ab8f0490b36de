// gzip data from text, block by block.
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

    /// Encodes the text; calls put with the encoded data that are complete.
    void encode(std::string_view text, const sink& put);
    /// Ends the data; calls put with the rest. To be called once.
    void finish(const sink& put);

private:
    struct closer {
        void operator()(z_stream_s* stream) const;
    };

    void run(std::string_view text, int flush, const sink& put);

    std::unique_ptr<z_stream_s, closer> stream_;
};

} // namespace krylith::market

#include <krylith/matrix/market/text_sink.hpp>

#include <algorithm>
#include <span>

namespace krylith::market {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

} // namespace

text_sink::text_sink(const std::filesystem::path& path) : target_(path) {
    if (path.extension() == ".gz") {
        gzip_.emplace();
    }
    text_.resize(buffer_bytes);
}

void text_sink::put(std::string_view text) {
    while (!text.empty()) {
        make_room(1);
        const std::size_t count = std::min(text.size(), text_.size() - used_);
        used_ += text.copy(text_.data() + used_, count);
        text.remove_prefix(count);
    }
}

void text_sink::close() {
    flush();
    if (gzip_) {
        gzip_->finish([&](std::span<const std::byte> bytes) { target_.write(bytes); });
    }
    target_.commit();
}

void text_sink::make_room(std::size_t bytes) {
    if (text_.size() - used_ < bytes) {
        flush();
    }
}

void text_sink::flush() {
    const std::string_view waiting = std::string_view(text_).substr(0, used_);
    if (gzip_) {
        gzip_->encode(waiting, [&](std::span<const std::byte> bytes) { target_.write(bytes); });
    } else {
        target_.write(std::as_bytes(std::span(waiting)));
    }
    used_ = 0;
}

} // namespace krylith::market

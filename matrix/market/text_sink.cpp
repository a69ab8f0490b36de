#include <krylith/matrix/market/text_sink.hpp>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <krylith/matrix/market/diagnosis.hpp>

namespace krylith::market {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

} // namespace

void text_sink::closer::operator()(gzFile_s* file) const {
    gzclose_w(file);
}

text_sink::text_sink(const std::filesystem::path& path) : name_(path.string()) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        refuse_write();
    }
    file_.reset(gzdopen(descriptor, path.extension() == ".gz" ? "wb6" : "wbT"));
    if (!file_) {
        ::close(descriptor);
        throw std::bad_alloc();
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
    if (gzclose_w(file_.release()) != Z_OK) {
        refuse_write();
    }
}

void text_sink::make_room(std::size_t bytes) {
    if (text_.size() - used_ < bytes) {
        flush();
    }
}

void text_sink::flush() {
    if (used_ > 0 && gzwrite(file_.get(), text_.data(), static_cast<unsigned>(used_)) == 0) {
        refuse_write();
    }
    used_ = 0;
}

void text_sink::refuse_write() const {
    refuse(name_, "can't be written: " + std::generic_category().message(errno));
}

} // namespace krylith::market

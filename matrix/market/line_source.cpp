#include <krylith/matrix/market/line_source.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <krylith/matrix/market/diagnosis.hpp>

namespace krylith::market {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 24;

/// Matrix Market text shrinks to a third to a sixth.
constexpr std::int64_t usual_gzip_ratio = 4;

std::string reason(int error_number) {
    return std::generic_category().message(error_number);
}

} // namespace

void line_source::closer::operator()(gzFile_s* file) const {
    gzclose_r(file);
}

line_source line_source::from_file(const std::filesystem::path& path) {
    line_source source(path.string());
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        const int cause = errno;
        refuse(source.name_,
               cause == ENOENT ? "no such file" : "can't be opened: " + reason(cause));
    }
    struct stat status {};
    const bool known = fstat(descriptor, &status) == 0;
    if (known && S_ISDIR(status.st_mode)) {
        close(descriptor);
        refuse(source.name_, "is a directory, allowed is a Matrix Market file");
    }
    if (known && S_ISREG(status.st_mode)) {
        source.file_bytes_ = status.st_size;
    }
    source.file_.reset(gzdopen(descriptor, "rb")); // plain text passes through unchanged
    if (!source.file_) {
        close(descriptor);
        throw std::bad_alloc();
    }
    gzbuffer(source.file_.get(), 1 << 18);
    source.buffer_ = std::make_unique_for_overwrite<char[]>(buffer_bytes);
    return source;
}

line_source line_source::from_text(std::string_view text, std::string name) {
    line_source source(std::move(name));
    source.text_ = text;
    source.ready_ = text;
    return source;
}

bool line_source::take_line(std::string_view& line) {
    if (ready_.empty() && !refill()) {
        return false;
    }
    const std::size_t end = ready_.find('\n');
    line = ready_.substr(0, end);
    ready_.remove_prefix(end == std::string_view::npos ? ready_.size() : end + 1);
    ++lines_taken_;
    return true;
}

std::string_view line_source::take_block() {
    if (ready_.empty() && !refill()) {
        return {};
    }
    const std::string_view block = std::exchange(ready_, {});
    lines_taken_ += std::count(block.begin(), block.end(), '\n') + (block.back() != '\n');
    return block;
}

std::int64_t line_source::expected_bytes_left() const {
    const auto at_hand = static_cast<std::int64_t>(ready_.size() + partial_.size());
    if (!file_) {
        return at_hand;
    }
    const std::int64_t ratio = gzdirect(file_.get()) != 0 ? 1 : usual_gzip_ratio;
    return at_hand + std::max<std::int64_t>(0, ratio * file_bytes_ - bytes_read_);
}

bool line_source::rewind() {
    if (file_ && gzrewind(file_.get()) != 0) {
        return false;
    }
    ready_ = text_;
    partial_ = {};
    bytes_read_ = 0;
    lines_taken_ = 0;
    return true;
}

std::size_t line_source::read_into(char* place, std::size_t room) {
    // gzread fills the whole room unless the data end or fail.
    const int count = gzread(file_.get(), place, static_cast<unsigned>(room));
    int status = Z_OK;
    const char* text = gzerror(file_.get(), &status);
    if (status == Z_BUF_ERROR) {
        refuse(name_, lines_taken_ + 1,
               "the gzip data end too early, allowed is a complete file (was a transfer cut off?)");
    }
    if (status == Z_ERRNO) {
        refuse(name_, lines_taken_ + 1, "can't be read: " + reason(errno));
    }
    if (count < 0 || status != Z_OK) {
        refuse(name_, lines_taken_ + 1,
               "the gzip data are corrupt (" + std::string(text) + "), allowed is a valid file");
    }
    return static_cast<std::size_t>(count);
}

bool line_source::refill() {
    if (!file_) {
        return false;
    }
    char* const buffer = buffer_.get();
    const std::size_t carried = partial_.size();
    if (carried > 0) {
        std::memmove(buffer, partial_.data(), carried);
    }
    partial_ = {};
    const std::size_t room = buffer_bytes - carried;
    const std::size_t added = read_into(buffer + carried, room);
    bytes_read_ += static_cast<std::int64_t>(added);
    const std::string_view filled(buffer, carried + added);
    if (added < room) { // the end of the text
        ready_ = filled;
        return !ready_.empty();
    }
    const std::size_t last_feed = filled.rfind('\n');
    if (last_feed == std::string_view::npos) {
        refuse(name_, lines_taken_ + 1,
               "a line longer than " + std::to_string(buffer_bytes) + " bytes, starting with " +
                   quoted(filled) + ": allowed are shorter lines that end with LF or CR LF");
    }
    ready_ = filled.substr(0, last_feed + 1);
    partial_ = filled.substr(last_feed + 1);
    return true;
}

} // namespace krylith::market

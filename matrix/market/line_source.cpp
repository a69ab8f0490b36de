#include <krylith/matrix/market/line_source.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/readable_file.hpp>
#include <krylith/matrix/market/diagnosis.hpp>

namespace krylith::market {
namespace {

/// A typical ratio: Matrix Market text shrinks to a third to a sixth.
constexpr std::int64_t usual_gzip_ratio = 4;

std::string reason(int error_number) {
    return std::generic_category().message(error_number);
}

/// Opens a regular file; a pipe without a writer doesn't make this wait.
int open_regular(const std::filesystem::path& path, const std::string& name, std::int64_t& bytes) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        const int cause = errno;
        refuse(name, cause == ENOENT ? "no such file, allowed is the path of a Matrix Market file"
                                     : "can't be opened: " + reason(cause) +
                                           ", allowed is a file that can be read");
    }
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(descriptor);
        refuse(name, std::string("is ") + binary::kind_of_file(status.st_mode) +
                         ", allowed is a Matrix Market file");
    }
    bytes = status.st_size;
    return descriptor;
}

} // namespace

void line_source::closer::operator()(gzFile_s* file) const {
    gzclose_r(file);
}

line_source line_source::from_file(const std::filesystem::path& path, const source_limits& limits) {
    line_source source(path.string(), limits);
    const int descriptor = open_regular(path, source.name_, source.file_bytes_);
    source.file_.reset(gzdopen(descriptor, "rb")); // plain text passes through unchanged
    if (!source.file_) {
        close(descriptor);
        throw std::bad_alloc();
    }
    gzbuffer(source.file_.get(), 1 << 17);
    return source;
}

line_source line_source::from_input(const files::input_file& input) {
    const std::optional<std::string_view> text = input.in_memory();
    return text ? from_text(*text, input.name()) : from_file(input.path());
}

line_source line_source::from_text(std::string_view text, std::string name,
                                   const source_limits& limits) {
    line_source source(std::move(name), limits);
    source.text_ = text;
    source.rest_ = text;
    source.ended_ = true;
    return source;
}

bool line_source::take_line(std::string_view& line) {
    std::size_t searched = 0;
    for (;;) {
        const std::string_view rest = file_ ? std::string_view(carried_).substr(used_) : rest_;
        const std::size_t feed = rest.find('\n', searched);
        if (feed != std::string_view::npos || (ended_ && !rest.empty())) {
            line = rest.substr(0, feed);
            const std::size_t taken = std::min(line.size() + 1, rest.size());
            used_ += file_ ? taken : 0;
            rest_.remove_prefix(file_ ? 0 : taken);
            ++lines_taken_;
            return true;
        }
        if (ended_) {
            return false;
        }
        searched = rest.size();
        carried_.erase(0, std::exchange(used_, 0));
        try {
            ended_ = !read_more(carried_);
        } catch (const unreadable& e) {
            refuse(name_, lines_taken_ + 1, e.what());
        }
    }
}

bool line_source::take_block(std::string& storage, std::string_view& block) {
    if (!file_) {
        std::size_t end = rest_.size();
        if (end > limits_.block_bytes) {
            end = std::min(rest_.find('\n', limits_.block_bytes), end - 1) + 1;
        }
        block = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return !block.empty();
    }
    storage.assign(carried_, used_);
    carried_.clear();
    used_ = 0;
    std::size_t searched = 0; // carried text has no line feed, unless it is the first block
    for (;;) {
        const std::size_t feed = std::string_view(storage).substr(searched).rfind('\n');
        if (feed != std::string::npos && storage.size() >= limits_.block_bytes) {
            block = std::string_view(storage).substr(0, searched + feed + 1);
            carried_.assign(storage, block.size());
            return true;
        }
        if (ended_) {
            block = storage;
            return !block.empty();
        }
        searched = feed == std::string::npos ? storage.size() : searched;
        ended_ = !read_more(storage);
    }
}

std::int64_t line_source::expected_bytes_left() const {
    if (!file_) {
        return static_cast<std::int64_t>(rest_.size());
    }
    const std::int64_t ratio = gzdirect(file_.get()) != 0 ? 1 : usual_gzip_ratio;
    return static_cast<std::int64_t>(carried_.size() - used_) +
           std::max<std::int64_t>(0, std::min(ratio * file_bytes_, end_) - bytes_read_);
}

void line_source::rewind() {
    if (file_) {
        gzrewind(file_.get());
    }
    rest_ = text_;
    carried_.clear();
    used_ = 0;
    ended_ = file_ == nullptr;
    bytes_read_ = 0;
    end_ = std::numeric_limits<std::int64_t>::max();
    lines_taken_ = 0;
}

bool line_source::is_plain_file() const {
    return file_ != nullptr && gzdirect(file_.get()) != 0;
}

std::int64_t line_source::position() const {
    return bytes_read_ - static_cast<std::int64_t>(carried_.size() - used_);
}

void line_source::keep_to(std::int64_t begin, std::int64_t end) {
    if (gzseek(file_.get(), begin, SEEK_SET) != begin) {
        throw input_error(name_ + ": can't be read: " + reason(errno));
    }
    carried_.clear();
    used_ = 0;
    bytes_read_ = begin;
    end_ = end;
    ended_ = begin == end;
}

/// Appends to the text up to block_bytes of it; false at the end of the file.
bool line_source::read_more(std::string& text) {
    const std::size_t before = text.size();
    const std::size_t missing = limits_.block_bytes - std::min(before, limits_.block_bytes);
    const std::size_t room =
        std::min(std::max(missing, limits_.block_bytes / 4 + 1),
                 static_cast<std::size_t>(std::max<std::int64_t>(end_ - bytes_read_, 0)));
    if (before > limits_.line_bytes) { // the text has no line feed
        ended_ = true;
        throw unreadable("a line longer than " + std::to_string(limits_.line_bytes) +
                         " bytes, starting with " + market::quoted(text) +
                         ": allowed are shorter lines that end with LF or CR LF");
    }
    text.resize(before + room);
    // gzread fills the whole room unless the data end or fail.
    const int count = gzread(file_.get(), text.data() + before, static_cast<unsigned>(room));
    const int cause = errno;
    text.resize(before + static_cast<std::size_t>(std::max(count, 0)));
    bytes_read_ += std::max(count, 0);
    int status = Z_OK;
    const char* words = gzerror(file_.get(), &status);
    if (count < 0 || status != Z_OK) {
        ended_ = true;
        throw unreadable(status == Z_BUF_ERROR ? "the gzip data end too early, allowed is a "
                                                 "complete file (was a transfer cut off?)"
                         : status == Z_ERRNO   ? "can't be read: " + reason(cause) +
                                                   ", allowed is a file that can be read to its end"
                                             : "the gzip data are corrupt (" + std::string(words) +
                                                   "), allowed is a valid file");
    }
    try {
        check_ratio();
    } catch (...) {
        ended_ = true;
        throw;
    }
    return static_cast<std::size_t>(count) == room && bytes_read_ < end_;
}

void line_source::check_ratio() const {
    const std::int64_t packed = gzoffset(file_.get());
    if (gzdirect(file_.get()) == 0 && bytes_read_ > limits_.unpacked_bytes &&
        bytes_read_ / limits_.unpacked_ratio > packed) {
        throw unreadable(std::to_string(packed) + " bytes of gzip data unpack to more than " +
                         std::to_string(limits_.unpacked_ratio) +
                         " times as much, allowed is that up to " +
                         std::to_string(limits_.unpacked_bytes) + " bytes of text");
    }
}

} // namespace krylith::market

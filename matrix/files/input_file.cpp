#include <krylith/matrix/files/input_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/growing_text.hpp>
#include <krylith/matrix/files/gunzip.hpp>
#include <krylith/matrix/files/readable_file.hpp>
#include <krylith/matrix/files/small_letters.hpp>

namespace krylith::files {
namespace {

constexpr std::size_t beginning_bytes = 4096;
constexpr std::size_t packed_beginning_bytes = std::size_t{1} << 16;

std::string read_standard_input(const std::string& name) {
    growing_text text(name);
    for (;;) {
        const std::span<char> place = text.room(std::size_t{1} << 20);
        const ssize_t count = read(STDIN_FILENO, place.data(), place.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw input_error(name + ": can't be read: " + std::generic_category().message(errno));
        }
        if (count == 0) {
            return text.take();
        }
        text.keep(static_cast<std::size_t>(count));
    }
}

} // namespace

/// Either a file that is open, or bytes in memory.
class input_file::contents {
public:
    explicit contents(const std::string& path) : path_(path) { file_.emplace(path); }
    explicit contents(std::string&& bytes, std::string name)
        : path_(std::move(name)), memory_(std::move(bytes)) {}

    [[nodiscard]] binary::byte_source bytes() const {
        if (file_) {
            return {path_, file_->bytes(), [this](std::uint64_t begin, std::span<std::byte> place) {
                        file_->read(begin, place);
                    }};
        }
        return {path_, memory_.size(), [this](std::uint64_t begin, std::span<std::byte> place) {
                    std::memcpy(place.data(), memory_.data() + begin, place.size());
                }};
    }
    [[nodiscard]] bool in_memory() const noexcept { return !file_; }
    [[nodiscard]] std::string_view text() const noexcept { return memory_; }

private:
    std::string path_;
    std::optional<binary::readable_file> file_;
    std::string memory_;
};

input_file::input_file() = default;
input_file::input_file(input_file&&) noexcept = default;
input_file& input_file::operator=(input_file&&) noexcept = default;
input_file::~input_file() = default;

input_file::input_file(std::string_view name)
    : name_(name == standard_input ? "standard input" : std::string(name)) {
    contents_ = name == standard_input
                    ? std::make_unique<contents>(read_standard_input(name_), name_)
                    : std::make_unique<contents>(name_);
    look();
}

input_file input_file::from_bytes(std::string contents_of, std::string name) {
    input_file file;
    file.name_ = std::move(name);
    file.contents_ = std::make_unique<contents>(std::move(contents_of), file.name_);
    file.look();
    return file;
}

/// Reads the beginning. What is in memory is unpacked at once: its readers need it whole.
void input_file::look() {
    const binary::byte_source source = contents_->bytes();
    std::string first(std::min<std::uint64_t>(source.bytes, packed_beginning_bytes), '\0');
    source.read(0, std::as_writable_bytes(std::span(first)));
    packed_ = is_gzip(first);
    if (packed_ && contents_->in_memory()) {
        static_cast<void>(bytes());
        first = contents_->text().substr(0, beginning_bytes);
    } else if (packed_) {
        first = unpack_beginning(first, beginning_bytes);
    }
    first.resize(std::min(first.size(), beginning_bytes));
    beginning_ = std::move(first);
}

bool input_file::has_ending(std::string_view ending) const {
    const std::string name = small_letters(name_);
    return name.ends_with(ending) || name.ends_with(std::string(ending) + ".gz");
}

std::optional<std::string_view> input_file::in_memory() const {
    return contents_->in_memory() ? std::optional(contents_->text()) : std::nullopt;
}

binary::byte_source input_file::bytes() {
    if (packed_) {
        contents_ = std::make_unique<contents>(unpack(contents_->bytes()), name_);
        packed_ = false;
    }
    return contents_->bytes();
}

} // namespace krylith::files

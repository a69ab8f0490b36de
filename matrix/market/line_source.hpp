// The text of a Matrix Market file, by whole lines: from memory or a file, which may be gzipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <krylith/matrix/files/input_file.hpp>

struct gzFile_s;

namespace krylith::market {

/// The sizes by which a text is cut, and how far gzip data are followed. Tests and fuzzing take
/// less.
struct source_limits {
    std::size_t block_bytes = std::size_t{1} << 19; ///< read at a time
    std::size_t line_bytes = std::size_t{1} << 24;  ///< longest line
    /// The bytes that gzip data may always unpack to; beyond them a multiple of their own size is
    /// allowed. Matrices shrink to a third to a thirtieth, constant text to a thousandth.
    std::int64_t unpacked_bytes = std::int64_t{1} << 30;
    std::int64_t unpacked_ratio = 200;
};

/// The reason why the source can't be read on.
class unreadable : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Hands out the lines of a text, first one by one (the header), then in blocks of many. The first
/// bytes tell that a file is gzipped, not its name.
class line_source {
public:
    /// Throws input_error for a file that is missing, can't be opened, or isn't a regular one:
    /// folders, devices and pipes may have no end.
    [[nodiscard]] static line_source from_file(const std::filesystem::path& path,
                                               const source_limits& limits = {});

    /// An input of the loader, gzipped or not; it must live as long as this object.
    [[nodiscard]] static line_source from_input(const files::input_file& input);

    /// Borrows the text; `name` stands for the file in messages.
    [[nodiscard]] static line_source from_text(std::string_view text, std::string name,
                                               const source_limits& limits = {});

    /// The name of this source in messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Takes the next line, without its line feed; false at the end. The line is valid until the
    /// next call. Throws input_error for gzip data that are corrupt, truncated or a bomb, and for a
    /// line too long.
    [[nodiscard]] bool take_line(std::string_view& line);

    /// The number of lines taken by take_line().
    [[nodiscard]] std::int64_t lines_taken() const noexcept { return lines_taken_; }

    /// Takes about block_bytes of whole lines, line feeds included; the last line of the text may
    /// lack its own. Returns false at the end, and after a failure. The block lies in `storage` or
    /// in the text in memory. Throws `unreadable` where take_line would throw.
    [[nodiscard]] bool take_block(std::string& storage, std::string_view& block);

    /// The number of bytes to come: exact for plain files and memory, a guess for gzip (the ratio
    /// is unknown). It is good for reserving memory, not for checks.
    [[nodiscard]] std::int64_t expected_bytes_left() const;

    [[nodiscard]] std::int64_t block_bytes() const {
        return static_cast<std::int64_t>(limits_.block_bytes);
    }

    /// Starts again from the first line.
    void rewind();

    /// Whether it is a file whose bytes are the text, of which keep_to() can take a part.
    [[nodiscard]] bool is_plain_file() const;
    /// The bytes of the text before the next line, of a plain file.
    [[nodiscard]] std::int64_t position() const;
    /// The bytes of a plain file.
    [[nodiscard]] std::int64_t file_bytes() const noexcept { return file_bytes_; }
    /// Goes on at that byte of a plain file, where a line begins, and ends before another one.
    void keep_to(std::int64_t begin, std::int64_t end);
    [[nodiscard]] const source_limits& limits() const noexcept { return limits_; }

private:
    struct closer {
        void operator()(gzFile_s* file) const;
    };

    line_source(std::string name, const source_limits& limits)
        : name_(std::move(name)), limits_(limits) {}

    [[nodiscard]] bool read_more(std::string& text);
    void check_ratio() const;

    std::string name_;
    source_limits limits_;
    std::unique_ptr<gzFile_s, closer> file_; ///< null for a text in memory
    std::int64_t file_bytes_ = 0;            ///< as stored
    std::string_view text_;                  ///< the whole text in memory, for rewind
    std::string_view rest_;                  ///< the rest of it, not handed out yet
    std::string carried_;                    ///< read from a file; not handed out behind used_
    std::size_t used_ = 0;
    bool ended_ = false; ///< nothing more can be read from the file
    std::int64_t bytes_read_ = 0;
    std::int64_t end_ = std::numeric_limits<std::int64_t>::max(); ///< byte of the text
    std::int64_t lines_taken_ = 0;
};

} // namespace krylith::market

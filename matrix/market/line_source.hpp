// The text of a Matrix Market file, by whole lines: from memory, a file, a pipe, any of them
// gzipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct gzFile_s;

namespace krylith::market {

/// Hands out the lines of a text, first one by one (the header), then in blocks of many.
/// A file is read through a buffer of 16 MiB, which is also the longest line. That it is gzipped is
/// seen from its first bytes, not from its name.
class line_source {
public:
    /// Throws input_error for a file that is missing, a directory, or can't be opened.
    [[nodiscard]] static line_source from_file(const std::filesystem::path& path);

    /// Borrows the text; `name` stands for the file in messages.
    [[nodiscard]] static line_source from_text(std::string_view text, std::string name);

    /// What messages call this source.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// The next line, without its line feed; false at the end. Valid until the next call.
    /// This and take_block throw input_error for corrupt or truncated gzip data.
    [[nodiscard]] bool take_line(std::string_view& line);

    /// As many whole lines as are at hand, line feeds included; empty only at the end of the text,
    /// whose last line may lack its line feed. Valid until the next call.
    [[nodiscard]] std::string_view take_block();

    /// Lines handed out so far.
    [[nodiscard]] std::int64_t lines_taken() const noexcept { return lines_taken_; }

    /// How much text is still to come: exact for plain files and memory, a guess for gzip (the
    /// ratio is unknown), 0 for pipes. Good for reserving, never for believing.
    [[nodiscard]] std::int64_t expected_bytes_left() const;

    /// Starts again from the first line; false where that is impossible (a pipe).
    [[nodiscard]] bool rewind();

private:
    struct closer {
        void operator()(gzFile_s* file) const;
    };

    explicit line_source(std::string name) : name_(std::move(name)) {}

    [[nodiscard]] bool refill();
    [[nodiscard]] std::size_t read_into(char* place, std::size_t room);

    std::string name_;
    std::unique_ptr<gzFile_s, closer> file_; ///< null for a text in memory
    std::int64_t file_bytes_ = 0;            ///< as stored; 0 when unknown
    std::unique_ptr<char[]> buffer_;
    std::string_view text_;    ///< the whole text in memory, for rewind
    std::string_view ready_;   ///< whole lines not handed out yet
    std::string_view partial_; ///< the beginning of a line, at the end of the buffer
    std::int64_t bytes_read_ = 0;
    std::int64_t lines_taken_ = 0;
};

} // namespace krylith::market

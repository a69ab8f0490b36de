// Text and numbers to a file, gzipped if its name ends in .gz.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <krylith/matrix/files/output_target.hpp>
#include <krylith/matrix/market/gzip_encoder.hpp>

namespace krylith::market {

/// Collects text and writes it in blocks of a MiB. Call close() at the end: without it, as after an
/// exception, a file stays as it was.
class text_sink {
public:
    /// Throws input_error if the file can't be written.
    explicit text_sink(const std::filesystem::path& path);

    /// These throw input_error if the file can't be written (a full disk).
    void put(std::string_view text);
    void put(std::int64_t number) { put_chars(number); }
    template <class T>
    void put_real(T number) {
        put_chars(number, std::chars_format::general, std::numeric_limits<T>::max_digits10);
    }
    void close();

private:
    template <class... Arguments>
    void put_chars(Arguments... number_and_format) {
        constexpr std::size_t longest_number = 64;
        make_room(longest_number);
        char* const end = text_.data() + used_;
        used_ += static_cast<std::size_t>(
            std::to_chars(end, end + longest_number, number_and_format...).ptr - end);
    }
    void make_room(std::size_t bytes);
    void flush();

    output_target target_;
    std::optional<gzip_encoder> gzip_; ///< set if the name says so
    std::string text_;                 ///< its first used_ characters wait to be written
    std::size_t used_ = 0;
};

} // namespace krylith::market

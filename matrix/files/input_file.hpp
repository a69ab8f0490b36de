// An input as its readers see it: a regular file or standard input, gzipped or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <krylith/matrix/files/byte_source.hpp>

namespace krylith::files {

/// The name that stands for standard input.
inline constexpr std::string_view standard_input = "-";

/// Readers ask for lines (matrix/market/line_source.hpp), or for bytes in any order. gzip data,
/// known by their first bytes, are unpacked: by and by for lines, at once in memory for bytes.
class input_file {
public:
    /// Opens a regular file, or reads all of standard input into memory. Throws input_error for a
    /// file that is missing, isn't a regular one (folders, devices and pipes may have no end) or
    /// can't be read, and for an input that the memory can't hold.
    explicit input_file(std::string_view name);

    /// Takes the contents; `name` stands for the file in messages.
    [[nodiscard]] static input_file from_bytes(std::string contents, std::string name);

    input_file(input_file&&) noexcept;
    input_file& operator=(input_file&&) noexcept;
    ~input_file();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// The first bytes, unpacked: 4096, or fewer where there are no more.
    [[nodiscard]] std::string_view beginning() const noexcept { return beginning_; }

    /// Whether the name ends so (".npz"), in any case of letters, maybe with ".gz" behind it.
    [[nodiscard]] bool has_ending(std::string_view ending) const;

    /// Whether it is a file of gzip data of which bytes() has not been asked for.
    [[nodiscard]] bool is_packed() const noexcept { return packed_; }

    /// The contents where they are in memory, unpacked; a view as long as this object lives.
    [[nodiscard]] std::optional<std::string_view> in_memory() const;

    /// The path of a file that is not in memory.
    [[nodiscard]] const std::string& path() const noexcept { return name_; }

    /// The bytes in any order; gzip data are unpacked in memory by the first call. It lives as long
    /// as this object.
    [[nodiscard]] binary::byte_source bytes();

private:
    class contents;

    input_file();
    void look();

    std::string name_;
    std::string beginning_;
    std::unique_ptr<contents> contents_;
    bool packed_ = false;
};

} // namespace krylith::files

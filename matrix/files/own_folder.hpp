// A folder whose files this process trusts, and replaces: only its user can write there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace krylith {

/// Files that krylith reads as a whole are refused beyond this: models and tuning files are small.
inline constexpr std::size_t most_text_bytes = std::size_t{16} << 20;

/// The contents of a regular file that the user named; links are followed. Throws input_error
/// naming the file where it is another kind of file (a pipe, a device), is larger than
/// most_text_bytes, or can't be read.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path);

/// A folder held open, so that what was checked is what is used. The folder, and each file that is
/// read, is owned by the effective user and not writable by group or others, or it is not used; no
/// link in the folder is followed.
class own_folder {
public:
    /// Opens an existing folder; with `create` a missing one is made, mode 0700. Check usable().
    explicit own_folder(const std::filesystem::path& path, bool create = false);
    ~own_folder();
    own_folder(const own_folder&) = delete;
    own_folder& operator=(const own_folder&) = delete;

    [[nodiscard]] bool usable() const noexcept { return descriptor_ >= 0; }
    /// The reason why the folder, or the file asked for last, is not used; empty where it is not
    /// there.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    /// Returns a file's contents, or nothing.
    [[nodiscard]] std::optional<std::string> read(const std::string& name);
    /// Replaces the file as a whole, mode 0600; what lay there, a link too, is not written to.
    /// Returns the reason why it is not written, or an empty text.
    std::string replace(const std::string& name, std::string_view contents);

private:
    std::filesystem::path path_;
    std::string problem_;
    int descriptor_ = -1;
};

} // namespace krylith

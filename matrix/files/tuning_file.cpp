#include <krylith/matrix/files/tuning_file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <krylith/matrix/files/checksum.hpp>
#include <krylith/matrix/files/own_folder.hpp>

namespace krylith {

namespace {

/// The first line; the machine's name follows, since a hash of it names the file.
constexpr std::string_view heading = "krylith tuning 1\t";

std::string hex(std::uint64_t number) {
    std::array<char, 17> text{};
    (void)std::snprintf(text.data(), text.size(), "%016llx",
                        static_cast<unsigned long long>(number));
    return text.data();
}

std::string prefix_of(const tuning_key& key) {
    return hex(key.pattern) + '\t' + key.name + '\t';
}

/// The lines after the heading; none for a file that is missing, another machine's, or not to be
/// trusted.
std::vector<std::string> lines_of(own_folder& folder, const std::string& name,
                                  const std::string& machine) {
    std::vector<std::string> lines;
    const auto text = folder.read(name);
    if (!text) return lines;
    bool first = true;
    for (std::string_view rest = *text; !rest.empty(); first = false) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        if (first && line != std::string(heading) + machine) return lines;
        if (!first) lines.emplace_back(line);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return lines;
}

} // namespace

std::filesystem::path tuning_folder() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe)
        return std::string(value == nullptr ? "" : value);
    };
    if (const auto own = variable("KRYLITH_CACHE"); !own.empty()) return own;
    if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty())
        return std::filesystem::path(cache) / "krylith";
    if (const auto home = variable("HOME"); !home.empty())
        return std::filesystem::path(home) / ".cache" / "krylith";
    return {};
}

std::uint64_t pattern_hash(std::span<const std::int64_t> row_offsets,
                           std::span<const std::int32_t> column_indices) {
    const std::array<std::uint64_t, 2> both = {binary::checksum(std::as_bytes(row_offsets)),
                                               binary::checksum(std::as_bytes(column_indices))};
    return binary::checksum(std::as_bytes(std::span(both)));
}

std::filesystem::path tuning_file(const std::string& machine) {
    const std::filesystem::path folder = tuning_folder();
    if (folder.empty()) return {};
    return folder / (hex(binary::checksum(std::as_bytes(std::span(machine)))) + ".txt");
}

std::optional<std::string> recall_tuned(const tuning_key& key) {
    const std::string prefix = prefix_of(key);
    const std::filesystem::path path = tuning_file(key.machine);
    if (path.empty()) return std::nullopt;
    own_folder folder(path.parent_path());
    for (const std::string& line : lines_of(folder, path.filename().string(), key.machine))
        if (line.starts_with(prefix)) return line.substr(prefix.size());
    return std::nullopt;
}

std::string keep_tuned(const tuning_key& key, std::string_view text) {
    const std::filesystem::path path = tuning_file(key.machine);
    if (path.empty())
        return "none of KRYLITH_CACHE, XDG_CACHE_HOME and HOME names a folder to keep it in";
    const std::string prefix = prefix_of(key);
    std::string contents = std::string(heading) + key.machine + '\n';
    own_folder folder(path.parent_path(), true);
    const std::string name = path.filename().string();
    for (const std::string& line : lines_of(folder, name, key.machine))
        if (!line.starts_with(prefix)) contents += line + '\n';
    contents += prefix + std::string(text) + '\n';
    return folder.replace(name, contents);
}

std::string why_not_recalled(const std::string& machine) {
    const std::filesystem::path path = tuning_file(machine);
    if (path.empty()) return {};
    own_folder folder(path.parent_path());
    (void)folder.read(path.filename().string());
    return folder.problem();
}

} // namespace krylith

#include <krylith/spmv/tuning_file.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/binary/checksum.hpp>
#include <krylith/matrix/binary/replacement_file.hpp>

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

/// The lines after the heading; none of a file that is missing or another's.
std::vector<std::string> lines_of(const std::filesystem::path& path, const std::string& machine) {
    std::vector<std::string> lines;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return lines;
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line != std::string(heading) + machine) return lines;
    while (std::getline(file, line)) lines.push_back(line);
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
    const std::filesystem::path where = tuning_folder();
    if (where.empty()) return {};
    return where / (hex(binary::checksum(std::as_bytes(std::span(machine)))) + ".txt");
}

std::optional<std::string> recall_tuned(const tuning_key& key) {
    const std::string prefix = prefix_of(key);
    for (const std::string& line : lines_of(tuning_file(key.machine), key.machine))
        if (line.starts_with(prefix)) return line.substr(prefix.size());
    return std::nullopt;
}

std::string keep_tuned(const tuning_key& key, std::string_view text) {
    const std::filesystem::path path = tuning_file(key.machine);
    if (path.empty())
        return "none of KRYLITH_CACHE, XDG_CACHE_HOME and HOME names a folder to keep it in";
    const std::string prefix = prefix_of(key);
    std::string contents = std::string(heading) + key.machine + '\n';
    for (const std::string& line : lines_of(path, key.machine))
        if (!line.starts_with(prefix)) contents += line + '\n';
    contents += prefix + std::string(text) + '\n';
    std::error_code refused;
    std::filesystem::create_directories(path.parent_path(), refused);
    if (refused) return path.parent_path().string() + ": " + refused.message();
    try {
        binary::replacement_file file(path);
        file.write(std::as_bytes(std::span(contents)));
        file.commit();
    } catch (const input_error& e) {
        return e.what();
    }
    return "";
}

} // namespace krylith

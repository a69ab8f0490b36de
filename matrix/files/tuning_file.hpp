// Measurements kept for later processes: texts by machine, pattern and name. Each machine has a
// small text file in $KRYLITH_CACHE, else $XDG_CACHE_HOME/krylith, else ~/.cache/krylith.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace krylith {

struct tuning_key {
    std::string machine;       ///< machine_name()
    std::uint64_t pattern = 0; ///< pattern_hash(); 0: for every matrix on the machine
    std::string name;          ///< "rates", "operator fp64": what was tuned; no tab, no line end
};

/// The XXH3 hash of row offsets and column indices, computed as fast as memory by one thread.
[[nodiscard]] std::uint64_t pattern_hash(std::span<const std::int64_t> row_offsets,
                                         std::span<const std::int32_t> column_indices);

/// The folder of the files: $KRYLITH_CACHE, else $XDG_CACHE_HOME/krylith, else ~/.cache/krylith;
/// empty if none of these variables is set. It need not be there.
[[nodiscard]] std::filesystem::path tuning_folder();

/// The machine's file; empty if the environment names no folder. It need not be there.
[[nodiscard]] std::filesystem::path tuning_file(const std::string& machine);

/// The text kept. There is nothing where none was, or the file is missing, not one of these, or in
/// a folder that others could write to (own_folder.hpp).
[[nodiscard]] std::optional<std::string> recall_tuned(const tuning_key& key);

/// Keeps a text of one line, in place of an earlier one, in a folder made with mode 0700. Returns
/// the reason why it is not kept, or an empty text. The file is replaced as a whole: of two
/// processes that write at once, one may lose its line.
std::string keep_tuned(const tuning_key& key, std::string_view text);

/// The reason why the machine's file, or its folder, is not used though it is there; else empty.
[[nodiscard]] std::string why_not_recalled(const std::string& machine);

} // namespace krylith

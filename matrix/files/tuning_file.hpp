// What was measured, kept for later processes: texts by machine, pattern and name. A small text
// file a machine, in $KRYLITH_CACHE, else $XDG_CACHE_HOME/krylith, else ~/.cache/krylith.
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
    std::uint64_t pattern = 0; ///< pattern_hash(); 0: of the machine, for every matrix
    std::string name;          ///< "rates", "operator fp64": what was tuned; no tab, no line end
};

/// XXH3 of row offsets and column indices. As fast as memory, one thread.
[[nodiscard]] std::uint64_t pattern_hash(std::span<const std::int64_t> row_offsets,
                                         std::span<const std::int32_t> column_indices);

/// $KRYLITH_CACHE, else $XDG_CACHE_HOME/krylith, else ~/.cache/krylith; empty if none of these
/// variables is set. It need not be there.
[[nodiscard]] std::filesystem::path tuning_folder();

/// The machine's file; empty if the environment names no folder. It need not be there.
[[nodiscard]] std::filesystem::path tuning_file(const std::string& machine);

/// The text kept, or nothing: none was, or the file is missing, not one of these, or in a folder
/// that others could write to (own_folder.hpp).
[[nodiscard]] std::optional<std::string> recall_tuned(const tuning_key& key);

/// Keeps a text of one line, in place of an earlier one, in a folder made with mode 0700. Empty, or
/// why it is not kept. The file is replaced as a whole: of two processes that write at once, one
/// may lose its line.
std::string keep_tuned(const tuning_key& key, std::string_view text);

/// Why the machine's file, or its folder, is not used though it is there; else empty.
[[nodiscard]] std::string why_not_recalled(const std::string& machine);

} // namespace krylith

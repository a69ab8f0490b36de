// How much the host can still give: what a matrix must fit in before its size is believed.
#pragma once

#include <cstdint>
#include <string>

namespace krylith {

/// Bytes that this process can be expected to get: the least of the kernel's MemAvailable, the
/// limit of the control group and the limit on the address space. An estimate: others allocate
/// too. Linux overcommits, so that asking first is the only way to be told no instead of killed.
[[nodiscard]] std::int64_t available_memory();

/// A number of bytes for people: "512 bytes", "17.2 GB" (powers of 1000).
[[nodiscard]] std::string bytes_in_words(double bytes);

} // namespace krylith

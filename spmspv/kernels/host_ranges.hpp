// The division of loops over sparse vectors among the threads of a host device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <krylith/device/host/host_team.hpp>

namespace krylith::host {

/// The largest number of threads of a device that take part.
inline constexpr int most_threads = 256;

/// The number of entries to move or multiply that is worth a thread: 16384, or less while a test
/// mocks it.
[[nodiscard]] std::int64_t worth_a_thread() noexcept;

/// Lets a test divide small loops among several threads: as long as it lives, so many entries are
/// worth a thread (in the whole process; 1 or more).
class mocked_thread_worth {
public:
    explicit mocked_thread_worth(std::int64_t entries) noexcept;
    ~mocked_thread_worth();
    mocked_thread_worth(const mocked_thread_worth&) = delete;
    mocked_thread_worth& operator=(const mocked_thread_worth&) = delete;
};

/// The number of threads for so many entries.
[[nodiscard]] inline int team_for(int threads, std::int64_t entries) {
    return worthwhile_team(std::min(threads, most_threads), entries, worth_a_thread());
}

/// Calls body(part) for parts [0, parts), by one thread each unless the runtime grants fewer.
template <class Body>
void for_parts(int parts, const Body& body) {
    in_team(parts, [&](int thread, int team) {
        for (int part = thread; part < parts; part += team) body(part);
    });
}

/// The begin of part number `part` of `parts` equal ones of [0, n).
[[nodiscard]] inline std::int64_t part_begin(std::int64_t n, int part, int parts) {
    return n / parts * part + n % parts * part / parts;
}

/// Calls body(begin, end) for equal parts of [0, n).
template <class Body>
void for_ranges(int parts, std::int64_t n, const Body& body) {
    for_parts(parts,
              [&](int part) { body(part_begin(n, part, parts), part_begin(n, part + 1, parts)); });
}

/// Passes over parts twice: count(part) returns how many numbers a part has, and place(part,
/// before) is given how many the parts before it have. A single part is not counted. `counts`:
/// [parts].
template <class Count, class Place>
void count_and_place(int parts, std::int32_t* counts, const Count& count, const Place& place) {
    if (parts == 1) return place(0, std::int32_t{0});
    for_parts(parts, [&](int part) { counts[part] = count(part); });
    std::int32_t before = 0;
    for (int part = 0; part < parts; ++part) before += std::exchange(counts[part], before);
    for_parts(parts, [&](int part) { place(part, counts[part]); });
}

[[nodiscard]] inline bool has_bit(const std::uint32_t* bits, std::int64_t i) {
    return (bits[i / 32] >> (i % 32) & 1) != 0;
}

} // namespace krylith::host

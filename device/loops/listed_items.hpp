// Items of an array that a list names: one definition for host and CUDA.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// Places that a list names by numbers counted from `first`; all places where there is no list.
template <class Number>
struct listed_items {
    const Number* list = nullptr;
    Number first = 0;
    [[nodiscard]] KRYLITH_HD std::int64_t operator[](std::int64_t i) const {
        return list != nullptr ? list[i] - first : i;
    }
};

/// Copies listed items of `numbers` entries each: the task has an index for each entry.
template <class V, class Number>
struct gather_items {
    listed_items<Number> places;
    const V* from;
    V* to;
    std::int64_t numbers = 1;
    KRYLITH_HD void operator()(std::int64_t i) const {
        if (numbers == 1)
            to[i] = from[places[i]];
        else
            to[i] = from[places[i / numbers] * numbers + i % numbers];
    }
};

/// No place may stand twice.
template <class V>
struct scatter_items {
    const std::int32_t* places;
    const V* from;
    V* to;
    KRYLITH_HD void operator()(std::int64_t i) const { to[places[i]] = from[i]; }
};

} // namespace krylith

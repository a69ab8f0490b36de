// Failures as bytes, so that all drivers throw the same.
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <vector>

namespace krylith {

/// A driver's failure: its class and its words; none for null.
[[nodiscard]] std::vector<std::byte> failure_words(const std::exception_ptr& failure);

/// Returns the place of the failure that all drivers are to throw, among those of all: the first
/// one that is more than that another driver did not answer.
[[nodiscard]] std::size_t first_failure(std::span<const std::vector<std::byte>> words);

/// Returns the exception that failure_words() was made of, as one of the classes of
/// device/error.hpp.
[[nodiscard]] std::exception_ptr failure_of(std::span<const std::byte> words);

} // namespace krylith

// Errors that krylith throws. Misuse, bad input and device failures throw; numerical outcomes are
// values (solvers/result.hpp). Every message names the argument or file and line, the value found,
// and what is allowed. The exit status of the krylith command follows the type.
#pragma once

#include <stdexcept>
#include <string>

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// The base of everything that the library throws on purpose.
class error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A wrong argument, option or name (exit status 2).
class usage_error : public error {
public:
    using error::error;
};

/// A matrix, vector or file that can't be accepted (exit status 3).
class input_error : public error {
public:
    using error::error;
};

/// A device or its runtime failed (exit status 4).
class device_error : public error {
public:
    using error::error;
};

/// A device, or the host for it, has too little memory (exit status 4).
class memory_error : public device_error {
public:
    using device_error::device_error;
};

/// A peer did not answer in time (exit status 5).
class communication_error : public error {
public:
    using error::error;
};

} // namespace krylith

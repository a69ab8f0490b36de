// The message of a refusal.
#pragma once

#include <exception>
#include <string>

namespace krylith::test {

/// Returns the message of the Error that the call throws; what it did instead, otherwise.
template <class Error, class Call>
std::string message_of(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    } catch (const std::exception& other) {
        return std::string("another exception: ") + other.what();
    }
    return "no exception";
}

} // namespace krylith::test

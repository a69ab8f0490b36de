// Copies between devices end before the memory that they use is given back.
#pragma once

#include <exception>

#include <krylith/comm/communicator.hpp>

namespace krylith {

/// Waits for all devices where its scope is left by an exception. Memory is freed in the order of
/// its own device's work, which copies of another device need not follow until join() has ordered
/// them.
class settled_on_failure {
public:
    explicit settled_on_failure(const communicator& comm)
        : comm_(comm), exceptions_(std::uncaught_exceptions()) {}
    settled_on_failure(const settled_on_failure&) = delete;
    settled_on_failure& operator=(const settled_on_failure&) = delete;
    ~settled_on_failure() {
        if (std::uncaught_exceptions() != exceptions_) comm_.settle();
    }

private:
    communicator comm_;
    int exceptions_;
};

} // namespace krylith

// Objects of a process that its children do not inherit.
#pragma once

#include <mutex>

#include <unistd.h>

namespace krylith {

/// The T of this process, made at the first use and never destroyed. After fork() the child gets
/// another one: the threads of its parent's are lost to it.
template <class T>
T& of_process() {
    static std::mutex lock;
    static pid_t owner = 0;
    static T* object = nullptr;
    const std::lock_guard guard(lock);
    if (owner != getpid()) {
        owner = getpid();
        object = new T;
    }
    return *object;
}

} // namespace krylith

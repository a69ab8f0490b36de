// Libraries that few programs use, loaded when they are first asked for. Whoever never asks needs
// none of them to be installed.
//
//     const shared_library zlib = {.name = "zlib", .file = "libz.so.1", .other = "", .needs = "?"};
//
//     KRYLITH_LOADED(zlib, zlibVersion);
//
// From there on zlibVersion() is the function of the library, as its header declares it.
#pragma once

#include <atomic>
#include <string>

namespace krylith {

/// A library, which stays until the process ends. Constants; thread-safe.
struct shared_library {
    const char* name;  ///< as messages call it
    const char* file;  ///< its soname: dlopen() looks for it where it looks for what is linked
    const char* other; ///< a path to try where it isn't found; empty: none
    const char* needs; ///< what needs it, and what can be taken instead, for messages

    /// Whether it can be loaded. The first call loads it.
    [[nodiscard]] bool there() const;
    /// Throws usage_error that says why it can't be loaded, and what to do.
    void require() const;
    /// The address of a function. Throws as require() does, and where the library has no such
    /// function, as one of another version.
    [[nodiscard]] void* function(const char* function_name) const;
};

/// Makes libraries be looked for in this folder, too, where they aren't found otherwise: those that
/// are not loaded yet. Thread-safe.
void look_for_libraries_in(const std::string& folder);

/// A function of a library. The first call loads it, and throws as shared_library::function() does.
template <class Function>
class loaded_function;

template <class Result, class... Arguments>
class loaded_function<Result(Arguments...)> {
public:
    constexpr loaded_function(const shared_library& library, const char* name)
        : library_(&library), name_(name) {}

    Result operator()(Arguments... arguments) const {
        auto* known = address_.load(std::memory_order_acquire);
        if (known == nullptr) {
            known = reinterpret_cast<address>(library_->function(name_));
            address_.store(known, std::memory_order_release);
        }
        return known(arguments...);
    }

private:
    using address = Result (*)(Arguments...);

    const shared_library* library_;
    const char* name_;
    mutable std::atomic<address> address_ = nullptr;
};

} // namespace krylith

/// The file name of a library of this major version: KRYLITH_SONAME("libmetis", METIS_VER_MAJOR).
#define KRYLITH_SONAME(name, major) KRYLITH_SONAME_OF(name, major)
#define KRYLITH_SONAME_OF(name, major) name ".so." #major

/// Declares the function that a C header of the library declares, by the same name, to be loaded:
/// in a namespace of krylith the name then means this one. A macro that stands for a name is
/// replaced first.
#define KRYLITH_LOADED(library, name) KRYLITH_LOADED_NAME(library, name)
#define KRYLITH_LOADED_NAME(library, name)                                                         \
    [[maybe_unused]] inline const ::krylith::loaded_function<decltype(::name)> name(library, #name)

#include <krylith/device/libraries/shared_library.hpp>

#include <map>
#include <mutex>
#include <string>

#include <dlfcn.h>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

/// What became of loading a library.
struct loaded_library {
    void* handle = nullptr;
    std::string problem; ///< where there is no handle
};

loaded_library load(const shared_library& library) {
    loaded_library result;
    for (const char* const file : {library.file, library.other}) {
        if (*file == '\0') continue;
        result.handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (result.handle != nullptr) return result;
        if (result.problem.empty()) result.problem = dlerror(); // NOLINT(concurrency-mt-unsafe)
    }
    return result;
}

const loaded_library& find(const shared_library& library) {
    static std::mutex guard;
    static std::map<std::string, loaded_library> known; // by soname
    const std::scoped_lock lock(guard);
    const auto place = known.find(library.file);
    if (place != known.end()) return place->second;
    return known.emplace(library.file, load(library)).first->second;
}

} // namespace

bool shared_library::there() const {
    return find(*this).handle != nullptr;
}

void shared_library::require() const {
    const loaded_library& found = find(*this);
    if (found.handle == nullptr)
        throw usage_error(std::string(name) + " can't be loaded (" + found.problem + "): " + needs);
}

void* shared_library::function(const char* function_name) const {
    require();
    void* const address = dlsym(find(*this).handle, function_name);
    if (address == nullptr)
        throw usage_error(std::string(name) + ": the library " + file + " has no function " +
                          function_name +
                          ": its version is another than that which krylith was "
                          "built with; " +
                          needs);
    return address;
}

} // namespace krylith

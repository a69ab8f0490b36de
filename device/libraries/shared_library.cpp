#include <krylith/device/libraries/shared_library.hpp>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

/// What became of loading a library.
struct loaded_library {
    void* handle = nullptr;
    std::string problem; ///< where there is no handle
};

/// What is known of libraries, by one thread at a time.
struct known_libraries {
    std::mutex guard;
    std::map<std::string, loaded_library> by_soname;
    std::vector<std::string> folders;
};

known_libraries& known() {
    static known_libraries all;
    return all;
}

loaded_library load(const shared_library& library, const std::vector<std::string>& folders) {
    std::vector<std::string> files = {library.file, library.other};
    for (const std::string& folder : folders) files.push_back(folder + '/' + library.file);
    loaded_library result;
    for (const std::string& file : files) {
        if (file.empty()) continue;
        result.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (result.handle != nullptr) return result;
        if (result.problem.empty()) result.problem = dlerror(); // NOLINT(concurrency-mt-unsafe)
    }
    return result;
}

loaded_library find(const shared_library& library) {
    known_libraries& all = known();
    const std::scoped_lock lock(all.guard);
    const auto place = all.by_soname.find(library.file);
    if (place != all.by_soname.end()) return place->second;
    return all.by_soname.emplace(library.file, load(library, all.folders)).first->second;
}

} // namespace

void look_for_libraries_in(const std::string& folder) {
    known_libraries& all = known();
    const std::scoped_lock lock(all.guard);
    all.folders.push_back(folder);
    std::erase_if(all.by_soname, [](const auto& one) { return one.second.handle == nullptr; });
}

bool shared_library::there() const {
    return find(*this).handle != nullptr;
}

void shared_library::require() const {
    const loaded_library found = find(*this);
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

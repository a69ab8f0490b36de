// Links of processes that an MPI launcher has started. krylith links no MPI: it loads a library
// libkrylith_link_*, of which there is one for each binary interface of MPI, when it is asked for.
#include <krylith/comm/driver_link.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

namespace {

namespace fs = std::filesystem;

/// A library libkrylith_link_NAME, and the MPI library that it needs.
struct link_library {
    const char* name;
    const char* needs;
};

constexpr link_library standard{"mpi_abi", "libmpi_abi.so.1"};
constexpr link_library openmpi{"openmpi", "libmpi.so.40"};
constexpr link_library mpich{"mpich", "libmpi.so.12"};
constexpr link_library debian_mpich{"mpich_debian", "libmpich.so.12"};

/// Who has started this process, and the libraries to try in turn.
struct launch {
    std::string mark; ///< the variable that shows it
    int processes;    ///< 0: the launcher doesn't say
    std::vector<link_library> order;
};

const char* variable(const char* name) {
    return std::getenv(name); // NOLINT(concurrency-mt-unsafe)
}

std::optional<int> number(const char* name) {
    const char* const text = variable(name);
    int value = 0;
    if (text == nullptr || std::from_chars(text, text + std::strlen(text), value).ec != std::errc())
        return std::nullopt;
    return value;
}

std::optional<launch> find_launch() {
    const std::vector<link_library> as_openmpi{openmpi, standard, mpich, debian_mpich};
    const std::vector<link_library> as_mpich{mpich, debian_mpich, standard, openmpi};
    if (const auto size = number("OMPI_COMM_WORLD_SIZE"))
        return launch{"OMPI_COMM_WORLD_SIZE", *size, as_openmpi};
    if (const auto size = number("PMI_SIZE")) return launch{"PMI_SIZE", *size, as_mpich};
    // Slurm gives a script the variables of a step, too; but steps alone have the number of theirs.
    const char* const slurm = variable("SLURM_MPI_TYPE");
    const auto size = number("SLURM_STEP_NUM_TASKS");
    if (number("PMIX_RANK")) return launch{"PMIX_RANK", size.value_or(0), as_openmpi};
    if (number("PMI_RANK")) return launch{"PMI_RANK", size.value_or(0), as_mpich};
    if (size && number("SLURM_PROCID") && slurm != nullptr && std::string_view(slurm) != "none")
        return launch{"SLURM_STEP_NUM_TASKS", *size, as_mpich};
    return std::nullopt;
}

/// That of the MPI which the process has loaded.
std::optional<link_library> loaded_mpi() {
    for (const link_library& one : {standard, openmpi, mpich, debian_mpich})
        if (void* const handle = dlopen(one.needs, RTLD_LAZY | RTLD_NOLOAD)) {
            dlclose(handle);
            return one;
        }
    // It may be linked into the program, or have another name.
    if (dlsym(RTLD_DEFAULT, "MPI_Get_version") == nullptr) return std::nullopt;
    if (void* const function = dlsym(RTLD_DEFAULT, "MPI_Abi_get_version")) {
        int major = 0;
        int minor = 0;
        reinterpret_cast<int (*)(int*, int*)>(function)(&major, &minor);
        if (major > 0) return standard;
    }
    return dlsym(RTLD_DEFAULT, "ompi_mpi_comm_self") != nullptr ? openmpi : mpich;
}

std::vector<fs::path> split(const char* folders) {
    std::vector<fs::path> result;
    std::istringstream rest(folders == nullptr ? "" : folders);
    for (std::string folder; std::getline(rest, folder, ':');) result.emplace_back(folder);
    return result;
}

/// Loads an MPI library that lies beside the launcher, as in an environment of Python or of
/// modules, where the system's loader may not look.
bool load_beside_launcher(const std::string& soname) {
    for (const fs::path& folder : split(variable("PATH"))) {
        std::error_code ignored;
        if (!fs::exists(folder / "mpiexec", ignored)) continue;
        const fs::path file = folder.parent_path() / "lib" / soname;
        if (fs::exists(file, ignored) && dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr)
            return true;
    }
    return false;
}

/// Where libkrylith_link_* may lie: beside this library, or the program that it is linked into; or
/// where they were installed or built.
std::vector<fs::path> link_folders() {
    std::vector<fs::path> folders = split(KRYLITH_LINK_FOLDERS);
    Dl_info own{};
    if (dladdr(reinterpret_cast<void*>(&link_folders), &own) == 0) return folders;
    std::error_code failed;
    fs::path file = fs::canonical(own.dli_fname, failed);
    if (failed) file = fs::canonical("/proc/self/exe", failed);
    const fs::path folder = file.parent_path();
    const fs::path above = folder.parent_path();
    folders.insert(folders.begin(),
                   {folder, folder / "krylith", above / KRYLITH_LIBRARY_FOLDER / "krylith",
                    above / "lib" / "krylith", folder / "lib" / "krylith"});
    return folders;
}

/// Loads libraries, and keeps in words what can't be.
class loader {
public:
    /// Null where it can't be loaded.
    krylith_link_open_type load(const std::string& path) {
        void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            const std::string why = dlerror(); // NOLINT(concurrency-mt-unsafe)
            tried_ += "\n    " + why;
            // The words begin with the name of the library that is missing.
            if (why.starts_with("libmpi") && load_beside_launcher(why.substr(0, why.find(':'))))
                handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        }
        if (handle == nullptr) return nullptr;
        void* const function = dlsym(handle, "krylith_link_open");
        if (function == nullptr) tried_ += "\n    " + path + " has no krylith_link_open";
        return reinterpret_cast<krylith_link_open_type>(function);
    }

    krylith_link_open_type load(const link_library& library) {
        const std::string file = std::string("libkrylith_link_") + library.name + ".so";
        for (const fs::path& folder : link_folders()) {
            std::error_code ignored;
            if (fs::exists(folder / file, ignored)) return load((folder / file).string());
        }
        return load(file); // the system's folders
    }

    krylith_link_open_type load_first(const std::vector<link_library>& order) {
        if (const auto there = loaded_mpi()) return load(*there);
        for (const link_library& one : order)
            if (const auto open = load(one)) return open;
        return nullptr;
    }

    [[noreturn]] void refuse(const std::string& who) const {
        throw usage_error(
            who + ", but no library libkrylith_link_* can be loaded:" + tried_ +
            "\nInstall the MPI that the launcher belongs to, and krylith's libraries for it "
            "(KRYLITH_MPI=ON builds those of each MPI that is found); or set KRYLITH_LINK to the "
            "path of one, or to none for processes that run alone each");
    }

private:
    std::string tried_;
};

void check_timeout(double timeout_seconds) {
    if (!(timeout_seconds > 0))
        throw usage_error("a link between processes: timeout_seconds is " +
                          number_text(timeout_seconds) + ", allowed is more than 0");
}

std::shared_ptr<driver_link> link_by(krylith_link_open_type open,
                                     const std::optional<std::intptr_t>& communicator,
                                     double timeout_seconds) {
    krylith_link table{};
    if (const char* const why = open(&table, communicator ? &*communicator : nullptr))
        throw communication_error("the processes can't be linked: " + std::string(why));
    return std::make_shared<driver_link>(table, timeout_seconds);
}

} // namespace

std::shared_ptr<driver_link> link_launched_processes(double timeout_seconds) {
    check_timeout(timeout_seconds);
    const char* const chosen = variable("KRYLITH_LINK");
    if (chosen != nullptr && std::string_view(chosen) == "none") return nullptr;
    const std::optional<launch> by = find_launch();
    if ((!by || by->processes == 1) && chosen == nullptr) return nullptr;
    loader libraries;
    const auto open = chosen != nullptr ? libraries.load(chosen) : libraries.load_first(by->order);
    if (open == nullptr)
        libraries.refuse(chosen != nullptr ? "KRYLITH_LINK is " + std::string(chosen)
                                           : "a launcher has started this process (" + by->mark +
                                                 " is " + variable(by->mark.c_str()) + ")");
    auto link = link_by(open, std::nullopt, timeout_seconds);
    if (link->drivers() > 1) return link;
    if (by && by->processes > 1)
        throw usage_error(by->mark + " is " + std::to_string(by->processes) +
                          ", but the MPI library that is loaded knows of this process alone: it "
                          "isn't the launcher's. Set KRYLITH_LINK to the library libkrylith_link_* "
                          "of the launcher's MPI, or to none for processes that run alone each");
    return nullptr;
}

std::shared_ptr<driver_link> open_link(const std::string& library,
                                       std::optional<std::intptr_t> communicator,
                                       double timeout_seconds) {
    check_timeout(timeout_seconds);
    loader libraries;
    const auto by = find_launch();
    const auto open =
        library.empty() ? libraries.load_first(
                              by ? by->order : std::vector{openmpi, mpich, debian_mpich, standard})
                        : libraries.load(library);
    if (open == nullptr)
        libraries.refuse(library.empty() ? "processes are to be linked"
                                         : "asked for is " + library);
    return link_by(open, communicator, timeout_seconds);
}

} // namespace krylith

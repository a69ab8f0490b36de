#include <krylith/matrix/files/replacement_file.hpp>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/unfinished_files.hpp>
#include <krylith/matrix/files/write_all.hpp>

namespace krylith::binary {
namespace {

constexpr mode_t permissions = 0777;

/// Locks the file behind the descriptor without waiting; false if another process has it, or it has
/// lost its name meanwhile. A file system without locks counts as locked.
bool locked(int descriptor, const std::string& name) {
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return false;
    }
    struct stat held {};
    struct stat named {};
    return fstat(descriptor, &held) == 0 && lstat(name.c_str(), &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/// Removes the file that a killed process left; false if the path holds anything else.
bool remove_orphan(const std::string& name) {
    const int descriptor = open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return errno == ENOENT;
    }
    struct stat status {};
    const bool mine = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                      (status.st_uid == geteuid() || geteuid() == 0) && status.st_nlink == 1 &&
                      flock(descriptor, LOCK_EX | LOCK_NB) == 0 && locked(descriptor, name);
    const bool removed = mine && unlink(name.c_str()) == 0;
    close(descriptor);
    return removed;
}

/// Puts a rename on the disk, which happens with its folder. Some file systems can't be asked for
/// that.
void synchronise_folder(const std::filesystem::path& file) {
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        static_cast<void>(fsync(descriptor));
        close(descriptor);
    }
}

} // namespace

replacement_file::replacement_file(const std::filesystem::path& path) : path_(path) {
    std::error_code ignored;
    replaces_ = stat(path_.c_str(), &old_) == 0;
    if (replaces_ && !S_ISREG(old_.st_mode)) {
        throw input_error(path_.string() +
                          ": can't be written: it exists and is not a regular file");
    }
    // A symbolic link is followed to the file that it names, be that there or not: renaming would
    // replace the link.
    for (int depth = 0; std::filesystem::is_symlink(path_, ignored); ++depth) {
        constexpr int deepest = 40; // as in Linux
        if (depth == deepest) {
            refuse(std::generic_category().message(ELOOP));
        }
        path_ = path_.parent_path() / std::filesystem::read_symlink(path_);
    }
    if (replaces_ && access(path_.c_str(), W_OK) != 0) {
        refuse(std::generic_category().message(errno));
    }
    try {
        create();
    } catch (...) {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
        throw;
    }
}

void replacement_file::create() {
    constexpr int most = 100;
    // The contents of a file that others may not read aren't shown to them before it is complete.
    const mode_t mode = replaces_ ? 0600 : 0666;
    for (int attempt = 0; attempt < most;) {
        const std::string name =
            path_.string() + ".krylith-part" + (attempt == 0 ? "" : std::to_string(attempt));
        descriptor_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor_ >= 0 && locked(descriptor_, name)) {
            temporary_ = name;
            registered_ = std::make_unique<unfinished_file>(name);
            return;
        }
        if (descriptor_ >= 0) { // another process took it for a leftover and removed it
            ::close(std::exchange(descriptor_, -1));
        } else if (errno != EEXIST) {
            refuse(std::generic_category().message(errno));
        } else if (!remove_orphan(name)) {
            ++attempt;
        }
    }
    refuse("there are " + std::to_string(most) + " files named " + path_.string() +
           ".krylith-part... that can't be removed");
}

replacement_file::~replacement_file() {
    if (!temporary_.empty()) {
        unlink(temporary_.c_str());
    }
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void replacement_file::write(std::span<const std::byte> bytes) {
    if (const int failure = write_all(descriptor_, bytes); failure != 0) {
        refuse(std::generic_category().message(failure));
    }
}

void replacement_file::commit() {
    keep_owner_and_permissions();
    // The contents must be on the disk before the rename: else a machine that fails has the new
    // name with no contents. Some file systems (quotas, networks) tell only here, or on closing,
    // that there was no room.
    if ((fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) ||
        std::rename(temporary_.c_str(), path_.c_str()) != 0) {
        refuse(std::generic_category().message(errno));
    }
    temporary_.clear();
    registered_.reset();
    if (::close(std::exchange(descriptor_, -1)) != 0) {
        refuse(std::generic_category().message(errno));
    }
    synchronise_folder(path_);
}

void replacement_file::keep_owner_and_permissions() const {
    if (!replaces_) {
        return;
    }
    mode_t mode = old_.st_mode & permissions;
    struct stat made {};
    if (fstat(descriptor_, &made) != 0) {
        refuse(std::generic_category().message(errno));
    }
    const auto give = [&](uid_t user, gid_t group) {
        return fchown(descriptor_, user, group) == 0;
    };
    const bool same = made.st_uid == old_.st_uid && made.st_gid == old_.st_gid;
    if (!same && !give(old_.st_uid, old_.st_gid)) {
        const bool keeps_group =
            made.st_gid == old_.st_gid || give(static_cast<uid_t>(-1), old_.st_gid);
        const mode_t others = mode & 07;
        if (!keeps_group) { // another group has what all have, if the old one had that
            mode &= ~mode_t{070} | (others << 3U);
        }
    }
    if (fchmod(descriptor_, mode) != 0) {
        refuse(std::generic_category().message(errno));
    }
}

void replacement_file::refuse(const std::string& what) const {
    throw input_error(path_.string() + ": can't be written: " + what);
}

} // namespace krylith::binary

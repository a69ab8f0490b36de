#include <krylith/matrix/files/own_folder.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/write_all.hpp>

namespace krylith {

namespace {

std::string last_error() {
    return std::generic_category().message(errno);
}

/// The reason why others may have written it; empty where only the effective user can.
std::string distrust(const struct stat& status) {
    if (status.st_uid != geteuid())
        return "it belongs to user " + std::to_string(status.st_uid) + ", must belong to user " +
               std::to_string(geteuid());
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "its group or others may write it: chmod go-w";
    return {};
}

/// The contents of an open file, or why there are none in `problem`.
std::optional<std::string> contents(int descriptor, std::string& problem) {
    std::string text;
    for (;;) {
        constexpr std::size_t step = 1 << 16;
        const std::size_t had = text.size();
        text.resize(had + step);
        const ssize_t count = ::read(descriptor, text.data() + had, step);
        if (count < 0 && errno == EINTR) {
            text.resize(had);
            continue;
        }
        text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count < 0) {
            problem = last_error();
            return std::nullopt;
        }
        if (count == 0) return text;
        if (text.size() > most_text_bytes) {
            problem = "it has more than " + std::to_string(most_text_bytes) + " bytes";
            return std::nullopt;
        }
    }
}

/// The contents of what is opened, if it is a regular file to which `check` has no objection.
template <class Check>
std::optional<std::string> regular_contents(int descriptor, const Check& check,
                                            std::string& problem) {
    struct stat status {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        problem = last_error();
    else if (!S_ISREG(status.st_mode))
        problem = "it is not a regular file";
    else
        problem = check(status);
    auto text = problem.empty() ? contents(descriptor, problem) : std::nullopt;
    if (descriptor >= 0) ::close(descriptor);
    return text;
}

} // namespace

std::string read_text_file(const std::filesystem::path& path) {
    std::string problem;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    auto text = regular_contents(
        descriptor, [](const struct stat&) { return std::string(); }, problem);
    if (!text) throw input_error(path.string() + ": can't be read: " + problem);
    return std::move(*text);
}

own_folder::own_folder(const std::filesystem::path& path, bool create) : path_(path) {
    if (create) {
        std::error_code refused;
        if (path.has_parent_path())
            std::filesystem::create_directories(path.parent_path(), refused);
        if (refused || (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)) {
            problem_ = path.string() + ": " + (refused ? refused.message() : last_error());
            return;
        }
    }
    // A link is as good as the file that it names where the user has made it.
    struct stat link {};
    if (lstat(path.c_str(), &link) != 0) {
        if (errno != ENOENT) problem_ = path.string() + ": " + last_error();
        return;
    }
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status {};
    std::string why;
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        why = last_error();
    else if (link.st_uid != geteuid())
        why = distrust(link);
    else
        why = distrust(status);
    if (why.empty()) {
        descriptor_ = descriptor;
        return;
    }
    if (descriptor >= 0) ::close(descriptor);
    problem_ = path.string() + " is not used: " + why;
}

own_folder::~own_folder() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<std::string> own_folder::read(const std::string& name) {
    if (!usable()) return std::nullopt;
    problem_.clear();
    const int descriptor =
        openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 && errno == ENOENT) return std::nullopt;
    std::string why;
    auto text = regular_contents(descriptor, distrust, why);
    if (!text) problem_ = (path_ / name).string() + " is not used: " + why;
    return text;
}

std::string own_folder::replace(const std::string& name, std::string_view contents) {
    if (!usable()) return problem_.empty() ? path_.string() + " is not there" : problem_;
    const auto refusal = [&] { return (path_ / name).string() + ": " + last_error(); };
    std::string temporary;
    int descriptor = -1;
    for (int attempt = 0; descriptor < 0; ++attempt) {
        temporary = name + ".part" + std::to_string(getpid()) + "_" + std::to_string(attempt);
        descriptor = openat(descriptor_, temporary.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (descriptor < 0 && errno != EEXIST) return refusal();
    }
    std::string problem;
    const auto bytes = std::as_bytes(std::span(contents));
    if (const int failure = binary::write_all(descriptor, bytes); failure != 0) {
        errno = failure;
        problem = refusal();
    }
    if (::close(descriptor) != 0 && problem.empty()) problem = refusal();
    if (problem.empty() && renameat(descriptor_, temporary.c_str(), descriptor_, name.c_str()) != 0)
        problem = refusal();
    if (!problem.empty()) unlinkat(descriptor_, temporary.c_str(), 0);
    return problem;
}

} // namespace krylith

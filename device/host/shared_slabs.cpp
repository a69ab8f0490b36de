#include <krylith/device/host/shared_slabs.hpp>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/device/host/forks.hpp>
#include <krylith/device/host/host_memory.hpp>
#include <krylith/device/memory/memory_room.hpp>

namespace krylith {

namespace {

/// How another process finds the file: the descriptor of its owner, and what it must then have
/// opened, since numbers of processes are used again and containers have their own.
struct place_in_file {
    pid_t process;
    int file;
    std::uint64_t device;
    std::uint64_t inode;
    std::uint64_t offset;
};
static_assert(sizeof(place_in_file) <= sizeof(exported_piece::name));

place_in_file place_of(int file, std::uint64_t offset) {
    struct stat about {};
    (void)fstat(file, &about);
    return {getpid(), file, about.st_dev, about.st_ino, offset};
}

[[noreturn]] void refuse(const std::string& what) {
    throw device_error(what + ": " + std::strerror(errno));
}

std::byte* map_file(int file, std::uint64_t offset, std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                              file, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) return nullptr;
    ask_for_huge_pages(memory, bytes);
    return static_cast<std::byte*>(memory);
}

} // namespace

shared_slabs::~shared_slabs() {
    for (const auto& [begin, of] : slabs_) unmap_host_memory(begin, of.bytes);
    if (file_ >= 0) (void)close(file_);
}

void shared_slabs::begin() {
    const std::scoped_lock lock(guard_);
    if (std::exchange(in_use_, true)) refuse_second();
    if (file_ >= 0) return;
    forks_ = forks();
    file_ = memfd_create("krylith", MFD_CLOEXEC);
    if (file_ < 0) refuse("no memory can be shared with other processes: memfd_create");
}

void shared_slabs::end() noexcept {
    const std::scoped_lock lock(guard_);
    in_use_ = false;
    withdrawn_.clear();
    being_told_.clear();
    for (auto& [begin, of] : slabs_) of.exported = false;
}

void* shared_slabs::allocate(std::size_t bytes) {
    check_not_forked(forks_, "memory of a host device");
    // The system promises memory that it has not got: asking first fails here, not at the use.
    if (bytes > find_memory_room().bytes) return nullptr;
    const std::scoped_lock lock(guard_);
    if (ftruncate(file_, static_cast<off_t>(end_ + bytes)) != 0) return nullptr;
    std::byte* const begin = map_file(file_, end_, bytes);
    if (begin == nullptr) return nullptr;
    try {
        slabs_.emplace(begin, slab{end_, bytes, false});
    } catch (...) {
        unmap_host_memory(begin, bytes);
        throw;
    }
    end_ += bytes;
    return begin;
}

void shared_slabs::release(void* memory) noexcept {
    if (forks() != forks_) return; // it is the parent's, which may have held the lock
    const std::scoped_lock lock(guard_);
    const auto found = slabs_.find(static_cast<std::byte*>(memory));
    const slab of = found->second;
    slabs_.erase(found);
    unmap_host_memory(memory, of.bytes);
    // Others may still map the range: the system gets its pages back all the same.
    (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(of.offset), static_cast<off_t>(of.bytes));
    try {
        if (of.exported) withdrawn_.push_back(of.offset + 1);
    } catch (...) { // others keep the addresses, which cost nothing
    }
}

/// Returns the slab that memory lies in, or the end.
std::map<std::byte*, shared_slabs::slab>::iterator shared_slabs::find(const void* memory) {
    auto* const at = static_cast<std::byte*>(const_cast<void*>(memory));
    const auto next = slabs_.upper_bound(at);
    if (next == slabs_.begin()) return slabs_.end();
    const auto found = std::prev(next);
    return static_cast<std::size_t>(at - found->first) < found->second.bytes ? found : slabs_.end();
}

bool shared_slabs::has(const void* memory) {
    const std::scoped_lock lock(guard_);
    return find(memory) != slabs_.end();
}

exported_piece shared_slabs::piece_of(const void* memory) {
    const std::scoped_lock lock(guard_);
    const auto found = find(memory);
    if (found == slabs_.end()) return {};
    slab& of = found->second;
    of.exported = true;
    exported_piece piece{of.offset + 1, found->first, of.bytes, {}};
    const place_in_file place = place_of(file_, of.offset);
    std::memcpy(piece.name.data(), &place, sizeof place);
    return piece;
}

std::vector<std::uint64_t> shared_slabs::withdrawn() {
    const std::scoped_lock lock(guard_);
    being_told_.insert(being_told_.end(), withdrawn_.begin(), withdrawn_.end());
    withdrawn_.clear();
    return being_told_;
}

void shared_slabs::told() noexcept {
    const std::scoped_lock lock(guard_);
    being_told_.clear();
}

std::byte* shared_slabs::map(const exported_piece& piece) {
    place_in_file place{};
    std::memcpy(&place, piece.name.data(), sizeof place);
    const std::string who = "memory of process " + std::to_string(place.process);
    const std::string path =
        "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) refuse(who + " can't be opened");
    const place_in_file opened = place_of(file, place.offset);
    const bool same = opened.device == place.device && opened.inode == place.inode;
    std::byte* const mapped = same ? map_file(file, place.offset, piece.bytes) : nullptr;
    const int why = errno;
    (void)close(file);
    if (!same) throw device_error(who + " is that of another machine or container");
    errno = why;
    if (mapped == nullptr) refuse(who + " can't be mapped");
    return mapped;
}

void shared_slabs::unmap(std::byte* mapped, const exported_piece& piece) noexcept {
    unmap_host_memory(mapped, piece.bytes);
}

} // namespace krylith

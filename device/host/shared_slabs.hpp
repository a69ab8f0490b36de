// Memory of a host device that other processes map: ranges of one file that has no name and no
// place on a disk (memfd), and which ends with the last process that has it.
#pragma once

#include <map>
#include <mutex>

#include <krylith/device/exported/memory_exporter.hpp>

namespace krylith {

/// Hands out slabs for an arena; thread-safe. A range of the file is used once, so that who still
/// maps one that was released sees nothing of later ones. A child of fork() shares the file, and
/// neither allocates from it nor gives ranges of it back.
class shared_slabs final : public memory_exporter {
public:
    shared_slabs() = default;
    shared_slabs(const shared_slabs&) = delete;
    shared_slabs& operator=(const shared_slabs&) = delete;
    ~shared_slabs() override;

    /// Returns whole pages of zeros that are not touched yet; null where there is no memory.
    [[nodiscard]] void* allocate(std::size_t bytes);
    void release(void* slab) noexcept;
    [[nodiscard]] bool has(const void* memory);

    [[nodiscard]] bool begun() const noexcept { return file_ >= 0; }
    void begin() override;
    void end() noexcept override;
    [[nodiscard]] exported_piece piece_of(const void* memory) override;
    [[nodiscard]] std::vector<std::uint64_t> withdrawn() override;
    void told() noexcept override;
    [[nodiscard]] std::byte* map(const exported_piece& piece) override;
    void unmap(std::byte* mapped, const exported_piece& piece) noexcept override;

private:
    struct slab {
        std::uint64_t offset; ///< in the file; the id is 1 more
        std::size_t bytes;
        bool exported;
    };
    [[nodiscard]] std::map<std::byte*, slab>::iterator find(const void* memory);

    std::mutex guard_;
    int file_ = -1;
    bool in_use_ = false; ///< by a communicator
    int forks_ = 0;       ///< where the file was made
    std::uint64_t end_ = 0;
    std::map<std::byte*, slab> slabs_;
    std::vector<std::uint64_t> withdrawn_;
    std::vector<std::uint64_t> being_told_;
};

} // namespace krylith

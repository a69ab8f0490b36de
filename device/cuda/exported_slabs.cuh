// Memory of a CUDA device that other processes map (CUDA IPC), and words of the host.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include <krylith/device/exported/memory_exporter.hpp>

namespace krylith::cuda {

/// Hands out slabs of cudaMalloc, which CUDA can name to other processes. They should not be freed
/// while others map them, so that what is given back waits until they have been told, but for the
/// end of the device: processes destroy their communicators together.
class exported_slabs final : public memory_exporter {
public:
    explicit exported_slabs(int ordinal) : ordinal_(ordinal) {}
    exported_slabs(const exported_slabs&) = delete;
    exported_slabs& operator=(const exported_slabs&) = delete;
    ~exported_slabs() override;

    /// Returns null where there is no memory.
    [[nodiscard]] void* allocate(std::size_t bytes);
    /// Frees a slab, at once unless others map it.
    void free(void* memory) noexcept;

    void begin() override;
    void end() noexcept override;
    /// Also of posted memory (posted_memory.hpp), which others' hosts alone may use.
    [[nodiscard]] exported_piece piece_of(const void* memory) override;
    [[nodiscard]] std::vector<std::uint64_t> withdrawn() override;
    void told() noexcept override;
    [[nodiscard]] std::byte* map(const exported_piece& piece) override;
    void unmap(std::byte* mapped, const exported_piece& piece) noexcept override;

private:
    void free_all(std::vector<exported_piece>& list) const noexcept;

    int ordinal_;
    std::mutex guard_;
    bool in_use_ = false; ///< by a communicator
    std::map<std::byte*, exported_piece>
        slabs_; ///< by where they begin; id 0: others don't know it
    std::uint64_t last_id_ = 0;
    std::vector<exported_piece> withdrawn_;
    std::vector<exported_piece> being_told_;
    std::vector<exported_piece> told_; ///< others unmap them now
};

} // namespace krylith::cuda

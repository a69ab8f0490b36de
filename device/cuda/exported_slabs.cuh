// Memory of a CUDA device that other processes map (CUDA IPC), and words of the host.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include <krylith/device/exported/memory_exporter.hpp>

namespace krylith::cuda {

/// The device's memory is that of cudaMalloc, which CUDA can name to other processes. It must not
/// be freed while others map it, so that what is given back waits until they have been told.
class exported_slabs final : public memory_exporter {
public:
    explicit exported_slabs(int ordinal) : ordinal_(ordinal) {}
    exported_slabs(const exported_slabs&) = delete;
    exported_slabs& operator=(const exported_slabs&) = delete;
    ~exported_slabs() override;

    /// Frees memory of the device, at once unless others map it.
    void free(void* memory) noexcept;

    void begin() override {}
    /// Also of posted memory (posted_memory.hpp), which others' hosts alone may use.
    [[nodiscard]] exported_piece piece_of(const void* memory) override;
    [[nodiscard]] std::vector<std::uint64_t> withdrawn() override;
    void told() noexcept override;
    [[nodiscard]] std::byte* map(const exported_piece& piece) override;
    void unmap(std::byte* mapped, std::uint64_t bytes) noexcept override;

private:
    struct given_back {
        std::uint64_t id;
        void* memory;
    };

    int ordinal_;
    std::mutex guard_;
    std::map<void*, exported_piece> exported_; ///< by where they begin
    std::uint64_t last_id_ = 0;
    std::vector<given_back> withdrawn_;
    std::vector<given_back> being_told_;
    std::vector<given_back> told_; ///< others unmap them now
};

} // namespace krylith::cuda

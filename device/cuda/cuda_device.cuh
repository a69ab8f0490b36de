// CUDA devices: streams, events, memory, and loops as graphs with a conditional node.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include <cuda_runtime.h>

#include <krylith/device/cuda/cuda_check.cuh>
#include <krylith/device/cuda/exported_slabs.cuh>
#include <krylith/device/device.hpp>
#include <krylith/device/memory/slab_arena.hpp>
#include <krylith/device/staging/staging_wire.hpp>

namespace krylith::cuda {

class group_streams;
class host_sum;
class pinned_ring;

class cuda_event final : public event {
public:
    cuda_event(int ordinal, cudaStream_t stream);
    cuda_event(const cuda_event&) = delete;
    cuda_event& operator=(const cuda_event&) = delete;
    ~cuda_event() override;
    void wait() override;
    [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

private:
    int ordinal_;
    cudaEvent_t event_ = nullptr;
};

class cuda_device final : public device {
public:
    /// `streams` are those of the group.
    cuda_device(int ordinal, cudaStream_t borrowed, std::shared_ptr<group_streams> streams);
    ~cuda_device() override;

    [[nodiscard]] backend kind() const noexcept override { return backend::cuda; }
    [[nodiscard]] int ordinal() const noexcept override { return ordinal_; }
    [[nodiscard]] std::string description() const override;
    [[nodiscard]] std::size_t free_bytes() const override;
    [[nodiscard]] std::string lies_elsewhere(const void* pointer) const override;
    [[nodiscard]] void* allocate(std::size_t bytes, const std::string& item) override;
    void deallocate(void* pointer, std::size_t bytes, const std::string& item) noexcept override;
    void upload(void* to, const void* from, std::size_t bytes) override;
    void download(void* to, const void* from, std::size_t bytes) override;
    void copy(void* to, const void* from, std::size_t bytes) override;
    void zero(void* to, std::size_t bytes) override;
    [[nodiscard]] std::shared_ptr<event> record() override;
    void wait(event& happened) override;
    void set_mark(std::uint64_t* mark, std::uint64_t count) override;
    void await_mark(const mark_wait& awaited) override;
    void synchronize() override;
    [[nodiscard]] bool idle() override;
    [[nodiscard]] std::unique_ptr<loop_graph> make_loop() override;
    [[nodiscard]] std::unique_ptr<side_queue> make_side_queue() override;

    [[nodiscard]] memory_exporter& exporter() noexcept override { return exported_; }

    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
    [[nodiscard]] int multiprocessors() const noexcept { return multiprocessors_; }
    /// The streams of the group.
    [[nodiscard]] const std::shared_ptr<group_streams>& streams() const noexcept {
        return streams_;
    }
    /// The number of blocks of a kernel that are resident at once on a multiprocessor. The runtime
    /// is asked once for each kernel: its answer takes about as long as a launch. The device is
    /// current.
    [[nodiscard]] int resident_blocks(const void* kernel, int threads, std::size_t shared_bytes);
    /// staging_for() of cuda_runtime.hpp.
    [[nodiscard]] staging_wire* staging_for(const void* host, std::size_t bytes);
    void begin_upload(void* to, const void* from, std::size_t bytes);
    void begin_download(void* to, const void* from, std::size_t bytes);
    /// A sum that kernels of this device's stream add up for the host; it is made at the first use.
    [[nodiscard]] host_sum& sum_for_host();

private:
    [[nodiscard]] bool recording() const;
    void give_back(void* pointer) noexcept;

    int ordinal_;
    cudaStream_t stream_ = nullptr;
    bool owns_stream_ = false;
    int multiprocessors_ = 0;
    std::shared_ptr<group_streams> streams_;
    exported_slabs exported_;
    std::unique_ptr<slab_arena> arena_; ///< null where each allocation is one of the runtime
    std::mutex ring_lock_;
    std::unique_ptr<pinned_ring> ring_; ///< made at the first use
    bool no_ring_ = false;              ///< whether pinned memory was refused
    mutable std::once_flag named_;
    mutable std::string name_;
    std::mutex resident_lock_;
    std::map<std::tuple<const void*, int, std::size_t>, int> resident_;
    std::unique_ptr<host_sum> sum_;
};

/// The device's stream and grid limit for launches, with the device made current.
class launch_scope {
public:
    explicit launch_scope(device& device)
        : device_(static_cast<cuda_device&>(device)), current_(device_.ordinal()) {}
    [[nodiscard]] cudaStream_t stream() const noexcept { return device_.stream(); }
    /// The number of blocks of `kernel` to launch: those that are resident at once, at most 8 a
    /// multiprocessor and at most what `work` (blocks' worth) needs; at least one. Kernels loop
    /// over the rest of their work: a second wave of blocks would leave multiprocessors idle.
    template <class Kernel>
    [[nodiscard]] unsigned blocks(Kernel kernel, int threads, std::int64_t work,
                                  std::size_t shared_bytes = 0) const {
        const int resident =
            device_.resident_blocks(reinterpret_cast<const void*>(kernel), threads, shared_bytes);
        const std::int64_t most =
            std::int64_t{resident < 8 ? resident : 8} * device_.multiprocessors();
        return static_cast<unsigned>(work < 1 ? 1 : work < most ? work : most);
    }
    void check_launch() const { KRYLITH_CUDA_CHECK(cudaGetLastError()); }

private:
    cuda_device& device_;
    current_device current_;
};

} // namespace krylith::cuda

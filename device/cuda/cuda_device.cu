#include <krylith/device/cuda/cuda_device.cuh>

#include <algorithm>
#include <utility>
#include <vector>

#include <krylith/device/cuda/atomics.cuh>
#include <krylith/device/cuda/cuda_memory.cuh>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/cuda/global_clock.cuh>
#include <krylith/device/cuda/group_streams.cuh>
#include <krylith/device/cuda/host_sum.cuh>
#include <krylith/device/cuda/pinned_ring.cuh>
#include <krylith/device/cuda/stream_write.cuh>

namespace krylith::cuda {

namespace {

/// Events that nobody uses, for as long as the process lives: making one and destroying it takes as
/// long as recording it and waiting for it, which a solve on several devices does a dozen times.
class idle_events {
public:
    /// Returns an event of the device, which is current.
    [[nodiscard]] cudaEvent_t take(int ordinal) {
        {
            const std::scoped_lock lock(guard_);
            auto& idle = idle_[ordinal];
            if (!idle.empty()) {
                cudaEvent_t const event = idle.back();
                idle.pop_back();
                return event;
            }
        }
        cudaEvent_t event = nullptr;
        KRYLITH_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        return event;
    }
    void put(int ordinal, cudaEvent_t event) noexcept {
        const std::scoped_lock lock(guard_);
        try {
            idle_[ordinal].push_back(event);
        } catch (...) {
            cudaEventDestroy(event);
        }
    }
    [[nodiscard]] static idle_events& all() {
        static auto* const events = new idle_events; // CUDA may end before statics do
        return *events;
    }

private:
    std::mutex guard_;
    std::map<int, std::vector<cudaEvent_t>> idle_; // by ordinal
};

} // namespace

cuda_event::cuda_event(int ordinal, cudaStream_t stream) : ordinal_(ordinal) {
    const current_device current(ordinal);
    event_ = idle_events::all().take(ordinal);
    const cudaError_t status = cudaEventRecord(event_, stream);
    if (status != cudaSuccess) cudaEventDestroy(event_);
    KRYLITH_CUDA_CHECK(status);
}

cuda_event::~cuda_event() {
    idle_events::all().put(ordinal_, event_);
}

void cuda_event::wait() {
    KRYLITH_CUDA_CHECK(cudaEventSynchronize(event_));
}

cuda_device::cuda_device(int ordinal, cudaStream_t borrowed, std::shared_ptr<group_streams> streams)
    : ordinal_(ordinal),
      stream_(borrowed),
      owns_stream_(borrowed == nullptr),
      streams_(std::move(streams)),
      exported_(ordinal),
      arena_(make_arena(ordinal, streams_, exported_)) {
    const current_device current(ordinal);
    KRYLITH_CUDA_CHECK(
        cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, ordinal));
    if (owns_stream_)
        KRYLITH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    streams_->add(ordinal_, stream_);
}

cuda_device::~cuda_device() {
    const current_device current(ordinal_);
    (void)streams_->wait(); // kernels of peers use this device's slabs, too
    cudaStreamSynchronize(stream_);
    ring_.reset();
    sum_.reset();
    arena_.reset();
    streams_->remove(stream_);
    if (owns_stream_) cudaStreamDestroy(stream_);
}

host_sum& cuda_device::sum_for_host() {
    if (sum_ == nullptr) sum_ = std::make_unique<host_sum>(ordinal_, stream_);
    return *sum_;
}

int cuda_device::resident_blocks(const void* kernel, int threads, std::size_t shared_bytes) {
    const std::lock_guard lock(resident_lock_);
    const std::tuple key(kernel, threads, shared_bytes);
    const auto known = resident_.find(key);
    if (known != resident_.end()) return known->second;
    int blocks = 0;
    KRYLITH_CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes));
    resident_.emplace(key, blocks);
    return blocks;
}

std::string cuda_device::description() const {
    // The runtime takes its time to answer, and the rates of machines are kept by such names.
    std::call_once(named_, [&] {
        cudaDeviceProp properties{};
        name_ = "cuda:" + std::to_string(ordinal_);
        if (cudaGetDeviceProperties(&properties, ordinal_) == cudaSuccess)
            name_ = std::string(properties.name) + " (" + name_ + ")";
    });
    return name_;
}

std::string cuda_device::lies_elsewhere(const void* pointer) const {
    const current_device current(ordinal_);
    cudaPointerAttributes attributes{};
    KRYLITH_CUDA_CHECK(cudaPointerGetAttributes(&attributes, pointer));
    switch (attributes.type) {
    case cudaMemoryTypeDevice:
        return attributes.device == ordinal_
                   ? ""
                   : "memory of cuda:" + std::to_string(attributes.device);
    case cudaMemoryTypeUnregistered: return host_memory_name;
    default: return attributes.devicePointer == pointer ? "" : host_memory_name; // managed, pinned
    }
}

void cuda_device::copy(void* to, const void* from, std::size_t bytes) {
    const current_device current(ordinal_);
    KRYLITH_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_));
}

void cuda_device::zero(void* to, std::size_t bytes) {
    const current_device current(ordinal_);
    KRYLITH_CUDA_CHECK(cudaMemsetAsync(to, 0, bytes, stream_));
}

std::shared_ptr<event> cuda_device::record() {
    return std::make_shared<cuda_event>(ordinal_, stream_);
}

void cuda_device::wait(event& happened) {
    const current_device current(ordinal_);
    KRYLITH_CUDA_CHECK(cudaStreamWaitEvent(stream_, static_cast<cuda_event&>(happened).get(), 0));
}

namespace {

__global__ void store_mark(std::uint64_t* mark, std::uint64_t count) {
    store_release(mark, count);
}

struct awaited_mark {
    const std::uint64_t* mark;
    std::uint64_t least;
    const std::uint32_t* abandoned;
    std::uint32_t* overdue;
    std::uint32_t rank;
    std::uint64_t timeout_ns;
};

__global__ void wait_for_mark(awaited_mark awaited) {
    const std::uint64_t start = nanoseconds();
    while (load_acquire(awaited.mark) < awaited.least && load_relaxed(awaited.abandoned) == 0) {
        if (nanoseconds() - start > awaited.timeout_ns) {
            *static_cast<volatile std::uint32_t*>(awaited.overdue) = 1 + awaited.rank;
            return;
        }
        __nanosleep(100);
    }
}

} // namespace

void cuda_device::set_mark(std::uint64_t* mark, std::uint64_t count) {
    const current_device current(ordinal_);
    store_mark<<<1, 1, 0, stream_>>>(mark, count);
    KRYLITH_CUDA_CHECK(cudaGetLastError());
}

void cuda_device::await_mark(const mark_wait& awaited) {
    const current_device current(ordinal_);
    constexpr double most = 1e9; // seconds, so that 64 bits hold the nanoseconds
    wait_for_mark<<<1, 1, 0, stream_>>>(
        {awaited.mark, awaited.least, awaited.words.abandoned.get(), awaited.words.overdue.get(),
         static_cast<std::uint32_t>(awaited.rank),
         static_cast<std::uint64_t>(std::min(awaited.timeout_seconds, most) * 1e9)});
    KRYLITH_CUDA_CHECK(cudaGetLastError());
}

void cuda_device::synchronize() {
    serve_while_busy();
    const current_device current(ordinal_);
    KRYLITH_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

bool cuda_device::idle() {
    const current_device current(ordinal_);
    const bool busy = cudaStreamQuery(stream_) == cudaErrorNotReady;
    if (busy) cudaGetLastError(); // not a failure: the next launch's check should not see it
    return !busy;
}

namespace {

/// The graph { WHILE(handle) { what was captured } }.
class conditional_loop final : public loop_graph {
public:
    conditional_loop(int ordinal, cudaStream_t stream) : ordinal_(ordinal), stream_(stream) {
        const current_device current(ordinal_);
        KRYLITH_CUDA_CHECK(cudaGraphCreate(&graph_, 0));
        try {
            KRYLITH_CUDA_CHECK(
                cudaGraphConditionalHandleCreate(&handle_, graph_, 1, cudaGraphCondAssignDefault));
            cudaGraphNodeParams parameters{};
            parameters.type = cudaGraphNodeTypeConditional;
            parameters.conditional.handle = handle_;
            parameters.conditional.type = cudaGraphCondTypeWhile;
            parameters.conditional.size = 1;
            cudaGraphNode_t node = nullptr;
            KRYLITH_CUDA_CHECK(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &parameters));
            body_ = parameters.conditional.phGraph_out[0];
        } catch (...) {
            cudaGraphDestroy(graph_);
            throw;
        }
    }

    ~conditional_loop() override {
        const current_device current(ordinal_);
        if (recording_) {
            cudaGraph_t abandoned = nullptr;
            cudaStreamEndCapture(stream_, &abandoned);
            cudaGetLastError();
        }
        if (executable_ != nullptr) {
            cudaStreamSynchronize(stream_);
            cudaGraphExecDestroy(executable_);
        }
        cudaGraphDestroy(graph_);
    }

    void begin_recording() override {
        const current_device current(ordinal_);
        KRYLITH_CUDA_CHECK(cudaStreamBeginCaptureToGraph(stream_, body_, nullptr, nullptr, 0,
                                                         cudaStreamCaptureModeRelaxed));
        recording_ = true;
    }

    void end_recording() override {
        const current_device current(ordinal_);
        recording_ = false;
        cudaGraph_t captured = nullptr;
        KRYLITH_CUDA_CHECK(cudaStreamEndCapture(stream_, &captured));
        KRYLITH_CUDA_CHECK(cudaGraphInstantiate(&executable_, graph_, 0));
        // The first launch would upload the graph otherwise, late on one device and not on another.
        KRYLITH_CUDA_CHECK(cudaGraphUpload(executable_, stream_));
    }

    void launch() override {
        const current_device current(ordinal_);
        KRYLITH_CUDA_CHECK(cudaGraphLaunch(executable_, stream_));
    }

    [[nodiscard]] std::uint64_t condition() const noexcept override { return handle_; }

private:
    int ordinal_;
    cudaStream_t stream_;
    cudaGraph_t graph_ = nullptr;
    cudaGraph_t body_ = nullptr; // belongs to graph_
    cudaGraphConditionalHandle handle_ = 0;
    cudaGraphExec_t executable_ = nullptr;
    bool recording_ = false;
};

class side_stream final : public side_queue {
public:
    side_stream(int ordinal, std::shared_ptr<group_streams> streams)
        : ordinal_(ordinal), streams_(std::move(streams)) {
        const current_device current(ordinal_);
        KRYLITH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        streams_->add(ordinal_, stream_);
    }
    side_stream(const side_stream&) = delete;
    side_stream& operator=(const side_stream&) = delete;
    ~side_stream() override {
        const current_device current(ordinal_);
        cudaStreamSynchronize(stream_);
        streams_->remove(stream_);
        cudaStreamDestroy(stream_);
    }

    void wait(event& happened) override {
        const current_device current(ordinal_);
        KRYLITH_CUDA_CHECK(
            cudaStreamWaitEvent(stream_, static_cast<cuda_event&>(happened).get(), 0));
    }

    void copy(const void* from, device& to, void* target, std::size_t bytes) override {
        const current_device current(ordinal_);
        KRYLITH_CUDA_CHECK(
            cudaMemcpyPeerAsync(target, to.ordinal(), from, ordinal_, bytes, stream_));
    }

    void bring(const void* from, void* target, std::size_t bytes) override {
        const current_device current(ordinal_);
        KRYLITH_CUDA_CHECK(cudaMemcpyAsync(target, from, bytes, cudaMemcpyHostToDevice, stream_));
    }

    void write(std::uint64_t* target, std::uint64_t word) override {
        const current_device current(ordinal_);
        write_in_order(stream_, target, word);
    }

    [[nodiscard]] std::shared_ptr<event> record() override {
        return std::make_shared<cuda_event>(ordinal_, stream_);
    }

private:
    int ordinal_;
    std::shared_ptr<group_streams> streams_;
    cudaStream_t stream_ = nullptr;
};

} // namespace

std::unique_ptr<loop_graph> cuda_device::make_loop() {
    return std::make_unique<conditional_loop>(ordinal_, stream_);
}

std::unique_ptr<side_queue> cuda_device::make_side_queue() {
    return std::make_unique<side_stream>(ordinal_, streams_);
}

int device_count() noexcept {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return count;
}

int driver_version() noexcept {
    int version = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess) cudaGetLastError();
    return version;
}

std::vector<std::shared_ptr<device>> make_devices(std::span<const int> ordinals,
                                                  std::span<void* const> streams) {
    const auto together = std::make_shared<group_streams>();
    std::vector<std::shared_ptr<device>> made;
    for (std::size_t i = 0; i < ordinals.size(); ++i)
        made.push_back(std::make_shared<cuda_device>(
            ordinals[i], static_cast<cudaStream_t>(streams.empty() ? nullptr : streams[i]),
            together));
    return made;
}

bool enable_peer_access(int from, int to) {
    if (from == to) return true;
    int possible = 0;
    KRYLITH_CUDA_CHECK(cudaDeviceCanAccessPeer(&possible, from, to));
    if (possible == 0) return false;
    const current_device current(from);
    const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        return true;
    }
    KRYLITH_CUDA_CHECK(status);
    return true;
}

void copy_across(device& from, const void* source, int to, void* target, std::size_t bytes) {
    auto& sender = static_cast<cuda_device&>(from);
    const current_device current(sender.ordinal());
    KRYLITH_CUDA_CHECK(
        cudaMemcpyPeerAsync(target, to, source, sender.ordinal(), bytes, sender.stream()));
}

void* stream_of(device& device) {
    return static_cast<cuda_device&>(device).stream();
}

int multiprocessors(const device& device) {
    return static_cast<const cuda_device&>(device).multiprocessors();
}

int compute_capability(const device& device) {
    int major = 0;
    int minor = 0;
    const int ordinal = device.ordinal();
    KRYLITH_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal));
    KRYLITH_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal));
    return 10 * major + minor;
}

std::string pci_bus_id(const device& device) {
    char text[32] = {};
    KRYLITH_CUDA_CHECK(cudaDeviceGetPCIBusId(text, sizeof text, device.ordinal()));
    std::string id = text;
    for (char& c : id) // CUDA writes hexadecimal digits in capitals, the system doesn't
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    return id;
}

int ordinal_of(const char* pci_bus_id) noexcept {
    int ordinal = -1;
    if (cudaDeviceGetByPCIBusId(&ordinal, pci_bus_id) == cudaSuccess) return ordinal;
    cudaGetLastError();
    return -1;
}

void pin_host_memory(const device& device, void* pointer, std::size_t bytes) {
    const current_device current(device.ordinal());
    KRYLITH_CUDA_CHECK(cudaHostRegister(pointer, bytes, cudaHostRegisterPortable));
}

void unpin_host_memory(const device& device, void* pointer) noexcept {
    const current_device current(device.ordinal());
    if (cudaHostUnregister(pointer) != cudaSuccess) cudaGetLastError();
}

} // namespace krylith::cuda

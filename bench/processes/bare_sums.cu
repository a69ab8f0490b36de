// The kernels of time_bare_sums(), and the host that carries what they store.
#include <krylith/bench/processes/bare_exchange.hpp>

#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include <krylith/device/cuda/cuda_check.cuh>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/kernel/peer_memory.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/device/words/host_block.hpp>

namespace krylith::bench {

namespace {

__global__ void bare_sum(std::uint64_t* epochs, stamped_value* outbox, const stamped_value* inbox,
                         const std::uint32_t* stop, double* sum) {
    const std::uint64_t epoch = *epochs + 1;
    cuda::store_stamped(outbox, {*sum, epoch});
    stamped_value there{};
    do there = cuda::load_stamped(inbox);
    while (there.epoch != epoch && cuda::load_relaxed(stop) == 0);
    *sum = 0.5 * (*sum + there.value);
    *epochs = epoch;
}

stamped_value read(const stamped_value& from) {
    auto& place = const_cast<stamped_value&>(from);
    const std::uint64_t epoch = std::atomic_ref(place.epoch).load(std::memory_order_acquire);
    return {std::atomic_ref(place.value).load(std::memory_order_relaxed), epoch};
}

void write(stamped_value& to, stamped_value what) {
    std::atomic_ref(to.value).store(what.value, std::memory_order_relaxed);
    std::atomic_ref(to.epoch).store(what.epoch, std::memory_order_release);
}

/// Carries the batches of a graph, from `first` on.
void carry(const process_pair& pair, stamped_value& outbox, stamped_value& inbox,
           std::uint64_t first, int batches) {
    stamped_value sent{};
    stamped_value received{};
    for (int k = 0; k < batches; ++k) {
        void* in = pair.link.receive(pair.other(), pair.tag, &received, sizeof received);
        pair.await([&] {
            sent = read(outbox);
            return sent.epoch == first + static_cast<std::uint64_t>(k);
        });
        void* out = pair.link.post(pair.other(), pair.tag, &sent, sizeof sent);
        pair.await([&] { return pair.link.done(in); });
        write(inbox, received);
        pair.await([&] { return pair.link.done(out); });
    }
}

/// Ends the kernels of a graph, also where an exception leaves them waiting.
struct kernel_chain {
    cudaStream_t stream;
    std::uint32_t* stop;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t launched = nullptr;

    kernel_chain(cudaStream_t on, std::uint32_t* word) : stream(on), stop(word) {}
    kernel_chain(const kernel_chain&) = delete;
    kernel_chain& operator=(const kernel_chain&) = delete;
    ~kernel_chain() {
        std::atomic_ref(*stop).store(1);
        cudaStreamSynchronize(stream);
        cudaGraphExecDestroy(launched);
        cudaGraphDestroy(graph);
    }
};

} // namespace

spread time_bare_sums(const process_pair& pair, int kernels, int times) {
    auto& own = static_cast<cuda::cuda_device&>(*pair.own);
    const cuda::current_device current(own.ordinal());
    const auto block = make_host_block(pair.own, 3 * 128);
    auto* const outbox = reinterpret_cast<stamped_value*>(block.get());
    auto* const inbox = reinterpret_cast<stamped_value*>(block.get() + 128);
    const std::uint64_t no_epoch = 0;
    const double one = 1;
    const buffer<std::uint64_t> epochs(pair.own, std::span(&no_epoch, 1), "epochs");
    const buffer<double> sum(pair.own, std::span(&one, 1), "sum");
    cudaStream_t stream = own.stream();
    kernel_chain chain(stream, reinterpret_cast<std::uint32_t*>(block.get() + 256));
    KRYLITH_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int k = 0; k < kernels; ++k)
        bare_sum<<<1, 1, 0, stream>>>(epochs.data(), outbox, inbox, chain.stop, sum.data());
    KRYLITH_CUDA_CHECK(cudaStreamEndCapture(stream, &chain.graph));
    KRYLITH_CUDA_CHECK(cudaGraphInstantiate(&chain.launched, chain.graph, 0));
    std::vector<double> samples;
    (void)pair.link.all_gather({});
    for (int turn = -1; turn < times; ++turn) { // the first warms up
        const auto first = 1 + static_cast<std::uint64_t>((turn + 1) * kernels);
        KRYLITH_CUDA_CHECK(cudaGraphLaunch(chain.launched, stream));
        // What the launch takes is left out: the first batch has been exchanged.
        carry(pair, *outbox, *inbox, first, 1);
        const auto begin = std::chrono::steady_clock::now();
        carry(pair, *outbox, *inbox, first + 1, kernels - 1);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        if (turn >= 0) samples.push_back(taken.count() / (kernels - 1));
        KRYLITH_CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    return spread_of(samples);
}

} // namespace krylith::bench

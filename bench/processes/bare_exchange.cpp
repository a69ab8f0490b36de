#include <krylith/bench/processes/bare_exchange.hpp>

#include <chrono>
#include <vector>

#include <krylith/device/words/host_block.hpp>

namespace krylith::bench {

namespace {

using clock = std::chrono::steady_clock;

} // namespace

spread time_exchanges(const process_pair& pair, std::size_t bytes, int times) {
    const auto given = make_host_block(pair.own, bytes);
    const auto received = make_host_block(pair.own, bytes);
    std::vector<double> samples;
    (void)pair.link.all_gather({});
    for (int k = 0; k < times; ++k) {
        const auto begin = clock::now();
        void* in = pair.link.receive(pair.other(), pair.tag, received.get(), bytes);
        void* out = pair.link.post(pair.other(), pair.tag, given.get(), bytes);
        pair.await([&] {
            if (in != nullptr && pair.link.done(in)) in = nullptr;
            if (out != nullptr && pair.link.done(out)) out = nullptr;
            return in == nullptr && out == nullptr;
        });
        samples.push_back(std::chrono::duration<double>(clock::now() - begin).count());
    }
    return spread_of(samples);
}

} // namespace krylith::bench

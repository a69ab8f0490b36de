#include <krylith/comm/driver_link.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

namespace {

/// What all drivers give first: how many bytes there are, and the bytes if they are few.
struct frame {
    std::uint64_t size;
    std::array<std::byte, 48> bytes;
};

constexpr std::int32_t all_to_all_tag = 0;

} // namespace

driver_link::driver_link(const krylith_link& table, double timeout_seconds)
    : table_(table), timeout_seconds_(timeout_seconds) {
    std::string refused;
    if (table.version != KRYLITH_LINK_VERSION || table.size < sizeof(krylith_link))
        refused = "a link between drivers has version " + std::to_string(table.version) +
                  " of the table (comm/link.h) and " + std::to_string(table.size) +
                  " bytes, and this krylith takes version " + std::to_string(KRYLITH_LINK_VERSION) +
                  " with " + std::to_string(sizeof(krylith_link)) + " bytes or more";
    else if (!(timeout_seconds > 0))
        refused = "a link between drivers: timeout_seconds is " + number_text(timeout_seconds) +
                  ", allowed is more than 0";
    if (refused.empty()) return;
    if (table.size >= sizeof(krylith_link)) table.destroy(table.context);
    throw usage_error(refused);
}

driver_link::~driver_link() {
    table_.abort(table_.context);
    table_.destroy(table_.context);
}

void driver_link::check(int status, double seconds) {
    if (status == KRYLITH_LINK_DONE) return;
    failed_ = status;
    if (const std::string why = table_.error(table_.context); !why.empty())
        throw communication_error(why);
    switch (status) {
    case KRYLITH_LINK_TIMED_OUT:
        throw communication_error("a driver of the communicator did not answer within " +
                                  number_text(seconds) + " s");
    case KRYLITH_LINK_ENDED:
        throw communication_error("another driver of the communicator has ended");
    default: throw communication_error("the link between drivers of the communicator has failed");
    }
}

std::vector<std::vector<std::byte>> driver_link::all_gather(const std::vector<std::byte>& given,
                                                            double most_seconds) {
    const double seconds = std::min(timeout_seconds_, most_seconds);
    check(failed_, seconds);
    const auto n = static_cast<std::size_t>(drivers());
    const auto gather = [&](const void* own, void* all, std::size_t bytes) {
        check(table_.allgather(table_.context, own, all, bytes, seconds), seconds);
    };
    frame own{given.size(), {}};
    std::ranges::copy_n(given.begin(),
                        static_cast<std::ptrdiff_t>(std::min(given.size(), own.bytes.size())),
                        own.bytes.begin());
    std::vector<frame> frames(n);
    gather(&own, frames.data(), sizeof own);
    const std::uint64_t most = std::ranges::max(frames, {}, &frame::size).size;
    const bool few = most <= own.bytes.size();
    std::vector<std::byte> all;
    if (!few) {
        std::vector<std::byte> padded(given);
        padded.resize(most);
        all.resize(n * most);
        gather(padded.data(), all.data(), most);
    }
    std::vector<std::vector<std::byte>> result;
    for (std::size_t k = 0; k < n; ++k) {
        const std::byte* const first = few ? frames[k].bytes.data() : all.data() + k * most;
        result.emplace_back(first, first + frames[k].size);
    }
    return result;
}

std::vector<std::vector<std::byte>>
driver_link::all_to_all(std::vector<std::vector<std::byte>> given,
                        std::vector<std::vector<std::byte>> received) {
    check(failed_, timeout_seconds_);
    try {
        exchange(given, received);
    } catch (...) {
        // Messages that are under way use this memory until the table is destroyed.
        for (auto* const all : {&given, &received})
            for (auto& bytes : *all) left_over_.push_back(std::move(bytes));
        throw;
    }
    return received;
}

void* driver_link::post(int driver, int tag, const void* bytes, std::size_t size) {
    check(failed_, timeout_seconds_);
    void* const request = table_.post(table_.context, driver, tag, bytes, size);
    if (request == nullptr) check(KRYLITH_LINK_FAILED, timeout_seconds_);
    return request;
}

void* driver_link::receive(int driver, int tag, void* place, std::size_t size) {
    check(failed_, timeout_seconds_);
    void* const request = table_.receive(table_.context, driver, tag, place, size);
    if (request == nullptr) check(KRYLITH_LINK_FAILED, timeout_seconds_);
    return request;
}

int driver_link::take_tags(int count) {
    constexpr int most = 32767;
    if (next_tag_ > most - count)
        throw usage_error("a link between drivers has served too many communicators: make another");
    return std::exchange(next_tag_, next_tag_ + count);
}

bool driver_link::done(void* request) {
    check(failed_, timeout_seconds_);
    const int status = table_.test(table_.context, request);
    if (status == KRYLITH_LINK_PENDING) return false;
    check(status, timeout_seconds_);
    return true;
}

void driver_link::exchange(std::vector<std::vector<std::byte>>& given,
                           std::vector<std::vector<std::byte>>& received) {
    std::vector<void*> requests;
    for (int k = 0; k < drivers(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        std::vector<std::byte>& place = received[at];
        if (k == driver())
            place = std::move(given[at]);
        else if (!place.empty())
            requests.push_back(receive(k, all_to_all_tag, place.data(), place.size()));
    }
    for (int k = 0; k < drivers(); ++k) {
        const auto& bytes = given[static_cast<std::size_t>(k)];
        if (k != driver() && !bytes.empty())
            requests.push_back(post(k, all_to_all_tag, bytes.data(), bytes.size()));
    }
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    while (!requests.empty()) {
        std::erase_if(requests, [&](void* request) { return done(request); });
        if (std::chrono::duration<double>(clock::now() - begin).count() > timeout_seconds_)
            check(KRYLITH_LINK_TIMED_OUT, timeout_seconds_);
        std::this_thread::yield();
    }
}

} // namespace krylith

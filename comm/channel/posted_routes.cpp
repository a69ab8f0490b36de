#include <krylith/comm/channel/posted_routes.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <krylith/device/words/host_block.hpp>

namespace krylith {

namespace {

constexpr std::size_t cache_line = 128;

} // namespace

posted_routes::posted_routes(const communicator& comm)
    : comm_(comm), carrier_(*comm.carrier()), place_(carrier_.add(*this)) {}

posted_routes::~posted_routes() {
    carrier_.remove(place_); // what may come goes nowhere
    try {                    // kernels write into outboxes, which are freed now
        comm_.synchronize();
    } catch (...) { // NOLINT(bugprone-empty-catch): a failure is reported elsewhere
    }
}

void posted_routes::add(outgoing route) {
    senders_.push_back({std::move(route)});
}

void posted_routes::add(incoming route) {
    receiver& added = receivers_.emplace_back(receiver{route});
    const auto& device = comm_.handle(route.to);
    if (device->kind() == backend::cuda && !route.on_host)
        added.copy = make_host_block(device, cache_line + route.bytes);
}

void posted_routes::collect() {
    for (sender& one : senders_) {
        const outgoing& route = one.route;
        const std::uint64_t left = std::atomic_ref(*route.word).load(std::memory_order_acquire);
        if (left == one.sent) continue;
        const std::uint64_t word = due(route, left);
        if (word == one.sent) continue;
        one.sent = word;
        carried_message message{};
        message.place = place_;
        message.word = word;
        message.size = route.bytes;
        message.kind = route.kind;
        message.from = route.from;
        message.to = route.to;
        carrier_.post(comm_.driver_of(route.to), message, route.data.get(), route.data);
    }
}

std::uint64_t posted_routes::due(const outgoing& route, std::uint64_t word) const {
    if (!route.credit_for) return word;
    for (const receiver& one : receivers_)
        if (one.route.from == route.to && one.route.to == route.from &&
            one.route.kind == *route.credit_for)
            return std::min(word, one.arrived);
    return word;
}

posted_routes::receiver* posted_routes::find(const carried_message& message) {
    const auto found = std::ranges::find_if(receivers_, [&](const receiver& one) {
        return one.route.from == message.from && one.route.to == message.to &&
               one.route.kind == message.kind && one.route.bytes == message.size;
    });
    return found == receivers_.end() ? nullptr : &*found;
}

std::shared_ptr<std::byte> posted_routes::receive_buffer(const carried_message& message) {
    receiver* const to = find(message);
    if (to == nullptr || to->copy == nullptr) return nullptr;
    if (to->copied) to->copied->wait(); // soon: nothing keeps copies beside the stream waiting
    return {to->copy, to->copy.get() + cache_line};
}

void posted_routes::arrive(const carried_message& message, const std::byte* bytes) {
    receiver* const to = find(message);
    if (to == nullptr) return;
    const incoming& route = to->route;
    to->arrived = message.word;
    const std::atomic_ref word(*route.word);
    if (route.on_host) {
        if (static_cast<std::int32_t>(message.word - word.load()) > 0) word.store(message.word);
        return;
    }
    if (to->copy == nullptr) {
        if (route.bytes != 0) std::memcpy(route.data, bytes, route.bytes);
        word.store(message.word, std::memory_order_release);
        return;
    }
    std::byte* const copy = to->copy.get();
    if (bytes != copy + cache_line && route.bytes != 0) {
        if (to->copied) to->copied->wait();
        std::memcpy(copy + cache_line, bytes, route.bytes);
    }
    std::memcpy(copy, &message.word, sizeof message.word);
    device& on = comm_[route.to];
    if (route.bytes != 0) carrier_.bring(on, copy + cache_line, route.data, route.bytes);
    carrier_.bring(on, copy, route.word, sizeof message.word);
    if (route.bytes != 0) to->copied = carrier_.brought(on);
}

void posted_routes::begin_anew() {
    for (sender& one : senders_) {
        std::atomic_ref(*one.route.word).store(0);
        one.sent = 0;
    }
    for (receiver& one : receivers_) one.arrived = 0;
}

} // namespace krylith

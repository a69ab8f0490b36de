#include <krylith/comm/channel/posted_routes.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <krylith/device/words/host_block.hpp>

namespace krylith {

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
    if (is_on_gpu(route) && route.bytes != 0)
        added.copy = make_host_block(comm_.handle(route.to), route.bytes);
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
    return to->copy;
}

void posted_routes::arrive(const carried_message& message, const std::byte* bytes) {
    receiver* const to = find(message);
    if (to == nullptr) return;
    const incoming& route = to->route;
    to->arrived = message.word;
    if (is_on_gpu(route)) {
        arrive_on_gpu(*to, message.word, bytes);
        return;
    }
    if (route.bytes != 0) std::memcpy(route.data, bytes, route.bytes);
    const std::atomic_ref word(*route.word);
    if (!route.keeps_newest || static_cast<std::int32_t>(message.word - word.load()) > 0)
        word.store(message.word, std::memory_order_release);
}

void posted_routes::arrive_on_gpu(receiver& to, std::uint64_t word, const std::byte* bytes) {
    const incoming& route = to.route;
    device& on = comm_[route.to];
    if (route.bytes != 0) {
        if (bytes != to.copy.get()) {
            if (to.copied) to.copied->wait();
            std::memcpy(to.copy.get(), bytes, route.bytes);
        }
        carrier_.bring(on, to.copy.get(), route.data, route.bytes);
    }
    carrier_.write(on, route.word, word);
    if (route.bytes != 0) to.copied = carrier_.brought(on);
}

void posted_routes::begin_anew() {
    for (sender& one : senders_) {
        std::atomic_ref(*one.route.word).store(0);
        one.sent = 0;
    }
    for (receiver& one : receivers_) one.arrived = 0;
}

} // namespace krylith

#include <krylith/comm/posted/message_carrier.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

constexpr int message_tag = 1;
constexpr int bytes_tag = 2;

/// Receives that wait for messages of a driver. More of them are kept by the link.
constexpr std::size_t expected = 8;

/// Says that a rank of the sender has failed.
constexpr std::uint64_t failure_place_number = 0;

} // namespace

/// What comes from one driver.
struct message_carrier::mailbox {
    struct arriving {
        carried_message message;
        void* request;
        std::shared_ptr<std::byte> memory;
    };
    std::array<carried_message, expected> messages{};
    std::array<void*, expected> requests{};
    std::size_t next = 0;
    std::deque<arriving> bytes{}; ///< in the order in which they are sent
};

message_carrier::message_carrier(std::shared_ptr<driver_link> link, device_group devices)
    : link_(std::move(link)), devices_(std::move(devices)), owner_(std::this_thread::get_id()) {
    for (int k = 0; k < drivers(); ++k) {
        auto& box = mailboxes_.emplace_back(k == driver() ? nullptr : std::make_shared<mailbox>());
        if (box == nullptr) continue;
        link_->keep(box);
        for (std::size_t i = 0; i < expected; ++i)
            box->requests[i] =
                link_->receive(k, message_tag, &box->messages[i], sizeof(carried_message));
    }
    for (int k = 0; k < devices_.size(); ++k) devices_[k].while_waiting([this] { carry(); });
}

message_carrier::~message_carrier() {
    for (int k = 0; k < devices_.size(); ++k) devices_[k].while_waiting(nullptr);
    try { // what is under way uses its memory until the link ends
        for (sent& one : sent_) {
            link_->keep(std::move(one.message));
            link_->keep(std::move(one.bytes));
        }
    } catch (...) { // NOLINT(bugprone-empty-catch): there is no memory, and the process ends
    }
}

std::uint64_t message_carrier::add(client& one) {
    clients_.emplace(++last_place_, &one);
    return last_place_;
}

void message_carrier::post(int driver, carried_message message, const std::byte* bytes,
                           std::shared_ptr<const void> owner) {
    message.restart = restarts_;
    const bool few = message.size <= message.bytes.size();
    if (few && message.size != 0) std::memcpy(message.bytes.data(), bytes, message.size);
    auto place = std::find_if(sent_.begin() + static_cast<std::ptrdiff_t>(under_way_), sent_.end(),
                              [&](const sent& one) { return one.driver == driver; });
    if (place == sent_.end())
        place = sent_.insert(place, {driver, nullptr, std::make_shared<carried_message>()});
    std::iter_swap(place, sent_.begin() + static_cast<std::ptrdiff_t>(under_way_));
    sent& one = sent_[under_way_++];
    *one.message = message;
    one.request = link_->post(driver, message_tag, one.message.get(), sizeof message);
    if (few) return;
    one.bytes = std::move(owner);
    one.bytes_request = link_->post(driver, bytes_tag, bytes, message.size);
}

/// Finds out which messages are sent.
void message_carrier::finish_sent() {
    const auto is_done = [&](void*& request) {
        if (request == nullptr) return true;
        if (!link_->done(request)) return false;
        request = nullptr;
        return true;
    };
    for (std::size_t k = under_way_; k-- > 0;) {
        sent& one = sent_[k];
        const bool message_sent = is_done(one.request);
        if (!is_done(one.bytes_request) || !message_sent) continue;
        one.bytes = nullptr;
        std::swap(one, sent_[--under_way_]);
    }
}

void message_carrier::bring(device& to, const void* from, void* target, std::size_t bytes) {
    auto& side = sides_[&to];
    if (side == nullptr) side = to.make_side_queue();
    side->bring(from, target, bytes);
}

message_carrier::client* message_carrier::find(const carried_message& message) {
    const auto found = clients_.find(message.place);
    return found == clients_.end() || message.restart != restarts_ ? nullptr : found->second;
}

void message_carrier::take(const carried_message& message, int driver, mailbox& from) {
    if (message.place == failure_place_number) {
        if (message.restart == restarts_) fail_all(message.from);
        return;
    }
    client* const whose = find(message);
    if (message.size <= message.bytes.size()) {
        if (whose != nullptr) whose->arrive(message, message.bytes.data());
        return;
    }
    std::shared_ptr<std::byte> memory;
    if (whose != nullptr) memory = whose->room(message);
    if (memory == nullptr)
        memory = {new std::byte[message.size], [](const std::byte* bytes) { delete[] bytes; }};
    void* const request = link_->receive(driver, bytes_tag, memory.get(), message.size);
    from.bytes.push_back({message, request, std::move(memory)});
}

/// Takes what has come from a driver.
void message_carrier::receive(mailbox& from) {
    const auto driver = static_cast<int>(
        std::ranges::find(mailboxes_, &from, [](const auto& box) { return box.get(); }) -
        mailboxes_.begin());
    while (link_->done(from.requests[from.next])) {
        const carried_message message = from.messages[from.next];
        from.requests[from.next] = link_->receive(driver, message_tag, &from.messages[from.next],
                                                  sizeof(carried_message));
        from.next = (from.next + 1) % expected;
        take(message, driver, from);
    }
    while (!from.bytes.empty() && link_->done(from.bytes.front().request)) {
        const mailbox::arriving one = std::move(from.bytes.front());
        from.bytes.pop_front();
        if (client* const whose = find(one.message)) whose->arrive(one.message, one.memory.get());
    }
}

void message_carrier::carry() noexcept {
    if (lost_ || std::this_thread::get_id() != owner_.load()) return;
    try {
        for (const auto& [place, one] : clients_) one->collect();
        finish_sent();
        for (const auto& box : mailboxes_)
            if (box != nullptr) receive(*box);
    } catch (...) { // the next collective function reports it; kernels must not wait until then
        lost_ = true;
        fail_all(0);
    }
}

void message_carrier::fail_all(int rank) noexcept {
    for (const auto& [place, one] : clients_) {
        try {
            one->fail(rank);
        } catch (...) { // NOLINT(bugprone-empty-catch): its kernels wait for the time-out
        }
    }
}

void message_carrier::announce_failure() noexcept {
    fail_all(0);
    try {
        carried_message failed{};
        failed.place = failure_place_number;
        for (int k = 0; k < drivers(); ++k)
            if (k != driver() && !lost_) post(k, failed);
    } catch (...) { // NOLINT(bugprone-empty-catch): they wait for the time-out
    }
}

void message_carrier::restart() {
    ++restarts_;
    for (const auto& [place, one] : clients_) one->restart();
}

} // namespace krylith

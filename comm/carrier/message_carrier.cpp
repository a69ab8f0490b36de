#include <krylith/comm/carrier/message_carrier.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

/// Receives that wait for messages of a driver; MPI keeps more of them aside.
constexpr std::size_t expected = 8;

/// Nobody has this place: a message of it says that a rank has failed.
constexpr std::uint64_t place_of_failures = 0;

} // namespace

/// What comes from one driver.
struct message_carrier::mailbox {
    struct arriving {
        carried_message message;
        void* request;
        std::shared_ptr<std::byte> memory;
    };
    int driver = 0;
    std::array<carried_message, expected> messages{};
    std::array<void*, expected> requests{};
    std::size_t next = 0;
    std::uint64_t taken = 0;
    std::optional<arriving> bytes{}; ///< of the last message, which the next ones wait for
};

message_carrier::message_carrier(std::shared_ptr<driver_link> link, device_group devices, int first)
    : link_(std::move(link)),
      devices_(std::move(devices)),
      first_(first),
      tag_(link_->take_tags(2)),
      posted_(static_cast<std::size_t>(link_->drivers()), 0),
      owner_(std::this_thread::get_id()) {
    for (int k = 0; k < drivers(); ++k) {
        auto& box = mailboxes_.emplace_back(k == driver() ? nullptr : std::make_shared<mailbox>());
        if (box == nullptr) continue;
        box->driver = k;
        link_->keep(box);
        for (std::size_t i = 0; i < expected; ++i)
            box->requests[i] = link_->receive(k, tag_, &box->messages[i], sizeof(carried_message));
    }
    for (int k = 0; k < devices_.size(); ++k) {
        device& one = devices_[k];
        if (one.kind() == backend::cuda) side_queues_[&one] = one.make_side_queue();
        one.while_waiting([this] { carry(); });
    }
}

message_carrier::~message_carrier() {
    for (int k = 0; k < devices_.size(); ++k) devices_[k].while_waiting(nullptr);
    try { // what is under way uses its memory until the link ends
        for (pending_send& one : sent_) {
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

void message_carrier::post(int driver, const carried_message& message, const std::byte* bytes,
                           std::shared_ptr<const void> owner) {
    if (ending_) return;
    const auto free = sent_.begin() + static_cast<std::ptrdiff_t>(under_way_);
    auto place = std::find_if(free, sent_.end(),
                              [&](const pending_send& one) { return one.driver == driver; });
    if (place == sent_.end())
        place = sent_.insert(place, {driver, nullptr, std::make_shared<carried_message>()});
    pending_send& one = sent_[under_way_];
    std::swap(one, *place);
    ++under_way_;
    *one.message = message;
    const bool few = message.size <= message.bytes.size();
    if (few && message.size != 0) std::memcpy(one.message->bytes.data(), bytes, message.size);
    ++posted_[static_cast<std::size_t>(driver)];
    one.request = link_->post(driver, tag_, one.message.get(), sizeof message);
    if (few) return;
    one.bytes = std::move(owner);
    one.bytes_request = link_->post(driver, tag_ + 1, bytes, message.size);
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
        pending_send& one = sent_[k];
        const bool message_sent = is_done(one.request);
        if (!is_done(one.bytes_request) || !message_sent) continue;
        one.bytes = nullptr;
        std::swap(one, sent_[--under_way_]);
    }
}

void message_carrier::bring(device& to, const void* from, void* target, std::size_t bytes) {
    side_queues_.at(&to)->bring(from, target, bytes);
}

void message_carrier::write(device& to, std::uint64_t* target, std::uint64_t word) {
    side_queues_.at(&to)->write(target, word);
}

std::shared_ptr<event> message_carrier::brought(device& to) {
    return side_queues_.at(&to)->record();
}

message_carrier::client* message_carrier::find(const carried_message& message) {
    const auto found = clients_.find(message.place);
    return found == clients_.end() ? nullptr : found->second;
}

bool message_carrier::take(const carried_message& message, mailbox& from) {
    if (message.place == place_of_failures) {
        fail_all(message.from);
        return true;
    }
    client* const whose = find(message);
    if (message.size <= message.bytes.size()) {
        if (whose != nullptr) whose->arrive(message, message.bytes.data());
        return true;
    }
    std::shared_ptr<std::byte> memory;
    if (whose != nullptr) memory = whose->receive_buffer(message);
    if (memory == nullptr)
        memory = {new std::byte[message.size], [](const std::byte* bytes) { delete[] bytes; }};
    from.bytes = {message, nullptr, std::move(memory)};
    from.bytes->request =
        link_->receive(from.driver, tag_ + 1, from.bytes->memory.get(), message.size);
    return false;
}

/// Takes what has come from a driver, in the order in which it was posted.
void message_carrier::receive(mailbox& from) {
    for (;;) {
        if (from.bytes) {
            if (!link_->done(from.bytes->request)) return;
            const mailbox::arriving one = std::move(*from.bytes);
            from.bytes.reset();
            if (client* const whose = find(one.message))
                whose->arrive(one.message, one.memory.get());
            ++from.taken;
        }
        if (!link_->done(from.requests[from.next])) return;
        const carried_message message = from.messages[from.next];
        from.requests[from.next] =
            link_->receive(from.driver, tag_, &from.messages[from.next], sizeof(carried_message));
        from.next = (from.next + 1) % expected;
        if (take(message, from)) ++from.taken;
    }
}

void message_carrier::carry() noexcept {
    if (std::this_thread::get_id() != owner_.load() || failure_) return;
    try {
        if (!ending_)
            for (const auto& [place, one] : clients_) one->collect();
        finish_sent();
        for (const auto& box : mailboxes_)
            if (box != nullptr) receive(*box);
    } catch (...) { // kernels must not wait until a collective function reports it
        failure_ = std::current_exception();
        fail_all(first_);
    }
}

void message_carrier::check() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
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
    ending_ = false;
    fail_all(first_);
    try {
        carried_message failed{};
        failed.place = place_of_failures;
        failed.from = first_;
        for (int k = 0; k < drivers(); ++k)
            if (k != driver()) post(k, failed);
    } catch (...) { // NOLINT(bugprone-empty-catch): they wait for the time-out
    }
}

void message_carrier::finish(std::span<const std::uint64_t> coming) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    const auto has_come = [&](const auto& box) {
        return box == nullptr || box->taken >= coming[static_cast<std::size_t>(box->driver)];
    };
    while (under_way_ != 0 || !std::ranges::all_of(mailboxes_, has_come)) {
        carry();
        check();
        if (std::chrono::duration<double>(clock::now() - begin).count() > link_->timeout_seconds())
            throw communication_error("messages of another driver have not come");
        std::this_thread::yield();
    }
    for (const auto& [device, queue] : side_queues_) queue->record()->wait();
}

void message_carrier::begin_anew() {
    for (const auto& [place, one] : clients_) one->begin_anew();
    ending_ = false;
}

} // namespace krylith

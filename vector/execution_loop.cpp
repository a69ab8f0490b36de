// The loop of an execution, and what the host reads of it: control registers, scalars, history.
#include <krylith/vector/execution.hpp>

#include <algorithm>
#include <bit>
#include <exception>
#include <limits>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/vector/execution/execution_memory.hpp>
#include <krylith/vector/execution/host_signal.hpp>

namespace krylith {

void execution::set(std::uint8_t reg, double value) {
    if (!scalars_.has_room()) unguarded([&] { flush(); });
    take(reg, constant(value));
}

std::uint8_t execution::follow(const std::shared_ptr<const double>& number) {
    auto known = std::ranges::find(followed_, number, &followed_number::number);
    if (known == followed_.end())
        known = followed_.insert(
            known, {number, new_register(), std::numeric_limits<double>::quiet_NaN()});
    const std::uint8_t reg = known->reg;
    if (!recording_) set_followed();
    return reg;
}

void execution::set_followed() {
    for (followed_number& f : followed_)
        if (f.value != *f.number) set(f.reg, f.value = *f.number);
}

double execution::get(std::uint8_t reg) {
    return get({reg}).front();
}

std::vector<double> execution::get(std::initializer_list<std::uint8_t> regs) {
    const trace_range range("read scalars");
    post(regs);
    return read();
}

void execution::post(std::initializer_list<std::uint8_t> regs) {
    if (regs.size() > most_posted)
        throw usage_error("post: " + std::to_string(regs.size()) + " registers, at most " +
                          std::to_string(most_posted) + " can be posted at once");
    comm_.restore();
    unguarded([&] {
        join_if_awaited();
        fill_contexts(scalars_.finish(scalars_.places()));
        for (const int rank : comm_.local()) {
            register_post posted;
            posted.to = memory(rank).posts->next();
            if (rank == first())
                for (const auto reg : regs) posted.slots[posted.count++] = scalars_.slot(reg);
            enqueue_scalars(rank, 0, {}, posted);
        }
    });
    posted_ = regs.size();
}

std::vector<double> execution::read() {
    std::vector<double> values;
    std::exception_ptr failure; // nothing runs any more when it is thrown
    std::int64_t failed = 0;
    for (const int rank : comm_.local()) {
        try {
            const auto words = memory(rank).posts->wait();
            const std::size_t count = rank == first() ? posted_ : 0;
            for (const std::int64_t word : words.first(count))
                values.push_back(std::bit_cast<double>(word));
            if (failed == 0) failed = words[count];
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
    if (failed == 0) return values;
    posted_sums::missing_rank missing{static_cast<int>(failed) - 1, false};
    if (missing.rank == ranks() && posted_sums_ != nullptr) missing = posted_sums_->missing();
    comm_.note_failure();
    throw communication_error("rank " + std::to_string(missing.rank) + " of the device group (" +
                              comm_.description(missing.rank) +
                              (missing.brings_others ? "), or one whose sums it brings," : ")") +
                              " did not answer within " + std::to_string(options_.timeout_seconds) +
                              " s");
}

void execution::record_iteration(const std::function<void()>& body) {
    body();
    record(scalar_opcode::pause, control::state, control::iteration, 0);
}

void execution::record_trip(const std::function<void()>& body) {
    recorded_places_ = scalars_.places();
    try {
        for (const int rank : comm_.local()) {
            auto& loop = memory(rank).loop;
            loop = comm_[rank].make_loop();
            loop->if_failed(
                [peers = at(rank).all_reduce, rank] { host::raise_failure(peers, rank); });
            loop->begin_recording();
        }
        recording_ = true;
        for (int i = 0; i < options_.unroll; ++i) record_iteration(body);
        end_trip(recorded_places_, true);
    } catch (...) {
        recording_ = false;
        for (const int rank : comm_.local()) memory(rank).loop.reset();
        throw;
    }
    recording_ = false;
    // One after the other: two threads that instantiate graphs at once keep each other waiting for
    // longer than both take.
    for (const int rank : comm_.local()) memory(rank).loop->end_recording();
}

bool execution::has_recording() const {
    return memory(first()).loop != nullptr;
}

void execution::forget_recording() {
    for (const int rank : comm_.local()) memory(rank).loop.reset();
    followed_.clear();
    scalars_.forget_registers();
    identity_ = next_identity();
}

void execution::prepare(const std::function<void()>& body) {
    if (mode_ == execution_mode::eager || has_recording()) return;
    unguarded([&] { flush(); });
    record_trip(body);
    comm_.synchronize(); // graphs are on their devices: what follows only launches
}

loop_report execution::repeat(const std::function<void()>& body) {
    set_followed();
    return mode_ == execution_mode::eager ? repeat_eagerly(body) : repeat_recorded(body);
}

loop_report execution::repeat_eagerly(const std::function<void()>& body) {
    for (;;) {
        if (watcher_ != nullptr) begin_watched_launch();
        unguarded([&] { flush(); });
        for (int i = 0; i < options_.unroll; ++i) record_iteration(body);
        if (watcher_ != nullptr)
            end_trip(scalars_.places(), false);
        else
            flush();
        await_launch();
        loop_report now = report();
        bool stop = look();
        if (watcher_ != nullptr) stop = comm_.any(stop);
        if (stop && now.state == loop_state::running) now.state = loop_state::stopped;
        if (now.state != loop_state::running) return now;
    }
}

loop_report execution::repeat_recorded(const std::function<void()>& body) {
    if (watcher_ != nullptr) begin_watched_launch();
    launch_recording(body);
    await_launch();
    const loop_report now = report();
    (void)look();
    return now;
}

void execution::launch_recording(const std::function<void()>& body) {
    comm_.restore();
    prepare(body);
    set_followed(); // numbers that the recording is the first to follow
    if (pending() || scalars_.places() != recorded_places_)
        unguarded([&] { settle(recorded_places_); });
    comm_.join();
    comm_.launch_together([&] {
        for (const int rank : comm_.local()) memory(rank).loop->launch();
    });
}

void execution::launch(const std::function<void()>& body) {
    set_followed();
    if (mode_ == execution_mode::eager)
        body();
    else
        launch_recording(body);
}

loop_report execution::report() {
    const auto now = get({control::state, control::iteration, control::residual});
    return {static_cast<loop_state>(static_cast<std::uint8_t>(now[0])),
            static_cast<std::int64_t>(now[1]), now[2]};
}

std::vector<double> execution::recorded(int plane, std::int64_t from, std::int64_t end) {
    const std::int64_t room = at(first()).history.mask + 1;
    if (end - from > room)
        throw usage_error("execution: iterations " + std::to_string(from) + " to " +
                          std::to_string(end - 1) + " are asked for, but the last " +
                          std::to_string(room) + " are recorded (history_size)");
    std::vector<double> values(static_cast<std::size_t>(std::max<std::int64_t>(0, end - from)));
    double* to = values.data();
    while (from < end) {
        const std::int64_t at = from % room;
        const std::int64_t count = std::min(end - from, room - at);
        comm_[first()].download(to, memory(first()).history.data() + plane * room + at,
                                static_cast<std::size_t>(count) * sizeof(double));
        to += count;
        from += count;
    }
    return values;
}

execution::recorded_coefficients execution::coefficients(std::int64_t end, std::int64_t first) {
    comm_.synchronize();
    if (!options_.coefficients) return {};
    return {recorded(2, first, end), recorded(1, first, end)};
}

std::vector<double> execution::history(std::int64_t end, std::int64_t first) {
    comm_.synchronize();
    return recorded(0, first, end);
}

void execution::set_history(std::int64_t iteration, double value) {
    if (options_.history_size == 0) return;
    const iteration_record& history = at(first()).history;
    comm_[first()].upload(history.values + (iteration & history.mask), &value, sizeof value);
}

} // namespace krylith

// The loop of an execution, and what the host reads of it: control registers, scalars, history.
#include <krylith/vector/execution.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/vector/scalar/execution_memory.hpp>

namespace krylith {

namespace {

template <class T>
std::vector<T> download(const buffer<T>& from, std::size_t first, std::size_t count,
                        device& device) {
    std::vector<T> values(count);
    if (count != 0) device.download(values.data(), from.data() + first, count * sizeof(T));
    return values;
}

} // namespace

void execution::set(std::uint8_t reg, double value) {
    if (!scalars_.has_room()) unguarded([&] { flush(); });
    take(reg, constant(value));
}

double execution::get(std::uint8_t reg) {
    return get({reg}).front();
}

std::vector<double> execution::get(std::initializer_list<std::uint8_t> regs) {
    const trace_range range("read scalars");
    unguarded([&] { flush(); });
    group_.synchronize();
    check_failures();
    const auto slots =
        download(memory_.front()->slots, 0, std::size_t{2} * max_registers, group_[0]);
    std::vector<double> values;
    for (const auto reg : regs) values.push_back(slots[scalars_.slot(reg)]);
    return values;
}

void execution::check_failures() {
    for (int rank = 0; rank < ranks(); ++rank) {
        const auto failed =
            download(memory_[static_cast<std::size_t>(rank)]->failure, 0, 1, group_[rank]).front();
        if (failed != 0)
            throw communication_error("rank " + std::to_string(failed - 1) +
                                      " of the device group (" + group_[failed - 1].description() +
                                      ") did not answer within " +
                                      std::to_string(options_.timeout_seconds) + " s");
    }
}

void execution::record_iteration(const std::function<void()>& body) {
    body();
    record(scalar_opcode::pause, control::state, control::iteration, 0);
}

void execution::record_trip(const std::function<void()>& body) {
    recorded_places_ = scalars_.places();
    try {
        for (int rank = 0; rank < ranks(); ++rank) {
            auto& loop = memory_[static_cast<std::size_t>(rank)]->loop;
            loop = group_[rank].make_loop();
            loop->begin_recording();
        }
        recording_ = true;
        for (int i = 0; i < options_.unroll; ++i) record_iteration(body);
        end_trip(recorded_places_, true);
    } catch (...) {
        recording_ = false;
        for (auto& m : memory_) m->loop.reset();
        throw;
    }
    recording_ = false;
    for (auto& m : memory_) m->loop->end_recording();
}

void execution::prepare(const std::function<void()>& body) {
    if (mode_ == execution_mode::eager || memory_.front()->loop) return;
    unguarded([&] { flush(); });
    record_trip(body);
    group_.synchronize(); // graphs are on their devices: what follows only launches
}

loop_report execution::repeat(const std::function<void()>& body) {
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
        const bool stop = look();
        if (stop && now.state == loop_state::running) now.state = loop_state::stopped;
        if (now.state != loop_state::running) return now;
    }
}

loop_report execution::repeat_recorded(const std::function<void()>& body) {
    if (watcher_ != nullptr) begin_watched_launch();
    unguarded([&] { flush(); });
    prepare(body);
    if (scalars_.places() != recorded_places_) unguarded([&] { settle(recorded_places_); });
    group_.join();
    group_.launch_together([&] {
        for (auto& m : memory_) m->loop->launch();
    });
    await_launch();
    const loop_report now = report();
    (void)look();
    return now;
}

loop_report execution::report() {
    group_.synchronize();
    check_failures();
    const auto slots =
        download(memory_.front()->slots, 0, std::size_t{2} * control::count, group_[0]);
    const auto value = [&](std::uint8_t reg) { return slots[scalars_.slot(reg)]; };
    return {static_cast<loop_state>(static_cast<std::uint8_t>(value(control::state))),
            static_cast<std::int64_t>(value(control::iteration)), value(control::residual)};
}

execution::recorded_coefficients execution::coefficients(std::int64_t count) {
    group_.synchronize();
    const auto& history = memory_.front()->history;
    const auto plane = history.size() / 3;
    const auto most = std::min(static_cast<std::size_t>(count) + 1, plane);
    if (!options_.coefficients || most < 2) return {};
    return {download(history, 2 * plane + 1, most - 1, group_[0]),
            download(history, plane + 1, most - 1, group_[0])};
}

std::vector<double> execution::history(std::int64_t count) {
    group_.synchronize();
    return download(memory_.front()->history, 0, static_cast<std::size_t>(count), group_[0]);
}

void execution::set_history(std::int64_t iteration, double value) {
    if (options_.history_size == 0) return;
    group_[0].upload(memory_.front()->history.data() + iteration, &value, sizeof value);
}

} // namespace krylith

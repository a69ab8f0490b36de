#include <krylith/spmv/streamed_product.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/streaming/streamed_device.hpp>
#include <krylith/spmv/streaming/streamed_workers.hpp>

namespace krylith {

namespace {

using std::to_string;

/// A clock that ends a phase at each call of lap().
class phase_clock {
public:
    [[nodiscard]] double lap() {
        const auto now = clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

private:
    using clock = std::chrono::steady_clock;
    clock::time_point last_ = clock::now();
};

template <class T>
std::unique_ptr<streamed_device<T>> make_streamed(const streamed_place& place) {
    return KRYLITH_ON(place.group, make_streamed_device<T>(place));
}

bool all_direct(const device_group& group) {
    for (int i = 0; i < group.size(); ++i)
        for (int j = 0; j < group.size(); ++j)
            if (group.path(i, j) != peer_path::direct) return false;
    return true;
}

/// Whether the devices' copies can use the array in place.
template <class E>
bool pinned(const device_group& group, std::span<E> array) {
    if (group.kind() == backend::host || array.empty()) return true;
    return group[0].lies_elsewhere(&array.front()).empty() &&
           group[0].lies_elsewhere(&array.back()).empty();
}

} // namespace

template <class T>
struct streamed_product<T>::state {
    state(device_group g, streamed_options o) : group(std::move(g)), options(std::move(o)) {
        numa_topology& topology = options.topology;
        if (topology.nodes.empty()) topology = find_numa_topology(group);
        check(topology, group.size());
        if (options.ranges < 0 || options.ranges > most_streamed_ranges)
            throw usage_error("streamed_product: ranges is " + to_string(options.ranges) +
                              ", must be 0 (by size) to " + to_string(most_streamed_ranges));
        workers = std::make_unique<streamed_workers>(topology);
        const bool spread = all_direct(group);
        for (int rank = 0; rank < group.size(); ++rank)
            devices.push_back(
                make_streamed<T>(streamed_place{group, topology, rank, options.staged, spread}));
    }

    streamed_times run(const streamed_matrix<T>& a, std::span<const T> x, std::span<T> y, T alpha,
                       T beta) {
        ended = false;
        check_sizes(a);
        require("x", x.size(), "columns", a.columns);
        require("y", y.size(), "rows", a.rows);
        call = {a, x, y, alpha, beta, {}};
        try {
            const streamed_times times = overlapped();
            ended = true;
            return times;
        } catch (...) { // no device may go on using the caller's arrays
            for (const auto& device : devices) device->settle();
            throw;
        }
    }

    double kernel_seconds(int repetitions) {
        if (repetitions < 1)
            throw usage_error("streamed_product: repetitions is " + to_string(repetitions) +
                              ", must be 1 or more");
        if (!ended) throw usage_error("streamed_product: kernel_seconds needs a call before it");
        for (const auto& device : devices) device->repeat_kernels(repetitions);
        double slowest = 0;
        for (const auto& device : devices) slowest = std::max(slowest, device->repeated_seconds());
        return slowest;
    }

    device_group group;
    streamed_options options;

private:
    static void require(const char* what, std::size_t found, const char* of, std::int64_t wanted) {
        if (found != as_size(wanted))
            throw input_error(std::string("streamed_product: ") + what + " has " +
                              to_string(found) + " entries, must have as many as A has " + of +
                              ", " + to_string(wanted));
    }

    [[nodiscard]] streamed_device<T>& device_of(int part) const {
        return *devices[as_size(call.plan.device[as_size(part)])];
    }

    /// Calls body(part) for each part, by a thread for each device or by the caller's.
    void for_parts(bool by_workers, const std::function<void(int)>& body) {
        if (by_workers) return workers->run(call.plan.device, body);
        for (int part = 0; part < group.size(); ++part) body(part);
    }

    /// Runs a call: the host enqueues all work, then waits for the ends of the phases.
    streamed_times overlapped() {
        streamed_times times;
        phase_clock clock;
        const auto& nodes = options.topology.node_of_device;
        const int parts = group.size();
        const bool whole_x = !by_columns(call.a.form);
        if (whole_x) send_x();
        const double sending = clock.lap(); // x is being sent while the plan is made
        call.plan = plan_streamed(call.a, nodes, ranges());
        times.partition = clock.lap();
        for (int part = 0; part < parts; ++part) device_of(part).reserve(call, part);
        for_parts(!arrays_pinned(), [&](int part) { device_of(part).send_matrix(call, part); });
        if (whole_x)
            for (const auto& device : devices) device->spread_x(devices);
        const bool copying = group.kind() == backend::cuda;
        if (!copying) times.distribution = sending + clock.lap();
        // A device takes some 60 calls of CUDA, which on one thread would take as long as the
        // copies.
        for_parts(copying, [&](int part) { device_of(part).compute(call, part); });
        for (int part = 0; part < parts; ++part) device_of(part).merge(call, part, devices);
        if (copying) {
            for (const auto& device : devices) device->arrived->wait();
            times.distribution = sending + clock.lap();
        }
        for (const auto& device : devices)
            for (const auto& range : device->done) range->wait();
        times.kernel = clock.lap();
        for_parts(!pinned(group, call.y) || options.staged,
                  [&](int part) { device_of(part).finish(call, part); });
        times.merge = clock.lap();
        return summed(times);
    }

    streamed_times summed(streamed_times times) const {
        times.total = times.partition + times.distribution + times.kernel + times.merge;
        for (const auto& device : devices)
            times.conversion = std::max(times.conversion, device->conversion_seconds());
        return times;
    }

    /// Sends a range of x to each rank, whatever its part will be, or all of x.
    void send_x() {
        call.plan.device.clear(); // each part goes to the rank of its number
        for (int rank = 0; rank < group.size(); ++rank) call.plan.device.push_back(rank);
        const row_partition ranges = equal_rows(call.a.columns, group.size());
        const bool spread = all_direct(group);
        for_parts(options.staged || !pinned(group, call.x), [&](int rank) {
            devices[as_size(rank)]->send_x(call.x, spread ? ranges.owned(rank)
                                                          : row_range{0, call.a.columns});
        });
    }

    [[nodiscard]] int ranges() const {
        if (options.ranges != 0) return options.ranges;
        constexpr std::int64_t worth_a_range = 12 << 20;
        const auto bytes = call.a.entries() * static_cast<std::int64_t>(sizeof(T) + 4);
        return static_cast<int>(std::clamp<std::int64_t>(bytes / group.size() / worth_a_range, 1,
                                                         most_streamed_ranges));
    }

    [[nodiscard]] bool arrays_pinned() const {
        return !options.staged && pinned(group, call.a.values) && pinned(group, call.a.offsets) &&
               pinned(group, call.a.row_indices) && pinned(group, call.a.column_indices) &&
               (call.beta == T{0} || pinned(group, call.y)) &&
               (!by_columns(call.a.form) || pinned(group, call.x));
    }

    streamed_call<T> call;
    // Whether the last call returned without an exception.
    bool ended = false;
    std::vector<std::unique_ptr<streamed_device<T>>> devices; // [ranks]
    std::unique_ptr<streamed_workers> workers;
};

template <class T>
streamed_product<T>::streamed_product(device_group group, streamed_options options)
    : state_(std::make_unique<state>(std::move(group), std::move(options))) {}

template <class T>
streamed_product<T>::streamed_product(streamed_product&&) noexcept = default;
template <class T>
streamed_product<T>& streamed_product<T>::operator=(streamed_product&&) noexcept = default;
template <class T>
streamed_product<T>::~streamed_product() = default;

template <class T>
streamed_times streamed_product<T>::operator()(const csr_view<T>& a, std::span<const T> x,
                                               std::span<T> y, T alpha, T beta) {
    return state_->run(streamed_matrix_of(a), x, y, alpha, beta);
}

template <class T>
streamed_times streamed_product<T>::operator()(const csc_view<T>& a, std::span<const T> x,
                                               std::span<T> y, T alpha, T beta) {
    return state_->run(streamed_matrix_of(a), x, y, alpha, beta);
}

template <class T>
streamed_times streamed_product<T>::operator()(const coo_view<T>& a, coo_order order,
                                               std::span<const T> x, std::span<T> y, T alpha,
                                               T beta) {
    return state_->run(streamed_matrix_of(a, order), x, y, alpha, beta);
}

template <class T>
double streamed_product<T>::kernel_seconds(int repetitions) {
    return state_->kernel_seconds(repetitions);
}

template <class T>
const device_group& streamed_product<T>::group() const {
    return state_->group;
}

#define KRYLITH_INSTANTIATE(T) template class streamed_product<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

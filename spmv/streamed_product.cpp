#include <krylith/spmv/streamed_product.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/spmv/streaming/streamed_device.hpp>
#include <krylith/spmv/streaming/streamed_host_merge.hpp>
#include <krylith/spmv/streaming/streamed_workers.hpp>

namespace krylith {

namespace {

using std::to_string;

/// Ends a phase at each call of lap().
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
std::unique_ptr<one_shot_lane<T>> make_lane(const one_shot_place& place) {
#if KRYLITH_HAVE_CUDA
    if (place.group.kind() == backend::cuda) return cuda::make_one_shot_lane<T>(place);
#endif
    return host::make_one_shot_lane<T>(place);
}

bool all_direct(const device_group& group) {
    for (int i = 0; i < group.size(); ++i)
        for (int j = 0; j < group.size(); ++j)
            if (group.path(i, j) != transport::direct) return false;
    return true;
}

/// Whether copies of the devices can use the array as it is.
template <class E>
bool pinned(const device_group& group, std::span<E> array) {
    if (group.kind() == backend::host || array.empty()) return true;
    return group[0].lies_elsewhere(&array.front()).empty() &&
           group[0].lies_elsewhere(&array.back()).empty();
}

/// What a simple program uploads for each part. O(lines).
std::vector<std::int32_t> local_pointers(const line_share& share,
                                         std::span<const std::int64_t> offsets) {
    std::vector<std::int32_t> result(as_size(share.lines()) + 1);
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = static_cast<std::int32_t>(
            part_offset(offsets[as_size(share.start_line) + i], share.start_idx, share.end_idx));
    return result;
}

} // namespace

const char* to_string(one_shot_version version) noexcept {
    return version == one_shot_version::baseline ? "baseline"
           : version == one_shot_version::p      ? "p"
                                                 : "p_opt";
}

template <class T>
struct one_shot_product<T>::state {
    state(device_group g, one_shot_options o) : group(std::move(g)), options(std::move(o)) {
        numa_topology& where = options.topology;
        if (where.nodes.empty())
            where = options.version == one_shot_version::p_opt ? find_numa_topology(group)
                                                               : one_numa_node(group.size());
        check(where, group.size());
        if (options.pieces < 0 || options.pieces > most_one_shot_pieces)
            throw usage_error("one_shot_product: pieces is " + to_string(options.pieces) +
                              ", must be 0 (by size) to " + to_string(most_one_shot_pieces));
        workers = std::make_unique<one_shot_workers>(where);
        const bool spread = all_direct(group);
        for (int rank = 0; rank < group.size(); ++rank)
            lanes.push_back(
                make_lane<T>(one_shot_place{group, where, rank, options.staged, spread}));
    }

    one_shot_times run(const one_shot_matrix<T>& a, std::span<const T> x, std::span<T> y, T alpha,
                       T beta) {
        ended = false;
        check_sizes(a);
        require("x", x.size(), "columns", a.columns);
        require("y", y.size(), "rows", a.rows);
        call = {a, x, y, alpha, beta, {}};
        try {
            const one_shot_times times =
                options.version == one_shot_version::p_opt ? overlapped() : in_phases();
            ended = true;
            return times;
        } catch (...) { // nothing may go on with the caller's arrays
            for (const auto& lane : lanes) lane->settle();
            throw;
        }
    }

    double kernel_seconds(int repetitions) {
        if (repetitions < 1)
            throw usage_error("one_shot_product: repetitions is " + to_string(repetitions) +
                              ", must be 1 or more");
        if (!ended) throw usage_error("one_shot_product: kernel_seconds needs a call before it");
        for (const auto& lane : lanes) lane->repeat_kernels(repetitions);
        double slowest = 0;
        for (const auto& lane : lanes) slowest = std::max(slowest, lane->repeated_seconds());
        return slowest;
    }

    device_group group;
    one_shot_options options;

private:
    static void require(const char* what, std::size_t found, const char* of, std::int64_t wanted) {
        if (found != as_size(wanted))
            throw input_error(std::string("one_shot_product: ") + what + " has " +
                              to_string(found) + " entries, must have as many as A has " + of +
                              ", " + to_string(wanted));
    }

    [[nodiscard]] one_shot_lane<T>& lane_of(int part) const {
        return *lanes[as_size(call.plan.device[as_size(part)])];
    }

    /// body(part) for each part: by a thread a device, or by the caller's.
    void for_parts(bool by_workers, const std::function<void(int)>& body) {
        if (by_workers) return workers->run(call.plan.device, body);
        for (int part = 0; part < group.size(); ++part) body(part);
    }

    /// baseline and p: a phase begins where the last one has ended on every device.
    one_shot_times in_phases() {
        const bool threads = options.version == one_shot_version::p;
        const auto parts = as_size(group.size());
        one_shot_times times;
        phase_clock clock;
        call.plan = threads ? plan_one_shot(call.a, options.topology.node_of_device, 1)
                            : plan_equal_lines(call.a, group.size());
        std::vector<std::vector<std::int32_t>> pointers(parts);
        if (group.kind() == backend::cuda && compressed(call.a.form))
            for_parts(threads, [&](int part) {
                pointers[as_size(part)] =
                    local_pointers(call.plan.shares[as_size(part)], call.a.offsets);
            });
        times.partition = clock.lap();
        for_parts(threads, [&](int part) {
            lane_of(part).reserve(call, part);
            lane_of(part).upload(call, part, pointers[as_size(part)]);
        });
        times.distribution = clock.lap();
        for_parts(threads, [&](int part) { lane_of(part).multiply(call, part); });
        group.synchronize();
        times.kernel = clock.lap();
        partial.resize(parts);
        std::vector<std::span<const T>> sums(parts);
        for_parts(threads, [&](int part) {
            sums[as_size(part)] = lane_of(part).download(call, part, partial[as_size(part)]);
        });
        merge_on_host<T>(call, sums);
        times.merge = clock.lap();
        return summed(times);
    }

    /// p_opt: the host enqueues all, then waits for what marks the phases' ends.
    one_shot_times overlapped() {
        one_shot_times times;
        phase_clock clock;
        const auto& nodes = options.topology.node_of_device;
        const int parts = group.size();
        const bool whole_x = !by_columns(call.a.form);
        if (whole_x) send_x();
        const double sending = clock.lap(); // x is on its way while this is worked out
        call.plan = plan_one_shot(call.a, nodes, pieces());
        times.partition = clock.lap();
        for (int part = 0; part < parts; ++part) lane_of(part).reserve(call, part);
        for_parts(!arrays_pinned(), [&](int part) { lane_of(part).send_matrix(call, part); });
        if (whole_x)
            for (const auto& lane : lanes) lane->spread_x(lanes);
        const bool copying = group.kind() == backend::cuda;
        if (!copying) times.distribution = sending + clock.lap();
        // Some 60 calls of CUDA a device: by one thread they would take as long as the copies.
        for_parts(copying, [&](int part) { lane_of(part).compute(call, part); });
        for (int part = 0; part < parts; ++part) lane_of(part).merge(call, part, lanes);
        if (copying) {
            for (const auto& lane : lanes) lane->arrived->wait();
            times.distribution = sending + clock.lap();
        }
        for (const auto& lane : lanes)
            for (const auto& piece : lane->done) piece->wait();
        times.kernel = clock.lap();
        for_parts(!pinned(group, call.y) || options.staged,
                  [&](int part) { lane_of(part).finish(call, part); });
        times.merge = clock.lap();
        return summed(times);
    }

    one_shot_times summed(one_shot_times times) const {
        times.total = times.partition + times.distribution + times.kernel + times.merge;
        for (const auto& lane : lanes)
            times.conversion = std::max(times.conversion, lane->conversion_seconds());
        return times;
    }

    /// A range to each rank, whatever its part will be, or all of it.
    void send_x() {
        call.plan.device.clear(); // ranks stand for themselves
        for (int rank = 0; rank < group.size(); ++rank) call.plan.device.push_back(rank);
        const row_partition ranges = equal_rows(call.a.columns, group.size());
        const bool spread = all_direct(group);
        for_parts(options.staged || !pinned(group, call.x), [&](int rank) {
            lanes[as_size(rank)]->send_x(call.x, spread ? ranges.owned(rank)
                                                        : row_range{0, call.a.columns});
        });
    }

    [[nodiscard]] int pieces() const {
        if (options.pieces != 0) return options.pieces;
        constexpr std::int64_t worth_a_piece = 12 << 20;
        const auto bytes = call.a.entries() * static_cast<std::int64_t>(sizeof(T) + 4);
        return static_cast<int>(std::clamp<std::int64_t>(bytes / group.size() / worth_a_piece, 1,
                                                         most_one_shot_pieces));
    }

    [[nodiscard]] bool arrays_pinned() const {
        return !options.staged && pinned(group, call.a.values) && pinned(group, call.a.offsets) &&
               pinned(group, call.a.row_indices) && pinned(group, call.a.column_indices) &&
               (call.beta == T{0} || pinned(group, call.y)) &&
               (!by_columns(call.a.form) || pinned(group, call.x));
    }

    one_shot_call<T> call;
    bool ended = false;                                   // the last call, without an exception
    std::vector<std::unique_ptr<one_shot_lane<T>>> lanes; // by rank
    std::vector<std::vector<T>> partial;                  // by part; baseline, p
    std::unique_ptr<one_shot_workers> workers;
};

template <class T>
one_shot_product<T>::one_shot_product(device_group group, one_shot_options options)
    : state_(std::make_unique<state>(std::move(group), std::move(options))) {}

template <class T>
one_shot_product<T>::one_shot_product(one_shot_product&&) noexcept = default;
template <class T>
one_shot_product<T>& one_shot_product<T>::operator=(one_shot_product&&) noexcept = default;
template <class T>
one_shot_product<T>::~one_shot_product() = default;

template <class T>
one_shot_times one_shot_product<T>::operator()(const csr_view<T>& a, std::span<const T> x,
                                               std::span<T> y, T alpha, T beta) {
    return state_->run(one_shot_matrix_of(a), x, y, alpha, beta);
}

template <class T>
one_shot_times one_shot_product<T>::operator()(const csc_view<T>& a, std::span<const T> x,
                                               std::span<T> y, T alpha, T beta) {
    return state_->run(one_shot_matrix_of(a), x, y, alpha, beta);
}

template <class T>
one_shot_times one_shot_product<T>::operator()(const coo_view<T>& a, coo_order order,
                                               std::span<const T> x, std::span<T> y, T alpha,
                                               T beta) {
    return state_->run(one_shot_matrix_of(a, order), x, y, alpha, beta);
}

template <class T>
double one_shot_product<T>::kernel_seconds(int repetitions) {
    return state_->kernel_seconds(repetitions);
}

template <class T>
const device_group& one_shot_product<T>::group() const noexcept {
    return state_->group;
}

template class one_shot_product<double>;
template class one_shot_product<float>;

} // namespace krylith

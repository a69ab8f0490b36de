// Steps that visit rows, on hosts and GPUs.
//
// A step is a plain struct. wanted(row) says whether it visits a row; part(row, lane, lanes) looks
// at every `lanes`-th entry; join() puts parts together in any order; finish(row, part) writes, and
// returns whether the row stays in the list of rows that the next round visits. A step may have
// least_lanes, the lanes that share even a short row on GPUs, or of_pairs: it looks at all entries
// of a row for each entry, so that a lane takes one where the row is not long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/device.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith::aggregation {

/// What one step reads of a list of rows, and writes. On hosts threads have parts of the list.
struct list_step {
    const std::int32_t* rows = nullptr; ///< null: all rows
    const std::uint32_t* count = nullptr;
    std::int32_t* stay = nullptr;
    std::uint32_t* stay_count = nullptr;
};

/// The rows of a device that rounds still visit: all at first. Move-only.
class row_list {
public:
    row_list() = default;
    /// Takes 8 bytes a row on CUDA devices, 4 on hosts.
    row_list(std::shared_ptr<device> device, std::int64_t rows);

    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
    /// The number of rows in the list after the last step. Waits for the device.
    [[nodiscard]] std::int64_t size() const;
    /// The arrays for the next step.
    [[nodiscard]] list_step next();
    /// All rows are in the list again.
    void restart();

private:
    std::shared_ptr<device> device_;
    std::int64_t rows_ = 0;
    buffer<std::int32_t> lists_[2];
    buffer<std::uint32_t> counts_; ///< on CUDA a ring of counters, on hosts one a thread
    std::size_t step_ = 0;
};

inline constexpr std::size_t numbering_scratch = 16384;

namespace cuda {

template <class Step>
void visit_rows(device& device, std::int64_t rows, std::int64_t mean, const Step& step);
template <class Step>
void visit_list(device& device, const list_step& list, std::int64_t rows, std::int64_t mean,
                const Step& step);
template <class Leads>
void number_leads(device& device, std::int64_t count, const Leads& leads, std::int32_t* numbers,
                  void* scratch);
void add_up_counts(device& device, std::int64_t count, const std::int32_t* counts,
                   std::int64_t* offsets, void* scratch);

} // namespace cuda

namespace host {

/// Calls body(part, parts) on the device's threads, for as many parts as it has threads, or one
/// where `rows` are few.
template <class Body>
void in_parts(device& device, std::int64_t rows, const Body& body) {
    constexpr std::int64_t worth_a_team = 4096;
    auto& host = static_cast<host_device&>(device);
    host.submit([=, all = host.threads()] {
        in_team(rows < worth_a_team ? 1 : all, [&](int thread, int team) {
            for (int part = thread; part < all; part += team) body(part, all);
        });
    });
}

template <class Step>
bool visit(const Step& step, std::int64_t row) {
    return step.wanted(row) && step.finish(row, step.part(row, 0, 1));
}

} // namespace host

/// Enqueues a step for rows [0, rows). `mean` is the mean number of entries of a row.
template <class Step>
void visit_rows(device& device, std::int64_t rows, [[maybe_unused]] std::int64_t mean,
                const Step& step) {
    if (rows == 0) return;
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return cuda::visit_rows(device, rows, mean, step);
#endif
    host::in_parts(device, rows, [=](int part, int parts) {
        const Step own = step; // of this thread: bytes that it writes can't be among its members
        const std::int64_t end = rows * (part + 1) / parts;
        for (std::int64_t row = rows * part / parts; row < end; ++row) host::visit(own, row);
    });
}

/// Enqueues a step for the rows of the list, which becomes that of the rows that stay.
template <class Step>
void visit_list(device& device, row_list& rows, [[maybe_unused]] std::int64_t mean,
                const Step& step) {
    const list_step list = rows.next();
    if (rows.rows() == 0) return;
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda)
        return cuda::visit_list(device, list, rows.rows(), mean, step);
#endif
    host::in_parts(device, rows.rows(), [=, all = rows.rows()](int part, int parts) {
        const std::int64_t begin = all * part / parts;
        const std::int64_t size = list.rows == nullptr
                                      ? all * (part + 1) / parts - begin
                                      : static_cast<std::int64_t>(list.count[part]);
        const Step own = step;
        const std::int32_t* const from = list.rows;
        std::int32_t* const stay = list.stay;
        std::int64_t to = begin;
        for (std::int64_t i = begin; i < begin + size; ++i) {
            const std::int64_t row = from == nullptr ? i : from[i];
            const bool stays = host::visit(own, row);
            stay[to] = static_cast<std::int32_t>(row); // which rows stay is hard to predict
            to += stays ? 1 : 0;
        }
        list.stay_count[part] = static_cast<std::uint32_t>(to - begin);
    });
}

/// Enqueues numbers[i] = the number of j < i with leads(j), for 0 <= i <= count. `scratch` has
/// numbering_scratch bytes.
template <class Leads>
void number_leads(device& device, std::int64_t count, const Leads& leads, std::int32_t* numbers,
                  [[maybe_unused]] void* scratch) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda)
        return cuda::number_leads(device, count, leads, numbers, scratch);
#endif
    static_cast<host_device&>(device).submit([=] {
        std::int32_t sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            numbers[i] = sum;
            sum += leads(i) ? 1 : 0;
        }
        numbers[count] = sum;
    });
}

/// Enqueues the running sums of counts: offsets[0] = 0, ..., offsets[count].
inline void add_up_counts(device& device, std::int64_t count, const std::int32_t* counts,
                          std::int64_t* offsets, [[maybe_unused]] void* scratch) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda)
        return cuda::add_up_counts(device, count, counts, offsets, scratch);
#endif
    static_cast<host_device&>(device).submit([=] {
        offsets[0] = 0;
        for (std::int64_t i = 0; i < count; ++i) offsets[i + 1] = offsets[i] + counts[i];
    });
}

} // namespace krylith::aggregation

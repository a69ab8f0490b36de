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

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/loops/host_parts.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith {

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

/// The base of steps whose rows are written by one lane, which needs no other's part.
struct writes_only {
    using part_type = std::uint32_t;
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t) { return one; }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t, int, int) const { return 0; }
};

namespace cuda {

// visit_rows.cuh has them: a .cu of the steps' folder instantiates them.
template <class Step>
void visit_rows(device& device, std::int64_t rows, std::int64_t mean, const Step& step);
template <class Step>
void visit_list(device& device, const list_step& list, std::int64_t rows, std::int64_t mean,
                const Step& step);

} // namespace cuda

namespace host {

template <class Step>
bool visit_row(const Step& step, std::int64_t row) {
    return step.wanted(row) && step.finish(row, step.part(row, 0, 1));
}

template <class Step>
void visit_rows(device& device, std::int64_t rows, std::int64_t, const Step& step) {
    in_ranges(device, rows, [=](std::int64_t begin, std::int64_t end) {
        const Step own = step; // of this thread: bytes that it writes can't be among its members
        for (std::int64_t row = begin; row < end; ++row) visit_row(own, row);
    });
}

template <class Step>
void visit_list(device& device, const list_step& list, std::int64_t rows, std::int64_t,
                const Step& step) {
    in_parts(device, rows, [=](int part, int parts) {
        const std::int64_t begin = rows * part / parts;
        const std::int64_t size = list.rows == nullptr
                                      ? rows * (part + 1) / parts - begin
                                      : static_cast<std::int64_t>(list.count[part]);
        const Step own = step;
        const std::int32_t* const from = list.rows;
        std::int32_t* const stay = list.stay;
        std::int64_t to = begin;
        for (std::int64_t i = begin; i < begin + size; ++i) {
            const std::int64_t row = from == nullptr ? i : from[i];
            const bool stays = visit_row(own, row);
            stay[to] = static_cast<std::int32_t>(row); // which rows stay is hard to predict
            to += stays ? 1 : 0;
        }
        list.stay_count[part] = static_cast<std::uint32_t>(to - begin);
    });
}

} // namespace host

/// Enqueues a step for rows [0, rows). `mean` is the mean number of entries of a row.
template <class Step>
void visit_rows(device& device, std::int64_t rows, std::int64_t mean, const Step& step) {
    if (rows != 0) KRYLITH_ON(device, visit_rows(device, rows, mean, step));
}

/// Enqueues a step for the rows of the list, which becomes that of the rows that stay.
template <class Step>
void visit_list(device& device, row_list& rows, std::int64_t mean, const Step& step) {
    const list_step list = rows.next();
    if (rows.rows() != 0) KRYLITH_ON(device, visit_list(device, list, rows.rows(), mean, step));
}

} // namespace krylith

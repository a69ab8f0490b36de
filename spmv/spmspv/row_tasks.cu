#include <krylith/spmv/spmspv/row_tasks.hpp>

#include <krylith/spmv/spmspv/two_pass_scan.cuh>

namespace krylith::cuda {

namespace {

using spmspv::row_task;
using spmspv::row_task_entries;
using spmspv::row_tasks;

struct tasks_of_word {
    std::int32_t size;
};

struct task_list {
    const std::int32_t* offsets;
    std::uint32_t rows;
    row_tasks to;

    [[nodiscard]] __device__ std::uint32_t count() const { return rows / 32 + (rows % 32 != 0); }
    /// Parts begin at multiples of a sector of entries from the first one's.
    [[nodiscard]] __device__ tasks_of_word load(std::uint32_t word) const {
        const auto first = static_cast<std::uint32_t>(offsets[word * 32]);
        const auto last = static_cast<std::uint32_t>(offsets[min(word * 32 + 32, rows)]);
        const std::uint32_t span = last - first / 8 * 8;
        const std::uint32_t parts =
            span / row_task_entries + (span % row_task_entries != 0 ? 1 : 0);
        return {static_cast<std::int32_t>(max(parts, 1u))};
    }
    __device__ void emit(bool there, std::uint32_t word, tasks_of_word of,
                         std::int32_t before) const {
        if (!there) return;
        const std::int32_t slot = of.size > 1 ? atomicAdd(to.slots, of.size) : 0;
        for (std::int32_t part = 0; part < of.size; ++part)
            to.tasks[before + part] = {static_cast<std::int32_t>(word), part, of.size, slot};
    }
    __device__ void finish(std::int32_t sum) const { *to.count = sum; }
};
static_assert(scan_scratch_bytes <= row_tasks::scan_bytes);

} // namespace

void find_row_tasks(device& where, const std::int32_t* offsets, std::int64_t rows,
                    std::int64_t nonzeros, std::byte* memory) {
    const row_tasks to = row_tasks::in(memory, rows, nonzeros);
    scan(where, task_list{offsets, static_cast<std::uint32_t>(rows), to}, row_tasks::words(rows),
         to.scan);
}

} // namespace krylith::cuda

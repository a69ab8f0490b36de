// What the symbolic phase of C = A B finds on a CUDA device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/spgemm.hpp>
#include <krylith/sparse/spgemm/giant_rows.hpp>
#include <krylith/sparse/spgemm/neighbour_records.hpp>
#include <krylith/sparse/spgemm/row_classes.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::cuda {

/// The chunks of rows whose places are searched: those of item i of a list are [at[i], at[i + 1]).
struct search_chunks {
    buffer<std::int64_t> at;
    std::int64_t count = 0;
};

struct spgemm_plan {
    std::int64_t nonzeros = 0;
    std::int64_t products = 0;
    std::int64_t peak_bytes = 0;
    int width = 4;                  ///< lanes for a row of B: a power of two, 4 to 32
    buffer<std::int64_t> offsets;   ///< [rows + 1] of C
    buffer<std::int64_t> places_at; ///< [rows + 1] where the places of a row begin
    buffer<std::uint8_t> places;    ///< of each product, in the order of products
    buffer<std::int32_t> lists;     ///< the rows of all classes that have a list
    std::array<row_list, static_cast<int>(sum_class::number)> rows_of{};
    neighbour_groups neighbours;           ///< of sum_class::together
    buffer<std::int32_t> kept_columns;     ///< of rows that were counted one by one, in any order
    buffer<std::uint32_t> kept_at;         ///< [rows] 1 more than where a row's begin; 0: nowhere
    std::array<search_chunks, 2> searched; ///< searched and giant searched rows
    std::vector<std::int32_t> giant_searched; ///< their rows
    std::vector<sorted_row> sorted;
    buffer<unsigned long long> next; ///< [2] counters for kernels that take work as they get ready

    [[nodiscard]] std::int64_t bytes() const noexcept;
    /// C was made: what was kept for that is not needed again.
    void drop_columns() {
        kept_columns = {};
        kept_at = {};
    }
};

/// Runs the symbolic phase and waits for it.
[[nodiscard]] spgemm_plan plan_spgemm(const std::shared_ptr<device>& device, const csr_pattern& a,
                                      const csr_pattern& b, const row_limits& limits);

/// Writes the columns of the searched rows of C, whose offsets these are; enqueued.
void write_searched_columns(const std::shared_ptr<device>& device, const spgemm_plan& plan,
                            const csr_pattern& a, const csr_pattern& b, const std::int64_t* offsets,
                            std::int32_t* columns);

/// Counts products, and waits.
[[nodiscard]] spgemm_estimate estimate_products(const std::shared_ptr<device>& device,
                                                const csr_pattern& a, const csr_pattern& b,
                                                int value_bytes);

} // namespace krylith::cuda

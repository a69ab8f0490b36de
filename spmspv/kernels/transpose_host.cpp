#include <algorithm>
#include <cstdint>

#include <krylith/device/host/host_device.hpp>
#include <krylith/spmspv/csr_csc_pair.hpp>
#include <krylith/spmspv/kernels/host_ranges.hpp>

namespace krylith::host {

namespace {

/// A stable counting sort: parts of about equal numbers of entries, each with counters for all
/// columns, which then give the places of its entries. There are only as many parts as keep the
/// counters no larger than the entries. (matrix/compressed/scan_transposition.hpp does the same for
/// 64-bit offsets in host arrays.)
template <class T>
struct counting_sort {
    spmspv::compressed_view<T> rows;
    int parts;
    std::int32_t* next; ///< next place, by part and column

    [[nodiscard]] std::int32_t first_row(int part) const {
        if (part == parts) return rows.major_size;
        const auto entry = static_cast<std::int32_t>(part_begin(rows.nonzeros, part, parts));
        const std::int32_t* const found =
            std::lower_bound(rows.offsets, rows.offsets + rows.major_size, entry);
        return part == 0 ? 0 : static_cast<std::int32_t>(found - rows.offsets);
    }

    void count(int part) const {
        std::int32_t* const counts = next + std::int64_t{part} * rows.across;
        std::fill_n(counts, rows.across, 0);
        const std::int32_t end = rows.offsets[first_row(part + 1)];
        for (std::int32_t k = rows.offsets[first_row(part)]; k < end; ++k)
            ++counts[rows.indices[k]];
    }

    void scan(std::int32_t* column_offsets) const {
        std::int32_t place = 0;
        for (std::int32_t column = 0; column < rows.across; ++column) {
            column_offsets[column] = place;
            for (int part = 0; part < parts; ++part) {
                std::int32_t& counter = next[std::int64_t{part} * rows.across + column];
                const std::int32_t entries = counter;
                counter = place;
                place += entries;
            }
        }
        column_offsets[rows.across] = place;
    }

    void put(int part, std::int32_t* row_indices, T* values) const {
        std::int32_t* const places = next + std::int64_t{part} * rows.across;
        const std::int32_t end = first_row(part + 1);
        for (std::int32_t row = first_row(part); row < end; ++row)
            for (std::int32_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
                const std::int32_t place = places[rows.indices[k]]++;
                row_indices[place] = row;
                values[place] = rows.values[k];
            }
    }
};

} // namespace

template <class T>
void transpose(device& device, const spmspv::compressed_view<T>& rows, std::int32_t* column_offsets,
               std::int32_t* row_indices, T* values) {
    auto& host = static_cast<host_device&>(device);
    const std::int64_t least = std::max<std::int64_t>(1, rows.across);
    const int parts = static_cast<int>(std::clamp<std::int64_t>(
        rows.nonzeros / least, 1, team_for(host.threads(), rows.nonzeros)));
    const auto bytes = static_cast<std::size_t>(parts) * static_cast<std::size_t>(rows.across) *
                       sizeof(std::int32_t);
    constexpr const char* item = "transposition";
    void* const memory = bytes != 0 ? device.allocate(bytes, item) : nullptr;
    const counting_sort<T> sort = {rows, parts, static_cast<std::int32_t*>(memory)};
    host.submit([=] {
        for_parts(parts, [&](int part) { sort.count(part); });
        sort.scan(column_offsets);
        for_parts(parts, [&](int part) { sort.put(part, row_indices, values); });
    });
    device.deallocate(memory, bytes, item); // after the task
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void transpose(device&, const spmspv::compressed_view<T>&, std::int32_t*,             \
                            std::int32_t*, T*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host

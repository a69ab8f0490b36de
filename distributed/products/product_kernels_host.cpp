#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/host_parts.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::host {

namespace {

/// Calls entry(k, row) for the entries of packed rows.
template <class Entry>
void for_entries(device& on, const packed_rows& rows, Entry entry) {
    in_ranges(on, rows.entries, [=](std::int64_t begin, std::int64_t end) {
        if (begin == end) return;
        const std::int64_t first = rows.packed[0];
        std::int64_t row =
            std::upper_bound(rows.packed, rows.packed + rows.rows, first + begin) - rows.packed - 1;
        for (std::int64_t k = first + begin; k < first + end; ++row)
            for (; k < std::min(rows.packed[row + 1], first + end); ++k) entry(k, row);
    });
}

} // namespace

outer_columns find_outer_columns(const std::shared_ptr<device>& device, const std::int32_t* columns,
                                 std::int64_t count, row_range owned, std::int64_t all) {
    std::vector<std::uint64_t> bits(owned.size() == all ? 0 : as_size((all + 63) / 64));
    std::atomic<bool> valid = true;
    in_ranges(*device, count, [&, columns, owned, all](std::int64_t begin, std::int64_t end) {
        bool inside = true;
        for (std::int64_t k = begin; k < end; ++k) {
            const std::int64_t column = columns[k];
            if (owned.contains(column)) continue;
            if (column < 0 || column >= all) {
                inside = false;
                continue;
            }
            const std::atomic_ref<std::uint64_t> word(bits[as_size(column / 64)]);
            const std::uint64_t bit = std::uint64_t{1} << (column % 64);
            if ((word.load(std::memory_order_relaxed) & bit) == 0)
                word.fetch_or(bit, std::memory_order_relaxed);
        }
        if (!inside) valid = false;
    });
    device->synchronize();
    outer_columns found;
    found.valid = valid;
    for (std::size_t w = 0; w < bits.size(); ++w)
        for (std::uint64_t left = bits[w]; left != 0; left &= left - 1)
            found.ghosts.push_back(static_cast<std::int64_t>(w) * 64 + std::countr_zero(left));
    return found;
}

bool columns_ascend(const std::shared_ptr<device>& device, const csr_pattern& a) {
    std::atomic<bool> ascend = true;
    in_ranges(*device, a.rows, [&ascend, a](std::int64_t begin, std::int64_t end) {
        bool all = true;
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t k = a.offsets[i]; k + 1 < a.offsets[i + 1]; ++k)
                all = all && a.indices[k] < a.indices[k + 1];
        if (!all) ascend = false;
    });
    device->synchronize();
    return ascend;
}

template <class V>
void gather_rows(device& device, const packed_rows& rows, const V* from, V* to) {
    for_entries(device, rows, [=](std::int64_t k, std::int64_t row) {
        to[k - rows.packed[0]] = from[k + rows.jump[row]];
    });
}

template <class V>
void scatter_rows(device& device, const packed_rows& rows, const V* from, V* to) {
    for_entries(device, rows,
                [=](std::int64_t k, std::int64_t row) { to[k + rows.jump[row]] = from[k]; });
}

#define KRYLITH_INSTANTIATE(V) template struct instances<gather_rows<V>, scatter_rows<V>>;
KRYLITH_INSTANTIATE(std::int32_t)
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host

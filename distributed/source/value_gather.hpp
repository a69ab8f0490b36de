// Brings values from the order of an assembly to CSR order, on the device where they lie.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/source/device_assembly.hpp>
#include <krylith/matrix/coo_assembly.hpp>

namespace krylith {

/// Nonzero k is the sum of the entries order[first[k]] .. order[first[k + 1] - 1], or order[k]
/// where first is null.
template <class T>
struct gather_task {
    const std::int32_t* order;
    const std::int32_t* first;
    const T* from;
    T* to;
    KRYLITH_HD void operator()(std::int64_t k) const {
        const std::int64_t begin = first != nullptr ? first[k] : k;
        const std::int64_t end = first != nullptr ? first[k + 1] : k + 1;
        T sum = from[order[begin]];
        for (std::int64_t j = begin + 1; j < end; ++j) sum += from[order[j]];
        to[k] = sum;
    }
};

/// The permutation of a coo_assembly, on a device: 4 bytes an entry, with duplicates 4 more a
/// nonzero, and the values in CSR order.
template <class T>
class value_gather {
public:
    value_gather() = default; ///< of no entries
    /// Throws input_error for 2^31 entries or more.
    value_gather(const std::shared_ptr<device>& device, const coo_assembly& assembly);

    /// Takes an assembly that was made on the device, of so many entries, with those left out.
    value_gather(const std::shared_ptr<device>& device, device_assembly assembly,
                 std::int64_t entries);

    /// Enqueues the sums, in the order in which the assembly names their terms.
    void operator()(const T* coo_values);

    /// The values, [nonzeros] in CSR order.
    [[nodiscard]] const T* values() const noexcept { return values_.data(); }
    [[nodiscard]] std::int64_t entries() const noexcept { return entries_; }

private:
    std::shared_ptr<device> device_;
    std::int64_t entries_ = 0;
    buffer<std::int32_t> order_;
    buffer<std::int32_t> first_;
    buffer<T> values_;
};

} // namespace krylith

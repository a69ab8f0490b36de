// Brings values from the order of an assembly to CSR order, on the device where they lie.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/source/device_assembly.hpp>
#include <krylith/matrix/coo_assembly.hpp>

namespace krylith {

/// The entries that add up to nonzero k: order[first[k]] .. order[first[k + 1] - 1], or order[k]
/// where first is null.
struct gather_arrays {
    const std::int32_t* order;
    const std::int32_t* first;
    std::int64_t nonzeros;
};

/// The permutation of a coo_assembly, on a device: 4 bytes an entry, with duplicates 4 more a
/// nonzero, and the values in CSR order.
template <class T>
class value_gather {
public:
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
    std::int64_t entries_;
    buffer<std::int32_t> order_;
    buffer<std::int32_t> first_;
    buffer<T> values_;
};

namespace cuda {

template <class T>
void gather_values(device& device, const gather_arrays& arrays, const T* from, T* to);

} // namespace cuda

} // namespace krylith

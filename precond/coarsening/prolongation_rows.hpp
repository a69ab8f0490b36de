// The rows of P = (I - omega D_F^-1 A_F) T on one device.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

template <class T>
struct prolongation_rows {
    rank_rows a;
    const T* values;
    const T* filtered;             ///< the diagonal of A_F, [rows]
    const std::int32_t* aggregate; ///< [local columns]
    const T* tentative;            ///< [local columns]
    T omega;
    bool smooth;               ///< otherwise P = T
    std::int64_t mean_entries; ///< of a row of A
};

/// The arrays of P on one device, with global columns, which ascend.
template <class T>
struct prolongation_arrays {
    buffer<std::int64_t> offsets;
    buffer<std::int32_t> columns;
    buffer<T> values;
};

/// Makes P, which has so many columns.
template <class T>
[[nodiscard]] prolongation_arrays<T> make_prolongation(const std::shared_ptr<device>& device,
                                                       const prolongation_rows<T>& p,
                                                       std::int64_t columns);

/// Enqueues the values of P anew, whose offsets and number of columns are known.
template <class T>
void refresh_prolongation(device& device, const prolongation_rows<T>& p, std::int64_t columns,
                          const std::int64_t* offsets, T* values);

namespace cuda {
/// Enqueues the numbers of entries of the rows.
template <class T>
void count_prolongation(device& device, const prolongation_rows<T>& p, std::int32_t* counts);
/// Enqueues the entries: columns, unless `columns` is null, and values.
template <class T>
void fill_prolongation(device& device, const prolongation_rows<T>& p, const std::int64_t* offsets,
                       std::int32_t* columns, T* values);
} // namespace cuda

} // namespace krylith::aggregation

// The rows of P = (I - omega D_F^-1 A_F) T on one device.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>
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

/// Enqueues the numbers of entries of the rows.
template <class T>
void count_prolongation(device& device, const prolongation_rows<T>& p, std::int32_t* counts);

/// Enqueues the entries: global columns, ascending, unless `columns` is null, and values.
template <class T>
void fill_prolongation(device& device, const prolongation_rows<T>& p, const std::int64_t* offsets,
                       std::int32_t* columns, T* values);

namespace cuda {
template <class T>
void count_prolongation(device& device, const prolongation_rows<T>& p, std::int32_t* counts);
template <class T>
void fill_prolongation(device& device, const prolongation_rows<T>& p, const std::int64_t* offsets,
                       std::int32_t* columns, T* values);
} // namespace cuda

} // namespace krylith::aggregation

// Kernels of streamed products besides the product itself (merge_product.hpp): pointers of parts,
// products of entries that don't lie by rows, and results. All are enqueued on the device's stream;
// arrays are its own, or peers' that it reads.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/partition/pcsr.hpp>
#include <krylith/spmv/streaming/streamed_device.hpp>

namespace krylith::cuda {

/// to[i], 0 <= i <= majors(): where major index start_major + i begins among the entries of the
/// range. `offsets` are those of the matrix, from that one on. 12 bytes a major index.
void part_pointers(device& device, const std::int64_t* offsets, const major_range& range,
                   std::int32_t* to);

/// The same from the major index of each entry; these ascend. to[i], 0 <= i <= major_size.
/// O(log entries) a major index.
void pointers_of_sorted(device& device, const std::int32_t* major_of, std::int32_t entries,
                        std::int32_t first_major, std::int32_t major_size, std::int32_t* to);

/// The major index of each entry from the pointers: first_major + i for those from pointers[i] on.
/// O(log major_size) an entry.
void majors_of_pointers(device& device, const std::int32_t* pointers, std::int32_t major_size,
                        std::int32_t entries, std::int32_t first_major, std::int32_t* major_of);

/// to[k] = k.
void number(device& device, std::int32_t* to, std::int32_t count);
/// to[k] = 1.
template <class T>
void fill_ones(device& device, T* to, std::int32_t count);

/// to[k] = values[k] x[columns[k]], begin <= k < end. Fp64: 28 bytes an entry where x is cached.
template <class T>
void entry_products(device& device, const T* values, const std::int32_t* columns, const T* x, T* to,
                    std::int32_t begin, std::int32_t end);

/// y[i] = alpha sums[i] + beta y[i], 0 <= i < count, where the last sum has `terms` besides, a
/// number each, in their order. beta = 0 doesn't read y.
template <class T>
void store_rows(device& device, const T* sums, const streamed_terms<T>& terms, std::int64_t count,
                T alpha, T beta, T* y);

/// y[i] = alpha (terms[0][i] + terms[1][i] + ...) + beta y[i], 0 <= i < count, likewise.
template <class T>
void store_range(device& device, const streamed_terms<T>& terms, std::int64_t count, T alpha,
                 T beta, T* y);

/// Temporary memory of sort_by_row.
[[nodiscard]] std::size_t sort_by_row_bytes(device& device, std::int32_t count, std::int64_t rows);

/// Stable: positions[] by rows[], each below `rows_below`. Only the bits of rows are looked at.
void sort_by_row(device& device, const std::int32_t* rows, std::int32_t* sorted_rows,
                 const std::int32_t* positions, std::int32_t* sorted_positions, std::int32_t count,
                 std::int64_t rows_below, void* temporary, std::size_t bytes);

} // namespace krylith::cuda

// A coarse level that lies on the first device alone, below one that is spread over all devices.
// What is made of it is made there: its set-up and its part of a cycle have no exchanges, and one
// device is given kernels in place of all. Of several drivers all go through the set-up, with the
// numbers that the one has which drives this device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/sparse/format.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::detail {

/// A layout with all rows on the first device.
[[nodiscard]] layout_handle on_first_device(const communicator& comm, std::int64_t rows,
                                            coherence kind);

/// Returns a square matrix on the first device alone (communicator::sub()). Enqueued. Collective,
/// as all functions here.
template <class W>
[[nodiscard]] distributed_csr<W> gather(const distributed_csr<W>& spread);

/// Enqueues copies of numbers of the rows that lie on the first device: [rank] those of its rows.
[[nodiscard]] std::vector<buffer<double>> scatter_numbers(const layout& spread,
                                                          const buffer<double>& gathered);

/// Enqueues copies on the first device of numbers that ranks have of their rows: from[rank] has
/// `numbers` of each row, as `to` has of all, which its driver gives.
template <class W>
void gather_numbers(const layout& spread, const std::vector<const W*>& from, std::int64_t numbers,
                    W* to);

/// The operator that copies vectors of `spread` to those of `range`, which has the same rows on the
/// first device.
template <class W>
[[nodiscard]] std::unique_ptr<matrix_operator<W>> make_copying_operator(const layout_handle& spread,
                                                                        const layout_handle& range);

} // namespace krylith::detail

// The near-null vectors that the user gives, on the devices, and how levels take them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/amg/scaled_level.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::detail {

/// Vectors of the rows of each rank. Copies share them.
template <class W>
struct near_null_space {
    int block = 1;   ///< rows of a node
    int vectors = 1; ///< of which nothing is known where it is empty
    /// [rank] on the rank's rows, [rows][vectors]; null where none were given
    std::shared_ptr<const std::vector<buffer<W>>> values;

    [[nodiscard]] bool empty() const noexcept { return !values; }
    /// The bytes on the device that keeps most.
    [[nodiscard]] std::int64_t bytes() const;
};

/// Uploads the vectors of the options, each divided by its largest entry, or a constant of each
/// unknown of a node where there are none; empty for nodes of one row without vectors. Where the
/// layout has an order of its own, or ranks that begin inside a node, nodes are single rows. Throws
/// usage_error for a block_size that does not divide the rows, vectors of another size, too many of
/// them, and one that is 0 or not finite.
template <class W>
[[nodiscard]] near_null_space<W> make_near_null_space(const layout& layout,
                                                      const amg_options& options);

/// The same vectors in another precision, from memory of the devices.
template <class W, class From>
[[nodiscard]] near_null_space<W> in_precision(const communicator& comm,
                                              const near_null_space<From>& given);

/// Enqueues to = factor v / scale, row by row, for `vectors` numbers a row.
template <class W>
void scale_vectors(device& on, std::int64_t rows, int vectors, double factor, const W* v,
                   const double* scale, W* to);

/// The vectors in the variables of B = S A S / rho; 0 in rows with nothing but a diagonal entry, as
/// Dirichlet conditions leave them.
template <class W>
[[nodiscard]] std::vector<buffer<W>> scaled_vectors(const near_null_space<W>& given,
                                                    const distributed_csr<W>& b,
                                                    const diagonal_scaling& by);

} // namespace krylith::detail

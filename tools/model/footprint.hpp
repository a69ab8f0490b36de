// What an iteration moves and a solve keeps on devices, by models: the memory of each, and the
// bytes of an iteration.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/tools/model/method_model.hpp>

namespace krylith::tool {

/// Of the device that needs most. Matrix bytes are those that a product reads, padding included;
/// on host devices there is csr only.
struct footprint {
    int devices = 1;
    operator_kind kind = operator_kind::halo;
    bool automatic = false; ///< what `auto` takes
    std::int64_t value_bytes = 8;
    std::int64_t csr_bytes = 0;
    std::int64_t sell_bytes = 0;
    std::int64_t cusparse_bytes = 0;
    double sell_padding = 0;                     ///< share of the entries stored
    format_kind cuda_format = format_kind::sell; ///< what `auto` takes on CUDA devices: merge or
                                                 ///< csr if one of them has it, in this order
    /// Entries of a vector on a device, those it receives for each product, and those of its rows
    /// of the matrix.
    struct part {
        std::int64_t held;
        std::int64_t received;
        std::int64_t nnz;
    };
    std::vector<part> parts;
    std::int64_t owned = 0;    ///< rows
    std::int64_t held = 0;     ///< entries of a vector, ghosts not counted
    std::int64_t received = 0; ///< entries for each product, the sum of all devices in `moved`
    std::int64_t moved = 0;

    /// b, x, the solver's vectors, and what the preconditioner of `m` keeps (on the right). Throws
    /// std::bad_optional_access where that has no model.
    [[nodiscard]] std::int64_t vector_bytes(const method& m) const;
    /// Read and written by an iteration, with the format that `auto` takes on CUDA devices. Throws
    /// std::bad_optional_access where no model has been worked out.
    [[nodiscard]] double iteration_bytes(const method& m) const;
};

/// For each count: halo, nz and allgather, or one for a single device; `automatic` at these rates.
/// The matrix must be square and canonical. O(nnz) a count.
template <class T>
[[nodiscard]] std::vector<footprint> footprints(const csr_view<T>& matrix,
                                                std::span<const int> device_counts,
                                                const machine_rates& rates = h200_rates());

} // namespace krylith::tool

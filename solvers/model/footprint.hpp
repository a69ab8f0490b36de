// What an iteration moves and a solve keeps on devices, by models: the memory of each, and the
// bytes of an iteration.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/solvers/model/method_model.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::model {

/// Bytes of a solve on a device, the matrix left out.
struct method_bytes {
    std::int64_t given = 0;     ///< b and x
    std::int64_t workspace = 0; ///< the solver's vectors
    std::int64_t preconditioner = 0;

    [[nodiscard]] std::int64_t total() const { return given + workspace + preconditioner; }
};

/// Of the device that needs most. Matrix bytes are those that a product reads, padding included.
struct footprint {
    int devices = 1;
    operator_kind kind = operators::usual;
    bool automatic = false; ///< what `auto` takes
    std::int64_t value_bytes = 8;
    /// Bytes of the matrix in each format, in the order of formats::all.
    std::array<std::int64_t, formats::all.size()> format_bytes = {};
    double sell_padding = 0; ///< fraction of the entries stored
    /// What `auto` takes on CUDA devices: the least regular format that one of them has.
    format_kind cuda_format;
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

    [[nodiscard]] std::int64_t& matrix_bytes(format_kind format);
    [[nodiscard]] std::int64_t matrix_bytes(format_kind format) const;
    /// What a solve keeps beside the matrix, with the preconditioner on the right. Throws
    /// usage_error where the preconditioner has no model.
    [[nodiscard]] method_bytes bytes_of(const method& m) const;
    [[nodiscard]] std::int64_t vector_bytes(const method& m) const { return bytes_of(m).total(); }
    /// Read and written by an iteration, with the format that `auto` takes on CUDA devices. Throws
    /// std::bad_optional_access where no model has been worked out.
    [[nodiscard]] double iteration_bytes(const method& m) const;
};

/// For each count: the operators that are listed and say what is received (operator_method), or one
/// for a single device; `automatic` at these rates. The matrix must be square and canonical. O(nnz)
/// a count.
template <class T>
[[nodiscard]] std::vector<footprint> footprints(const csr_view<T>& matrix,
                                                std::span<const int> device_counts,
                                                const machine_rates& rates = h200_rates());

} // namespace krylith::model

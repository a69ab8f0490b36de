// What an iteration moves and a solve keeps, by models: bytes of a product and of an iteration, and
// memory by device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::tool {

/// What an iteration depends on beside the matrix.
struct method {
    std::string_view solver;
    std::string_view preconditioner;
    std::int64_t restart = 0;    ///< gmres
    std::int64_t iterations = 0; ///< gmres: of the whole solve, of which the mean is taken
};

/// Products with A in an iteration.
[[nodiscard]] int products(const method& m);

/// How often an iteration reads or writes a whole vector, its products left out; nothing where no
/// model has been worked out.
[[nodiscard]] std::optional<double> vector_passes(const method& m);

/// A matrix in CSR with values of `value_bytes`: values and 4-byte columns, and 4 bytes a row.
struct traffic {
    std::int64_t rows;
    std::int64_t nnz;
    std::int64_t value_bytes;
    std::int64_t columns = -1; ///< -1: as many as rows

    /// y = alpha A x + beta y; y is read unless beta = 0.
    [[nodiscard]] double product(bool reads_y = false) const;
    /// One iteration; nothing where no model has been worked out.
    [[nodiscard]] std::optional<double> iteration(const method& m) const;

private:
    [[nodiscard]] std::int64_t columns_or_rows() const { return columns < 0 ? rows : columns; }
};

/// Of the device that needs most. Matrix bytes are those that a product reads, padding included;
/// on host devices there is csr only.
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
    /// Entries of a vector on a device, and those it receives for each product.
    struct part {
        std::int64_t held;
        std::int64_t received;
    };
    std::vector<part> parts;
    std::int64_t owned = 0;    ///< rows
    std::int64_t held = 0;     ///< entries of a vector, ghosts not counted
    std::int64_t received = 0; ///< entries for each product, the sum of all devices in `moved`
    std::int64_t moved = 0;

    [[nodiscard]] std::int64_t& matrix_bytes(format_kind format);
    [[nodiscard]] std::int64_t matrix_bytes(format_kind format) const;
    /// b, x, the diagonal of Jacobi if `m` has it (on the right), and the solver's vectors.
    [[nodiscard]] std::int64_t vector_bytes(const method& m) const;
    /// Read and written by an iteration, with the format that `auto` takes on CUDA devices.
    /// Without preconditioner, except for cg. Throws std::bad_optional_access for other solvers.
    [[nodiscard]] double iteration_bytes(const method& m) const;
};

/// For each count: the operators that are listed (operator_method), or one for a single device;
/// `automatic` at these rates.
/// The matrix must be square and canonical. O(nnz) a count.
template <class T>
[[nodiscard]] std::vector<footprint> footprints(const csr_view<T>& matrix,
                                                std::span<const int> device_counts,
                                                const machine_rates& rates = h200_rates());

} // namespace krylith::tool

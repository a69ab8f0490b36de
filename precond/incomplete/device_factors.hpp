// Incomplete factors without fill of all devices' blocks: what ilu0 and ic0 have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/precond/incomplete/block_vectors.hpp>
#include <krylith/precond/incomplete/elimination_order.hpp>
#include <krylith/precond/incomplete/factor_block.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/vector/kept/recording_identity.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith::incomplete {

/// What a preconditioner asks of its factors.
struct factor_request {
    std::string who; ///< its name, for messages
    elimination_order order = elimination_order::automatic;
    factor_rule rule;
    int overlap = 0; ///< rings of rows that blocks have besides their own, on several devices
};

template <class T>
class device_factors {
public:
    /// The matrix is in host memory, in the caller's order of rows, or its rows lie on the devices.
    device_factors(layout_handle layout, const csr_view<T>& matrix, const factor_request& request);
    device_factors(layout_handle layout, std::span<const csr_part<T>> parts,
                   const factor_request& request);

    /// Takes new values without a new analysis, or another pattern with one; `identity` is renewed
    /// by the latter. A refused matrix changes nothing.
    void update(const csr_view<T>& matrix, recording_identity& identity);
    void update(std::span<const csr_part<T>> parts, recording_identity& identity);
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) const;

    [[nodiscard]] std::int64_t bytes() const;
    [[nodiscard]] std::int64_t nonzeros() const;
    /// The order that was taken: never `automatic`.
    [[nodiscard]] elimination_order order() const { return made_.order; }
    [[nodiscard]] int colours() const { return made_.colours; }
    /// Of the device that has most; 0 where none needed to know.
    [[nodiscard]] std::int64_t levels() const;
    [[nodiscard]] std::string reason() const;
    [[nodiscard]] int kernels() const;
    [[nodiscard]] const factor_block<T>& block(int rank) const {
        return *made_.blocks[static_cast<std::size_t>(rank)];
    }

private:
    using block_list = std::vector<std::unique_ptr<factor_block<T>>>; ///< [ranks]
    struct result {
        block_list blocks;
        elimination_order order = elimination_order::natural;
        int colours = 0;
        std::string reason;
        std::unique_ptr<block_vectors<T>> vectors;
    };
    using matrix_list = std::vector<distributed_csr<T>>;
    struct given_blocks {
        /// One matrix over the devices, or one on each device: the whole, or an overlapping block.
        matrix_list matrices;
        std::vector<local_columns> rows; ///< [ranks] of overlapping blocks, or empty
    };
    template <class Matrix>
    [[nodiscard]] given_blocks on_devices(const Matrix& matrix) const;
    [[nodiscard]] static std::size_t from(const matrix_list& given, int rank) {
        return given.size() == 1 ? 0 : static_cast<std::size_t>(rank);
    }
    void update(const given_blocks& given, recording_identity& identity);
    [[nodiscard]] block_list lay_out(const matrix_list& given,
                                     const std::vector<row_colours>& colours) const;
    [[nodiscard]] bool take_colours(const matrix_list& given, std::string& reason) const;
    [[nodiscard]] result make(const given_blocks& given) const;
    void factor(const result& made) const;

    layout_handle layout_;
    factor_request request_;
    result made_;
};

} // namespace krylith::incomplete

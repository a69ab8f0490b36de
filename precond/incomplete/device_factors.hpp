// Incomplete factors without fill of all devices' blocks: what ilu0 and ic0 have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/precond/incomplete/block_vectors.hpp>
#include <krylith/precond/incomplete/elimination_order.hpp>
#include <krylith/precond/incomplete/factor_block.hpp>
#include <krylith/precond/matrix/matrix_preconditioner.hpp>

namespace krylith::incomplete {

/// What a preconditioner asks of its factors.
struct factor_request {
    std::string who; ///< its name, for messages
    elimination_order order = elimination_order::automatic;
    factor_rule rule;
    int overlap = 0; ///< rings of rows that blocks have besides their own, on several devices
};

template <class T>
class device_factors final : public detail::matrix_work<T> {
public:
    device_factors(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                   const factor_request& request);

    /// Takes new values without a new analysis, or another pattern with one.
    bool update(const matrix_ref<T>& matrix) override;
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) override;
    [[nodiscard]] bool recordable() const override { return true; }
    [[nodiscard]] int kernels() const override;
    [[nodiscard]] std::int64_t bytes() const override;

    /// Of all devices' factors.
    [[nodiscard]] std::int64_t nonzeros() const { return made_.nonzeros; }
    /// The order that was taken: never `automatic`.
    [[nodiscard]] elimination_order order() const { return made_.order; }
    [[nodiscard]] int colours() const { return made_.colours; }
    /// Of the local device that has most; 0 where none needed to know.
    [[nodiscard]] std::int64_t levels() const;
    [[nodiscard]] std::string reason() const;
    [[nodiscard]] const factor_block<T>& block(int rank) const {
        return *made_.blocks[static_cast<std::size_t>(rank)];
    }

private:
    using block_list = std::vector<std::unique_ptr<factor_block<T>>>; ///< [ranks]
    struct result {
        block_list blocks;
        elimination_order order = elimination_order::natural;
        int colours = 0;
        std::int64_t nonzeros = 0;
        std::string reason;
        std::unique_ptr<block_vectors<T>> vectors;
    };
    using matrix_list = std::vector<distributed_csr<T>>;
    struct given_blocks {
        /// One matrix over the devices, or one on each device: the whole, or an overlapping block.
        matrix_list matrices;
        std::vector<local_columns> rows; ///< [ranks] of overlapping blocks, or empty
    };
    /// Which matrix, and rank of that matrix, has the block of a rank.
    struct block_place {
        std::size_t matrix;
        int rank;
    };
    [[nodiscard]] given_blocks blocks_of(const matrix_ref<T>& matrix) const;
    [[nodiscard]] static block_place place_of(const matrix_list& given, int rank) {
        if (given.size() == 1) return {0, rank};
        return {static_cast<std::size_t>(rank), 0};
    }
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

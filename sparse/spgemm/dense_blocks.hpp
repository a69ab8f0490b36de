// Factors of a product that consist of small dense blocks, as matrices of nodes with several
// unknowns do: A of rows x inner blocks, B of inner x columns blocks.
//
// The pattern of C is found among blocks then, of which there are rows * inner * columns times
// fewer products, and the numeric phase looks for the place of a block once (the blocked formats of
// Im, Yelick, Vuduc, Sparsity: optimization framework for sparse matrix kernels, IJHPCA 18, 2004,
// in a product).
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::cuda {

/// The most rows or columns of a block.
inline constexpr int most_of_block = 12;

/// The sizes of blocks; plain data for kernels.
struct block_sizes {
    int rows = 1;    ///< of A and C
    int inner = 1;   ///< columns of A, rows of B
    int columns = 1; ///< of B and C

    /// Whether all are worth it.
    [[nodiscard]] bool dense() const noexcept { return rows > 1 && inner > 1 && columns > 1; }
};

/// The pattern of the blocks of a matrix, in the order of its entries.
struct block_pattern {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    buffer<std::int64_t> offsets; ///< [rows + 1]
    buffer<std::int32_t> indices;

    bool ascends = false; ///< as csr_pattern has it

    [[nodiscard]] csr_pattern view() const {
        return {rows,           columns,        static_cast<std::int64_t>(indices.size()),
                offsets.data(), indices.data(), ascends};
    }
    [[nodiscard]] std::int64_t bytes() const noexcept {
        return static_cast<std::int64_t>(offsets.size() * sizeof(std::int64_t) +
                                         indices.size() * sizeof(std::int32_t));
    }
};

/// What the patterns of blocks of both take at most; 0 where rows are too short for blocks.
[[nodiscard]] std::int64_t most_block_bytes(const csr_pattern& a, const csr_pattern& b) noexcept;

/// Finds the largest blocks of which A and B consist, each up to most_of_block: all 1 where there
/// are none, or blocks of B do not ascend. Looks at 64 rows of each first, and at all where these
/// have blocks; waits for the device.
[[nodiscard]] block_sizes find_dense_blocks(const std::shared_ptr<device>& device,
                                            const csr_pattern& a, const csr_pattern& b);

/// The pattern of blocks of rows x columns, which ascend where `ascends`; enqueued.
[[nodiscard]] block_pattern blocks_of(const std::shared_ptr<device>& device, const csr_pattern& of,
                                      int rows, int columns, bool ascends);

/// Writes the pattern of entries of blocks of rows x columns; enqueued.
void expand_blocks(device& device, const csr_pattern& blocks, int rows, int columns,
                   std::int64_t* offsets, std::int32_t* indices);

} // namespace krylith::cuda

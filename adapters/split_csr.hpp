// Own rows in the form that PETSc's MPIAIJ, hypre's ParCSR and DOLFINx's MatrixCSR have in common:
// columns that the process owns have local numbers, others stand in a map of global ones.
//
//     const std::span<const int> map(global_columns); // of the columns of the other block
//     split_csr<double> mine(rows, owned, csr_block{di, dj, da}, csr_block{oi, oj, oa}, map);
//     parts[rank] = mine.part();
//     distributed_csr<double> matrix(comm, parts, columns);
//     const auto a = make_operator(matrix);
//
// After another assembly:
//
//     mine.update(new_diag, new_offd);
//     matrix.update_local(mine.values());
//     a->update_on_devices(matrix.values());
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Rows in arrays of another program, with indices of any width. The entries of row i are
/// [row_offsets[i], row_offsets[i + 1]) of the other arrays.
template <class T, std::integral Offset, std::integral Column>
struct csr_block {
    const Offset* row_offsets = nullptr;    ///< [rows + 1]
    const Column* column_indices = nullptr; ///< local numbers, in any order within a row
    const T* values = nullptr;
};

template <class T, class Offset, class Column>
csr_block(const Offset*, const Column*, const T*) -> csr_block<T, Offset, Column>;

/// Such rows with global columns, which ascend in each row, in arrays of its own: 8 bytes a row and
/// 24 an entry (fp64), of which 8 say where the entries were.
template <class T>
class split_csr {
public:
    /// Two blocks, as PETSc's MPIAIJ and hypre's ParCSR have: column c of `diag` is
    /// owned_columns.begin + c, column c of `offd` is column_map[c]. O(entries log(row length)).
    /// Throws usage_error for a null pointer that is needed, and input_error for offsets that
    /// descend and columns that a block can't have, naming block, row and entry. The caller's
    /// arrays may go afterwards.
    template <class Offset, class Column, class OffdOffset, class OffdColumn, class Global>
    split_csr(std::int64_t rows, row_range owned_columns, const csr_block<T, Offset, Column>& diag,
              const csr_block<T, OffdOffset, OffdColumn>& offd, std::span<const Global> column_map)
        : rows_(rows) {
        const auto own = [&](std::int64_t c) { return owned_columns.begin + c; };
        const auto mapped = [&](std::int64_t c) {
            return static_cast<std::int64_t>(column_map[as_size(c)]);
        };
        first_entries_ = entries_of("diag", diag);
        const std::int64_t more = entries_of("offd", offd);
        begin(first_entries_ + more);
        for (std::int64_t row = 0; row < rows; ++row) {
            take("diag", diag, row, owned_columns.size(), 0, own);
            take("offd", offd, row, static_cast<std::int64_t>(column_map.size()), first_entries_,
                 mapped);
            end_row();
        }
        update(values_of(diag, first_entries_), values_of(offd, more));
    }

    /// One block, as DOLFINx's MatrixCSR has: columns below the number of owned ones are
    /// owned_columns.begin + c, others ghosts[c - owned_columns.size()]. Costs, and throws, the
    /// same.
    template <class Offset, class Column, class Global>
    split_csr(std::int64_t rows, row_range owned_columns, const csr_block<T, Offset, Column>& local,
              std::span<const Global> ghosts)
        : rows_(rows) {
        const std::int64_t owned = owned_columns.size();
        first_entries_ = entries_of("local", local);
        begin(first_entries_);
        for (std::int64_t row = 0; row < rows; ++row) {
            take("local", local, row, owned + static_cast<std::int64_t>(ghosts.size()), 0,
                 [&](std::int64_t c) {
                     return c < owned ? owned_columns.begin + c
                                      : static_cast<std::int64_t>(ghosts[as_size(c - owned)]);
                 });
            end_row();
        }
        update(values_of(local, first_entries_));
    }

    /// Refers to the arrays here, which stay where they are until this object goes.
    [[nodiscard]] csr_part<T> part() const {
        return {rows_, offsets_.data(), columns_.data(), values_.data()};
    }
    /// [entries] in the order of part().
    [[nodiscard]] std::span<const T> values() const noexcept { return values_; }

    /// New values of the same entries, from the first one on of each block; `offd` is empty where
    /// there is one block. Throws usage_error for other numbers of them.
    void update(std::span<const T> first, std::span<const T> offd = {}) {
        check_count(first.size(), first_entries_);
        check_count(offd.size(), static_cast<std::int64_t>(values_.size()) - first_entries_);
        const auto count = static_cast<std::int64_t>(values_.size());
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t from = sources_[as_size(k)];
            values_[as_size(k)] =
                from < first_entries_ ? first[as_size(from)] : offd[as_size(from - first_entries_)];
        }
    }

private:
    static void refuse(const char* block, std::int64_t row, const std::string& what) {
        throw input_error(std::string("split_csr: ") + block + ": row " + std::to_string(row) +
                          what);
    }
    static void check_count(std::size_t given, std::int64_t needed) {
        if (static_cast<std::int64_t>(given) != needed)
            throw usage_error("split_csr: " + std::to_string(given) + " values for " +
                              std::to_string(needed) + " entries");
    }
    template <class Block>
    [[nodiscard]] std::int64_t entries_of(const char* name, const Block& block) const {
        if (rows_ < 0)
            throw usage_error("split_csr: rows is " + std::to_string(rows_) +
                              ", allowed are 0 and more");
        if (rows_ == 0) return 0;
        if (block.row_offsets == nullptr)
            throw usage_error(std::string("split_csr: ") + name + ": row_offsets is null");
        for (std::int64_t row = 0; row < rows_; ++row)
            if (block.row_offsets[row] > block.row_offsets[row + 1])
                refuse(name, row,
                       " starts at " + std::to_string(block.row_offsets[row]) + " and ends at " +
                           std::to_string(block.row_offsets[row + 1]) +
                           ": allowed are row_offsets that don't descend");
        const auto count = static_cast<std::int64_t>(block.row_offsets[rows_]) -
                           static_cast<std::int64_t>(block.row_offsets[0]);
        if (count != 0 && (block.column_indices == nullptr || block.values == nullptr))
            throw usage_error(std::string("split_csr: ") + name +
                              ": column_indices or values is null");
        return count;
    }
    template <class Block>
    [[nodiscard]] std::span<const T> values_of(const Block& block, std::int64_t count) const {
        if (count == 0) return {};
        return {block.values + block.row_offsets[0], as_size(count)};
    }
    void begin(std::int64_t entries) {
        offsets_.reserve(as_size(rows_) + 1);
        columns_.reserve(as_size(entries));
        sources_.reserve(as_size(entries));
        values_.resize(as_size(entries));
    }
    /// Adds a row of a block, whose entry 0 is number `before`.
    template <class Block, class ToGlobal>
    void take(const char* name, const Block& block, std::int64_t row, std::int64_t columns,
              std::int64_t before, const ToGlobal& global) {
        for (auto k = block.row_offsets[row]; k < block.row_offsets[row + 1]; ++k) {
            const auto column = static_cast<std::int64_t>(block.column_indices[k]);
            if (column < 0 || column >= columns)
                refuse(name, row,
                       " has column " + std::to_string(column) +
                           ", allowed are 0 and more, below " + std::to_string(columns));
            row_.emplace_back(global(column),
                              before + static_cast<std::int64_t>(k - block.row_offsets[0]));
        }
    }
    void end_row() {
        std::ranges::sort(row_); // entries of one place stay in the order of the blocks
        for (const auto& [column, source] : row_) {
            columns_.push_back(column);
            sources_.push_back(source);
        }
        row_.clear();
        offsets_.push_back(static_cast<std::int64_t>(columns_.size()));
    }

    std::int64_t rows_;
    std::int64_t first_entries_ = 0; ///< of the first block
    std::vector<std::int64_t> offsets_{0};
    std::vector<std::int64_t> columns_; ///< global
    std::vector<std::int64_t> sources_; ///< entries of the first block, then those of the other
    std::vector<T> values_;
    std::vector<std::pair<std::int64_t, std::int64_t>> row_; ///< while one is made
};

} // namespace krylith

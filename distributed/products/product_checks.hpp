// What products over a group check of the matrices that they are given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/spgemm/spgemm_phases.hpp>

namespace krylith {

/// Throws usage_error for a matrix that has no group.
template <class T>
void need_group(const char* who, const distributed_csr<T>& a) {
    if (a.row_owners().ranks() == 0)
        throw usage_error(std::string(who) + ": a matrix is empty: it is on no devices");
}

/// Throws input_error, which names the first row of a rank whose columns don't ascend, if there is
/// one. Waits for the device.
template <class T>
void check_order(const char* who, const char* name, const distributed_csr<T>& a, int rank) {
    if (columns_ascend(a.comm().handle(rank), a.block(rank).pattern())) return;
    const csr_matrix<T> rows = a.block(rank).download();
    const local_columns& columns = a.columns_of(rank); // which ascend as the global ones do
    for (std::int64_t i = 0; i < rows.rows; ++i)
        for (auto k = as_size(rows.row_offsets[as_size(i)]) + 1;
             k < as_size(rows.row_offsets[as_size(i) + 1]); ++k)
            if (const std::int32_t before = rows.column_indices[k - 1];
                before >= rows.column_indices[k])
                detail::refuse_order(who, name, a.row_owners().owned(rank).begin + i,
                                     columns.global(before),
                                     columns.global(rows.column_indices[k]));
}

/// The sizes of the blocks of a matrix, by which plans know it again.
class planned_blocks {
public:
    planned_blocks() = default;
    template <class T>
    explicit planned_blocks(const distributed_csr<T>& a)
        : rows_(a.row_owners()), columns_(a.column_owners()) {
        nonzeros_.assign(a.nonzeros_of().begin(), a.nonzeros_of().end());
    }

    /// Throws usage_error, which names the matrix, where sizes or the group differ.
    template <class T>
    void check(const char* who, const char* name, const communicator& comm,
               const distributed_csr<T>& a) const {
        need_group(who, a);
        const auto refuse = [&](const std::string& what) {
            throw usage_error(std::string(who) + ": " + name + " " + what);
        };
        if (a.comm() != comm) refuse("is on another group than the matrices of the plan");
        if (a.row_owners() != rows_ || a.column_owners() != columns_)
            refuse("has other partitions than the matrix of the plan");
        for (const int rank : comm.local()) {
            const std::int64_t planned = nonzeros_[static_cast<std::size_t>(rank)];
            if (a.block(rank).nonzeros() != planned)
                refuse("has " + std::to_string(a.block(rank).nonzeros()) + " nonzeros on rank " +
                       std::to_string(rank) + "; the plan was made for " + std::to_string(planned));
        }
    }

private:
    row_partition rows_;
    row_partition columns_;
    std::vector<std::int64_t> nonzeros_;
};

} // namespace krylith

// What products over a group check of the matrices that they are given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_csr.hpp>

namespace krylith {

/// Throws usage_error for a matrix that has no group.
template <class T>
void need_group(const char* who, const distributed_csr<T>& a) {
    if (a.row_owners().ranks() == 0)
        throw usage_error(std::string(who) + ": a matrix is empty: it is on no devices");
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

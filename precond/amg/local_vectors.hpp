// Vectors of a level with the entries that matrices of the level reach on other devices.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>

namespace krylith::detail {

/// Returns v, given on the rows of each rank, by the local columns of B. Enqueued on the devices.
template <class W>
[[nodiscard]] std::vector<buffer<W>> by_local_columns(const distributed_csr<W>& b,
                                                      const std::vector<buffer<W>>& v) {
    const communicator& comm = b.comm();
    auto local = by_rank(comm, [&](int rank) {
        const local_columns& columns = b.columns_of(rank);
        buffer<W> all(comm.handle(rank), static_cast<std::size_t>(columns.count()),
                      "preconditioner");
        const auto& own = v[static_cast<std::size_t>(rank)];
        if (own.size() != 0)
            comm[rank].copy(all.data() + columns.first_owned(), own.data(), own.size() * sizeof(W));
        return all;
    });
    exchange_of_ghosts(b).fetch(local);
    return local;
}

} // namespace krylith::detail

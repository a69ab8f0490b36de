#include <krylith/precond/amg/gathered_level.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <krylith/comm/exchange/exchange.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/distributed/products/identity_block.hpp>
#include <krylith/distributed/products/whole_matrix.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/amg/level_operators.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

namespace {

row_partition all_on_first(std::int64_t rows, int ranks) {
    row_partition result;
    result.begin.resize(as_size(ranks) + 1, rows);
    return result;
}

} // namespace

layout_handle on_first_device(const communicator& comm, std::int64_t rows, coherence kind) {
    return std::make_shared<const layout>(layout{comm, all_on_first(rows, comm.ranks()), kind});
}

template <class W>
distributed_csr<W> gather(const distributed_csr<W>& spread) {
    std::vector<device_csr<W>> block;
    block.push_back(whole_on(0, spread));
    block.back().set_ascending(true);
    const row_partition all = all_on_first(spread.rows(), 1);
    return {spread.comm().sub(std::array{0}),
            all,
            all,
            std::move(block),
            {local_columns(nullptr, all.owned(0), {})}};
}

std::vector<buffer<double>> scatter_numbers(const layout& spread, const buffer<double>& gathered) {
    const communicator& comm = spread.comm;
    auto result = by_rank(comm, [&](int rank) {
        return buffer<double>(comm.handle(rank), as_size(spread.rows.owned(rank).size()),
                              precond_item);
    });
    gather_to(0, comm, spread.rows.begin)
        .inverse()
        .fetch(only_on(comm, 0, gathered.data()), pointers_of(result));
    return result;
}

template <class W>
void gather_numbers(const layout& spread, const std::vector<const W*>& from, std::int64_t numbers,
                    W* to) {
    gather_to(0, spread.comm, spread.rows.begin).fetch(from, only_on(spread.comm, 0, to), numbers);
}

template <class W>
std::unique_ptr<matrix_operator<W>> make_copying_operator(const layout_handle& spread,
                                                          const layout_handle& range) {
    const communicator& comm = range->comm;
    auto columns = by_rank(comm, [&](int rank) {
        const row_range rows = range->rows.owned(rank);
        const row_range owned = spread->rows.owned(rank);
        std::vector<std::int64_t> ghosts; // on the first rank: what it does not own
        for (std::int64_t i = owned.end; rows.size() != 0 && i < rows.end; ++i) ghosts.push_back(i);
        return local_columns(comm.handle(rank), owned, std::move(ghosts));
    });
    auto blocks = by_rank(comm, [&](int rank) {
        return identity_block<W>(comm.handle(rank), range->rows.owned(rank).size(),
                                 columns[as_size(rank)].count());
    });
    const distributed_csr<W> identity(comm, range->rows, spread->rows, std::move(blocks),
                                      std::move(columns));
    return make_level_operator<W>(spread, range, identity, formats::csr);
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template struct instances<gather<W>, gather_numbers<W>, make_copying_operator<W>>;

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail

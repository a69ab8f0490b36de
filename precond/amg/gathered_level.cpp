#include <krylith/precond/amg/gathered_level.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/settled_on_failure.hpp>
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

layout_handle on_first_device(const device_group& group, std::int64_t rows, coherence kind) {
    return std::make_shared<const layout>(layout{group, all_on_first(rows, group.size()), kind});
}

template <class W>
distributed_csr<W> gather(const distributed_csr<W>& spread) {
    std::vector<device_csr<W>> block;
    block.push_back(whole_on(0, spread));
    block.back().set_ascending(true);
    const row_partition all = all_on_first(spread.rows(), 1);
    std::vector<local_columns> numbers{local_columns(spread.group().handle(0), all.owned(0), {})};
    return {spread.group().alone(0), all, all, std::move(block), std::move(numbers)};
}

std::vector<buffer<double>> scatter_numbers(const layout& spread, const buffer<double>& gathered) {
    const device_group& group = spread.group;
    std::vector<buffer<double>> result;
    for (int rank = 0; rank < group.size(); ++rank)
        result.emplace_back(group.handle(rank), as_size(spread.rows.owned(rank).size()),
                            precond_item);
    const settled_on_failure settled(group);
    group.join();
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto& to = result[as_size(rank)];
        group.copy(0, gathered.data() + spread.rows.owned(rank).begin, rank, to.data(),
                   to.size() * sizeof(double));
    }
    group.join();
    return result;
}

template <class W>
void gather_numbers(const layout& spread, std::span<const W* const> from, std::int64_t numbers,
                    W* to) {
    const device_group& group = spread.group;
    const settled_on_failure settled(group);
    group.join();
    for (int rank = 0; rank < group.size(); ++rank) {
        const row_range rows = spread.rows.owned(rank);
        group.copy(rank, from[as_size(rank)], 0, to + rows.begin * numbers,
                   as_size(rows.size() * numbers) * sizeof(W));
    }
    group.join();
}

template <class W>
std::unique_ptr<matrix_operator<W>> make_copying_operator(const layout_handle& spread,
                                                          const layout_handle& range) {
    const device_group& group = range->group;
    std::vector<device_csr<W>> blocks;
    std::vector<local_columns> columns;
    for (int rank = 0; rank < group.size(); ++rank) {
        const row_range rows = range->rows.owned(rank);
        const row_range owned = spread->rows.owned(rank);
        std::vector<std::int32_t> ghosts; // on the first rank: what it does not own
        for (std::int64_t i = owned.end; rows.size() != 0 && i < rows.end; ++i)
            ghosts.push_back(static_cast<std::int32_t>(i));
        columns.emplace_back(group.handle(rank), owned, ghosts);
        blocks.push_back(
            identity_block<W>(group.handle(rank), rows.size(), columns.back().count()));
    }
    const distributed_csr<W> identity(group, range->rows, spread->rows, std::move(blocks),
                                      std::move(columns));
    return make_level_operator<W>(spread, range, identity, formats::csr);
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template struct instances<gather<W>, gather_numbers<W>, make_copying_operator<W>>;

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail

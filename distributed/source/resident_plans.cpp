// Plans and local columns that devices make of their patterns.
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/distributed/source/resident_matrix.hpp>

#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA

#include <string>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/distributed/source/scattered_entries.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// The numbers of owned columns among those of a rank's entries.
row_range owned_numbers(const resident_rows& mine, row_range owned) {
    if (!mine.numbers) return owned;
    const std::int64_t first = mine.numbers->first_owned();
    return {first, first + owned.size()};
}

/// Finds the rows that touch ghosts, and the ghosts if they are wanted and not known. Returns the
/// rows that touch none.
std::int64_t find_ghosts(resident_matrix& matrix, int rank, row_range owned, bool listed) {
    resident_rows& mine = matrix.parts[static_cast<std::size_t>(rank)];
    const std::int64_t rows = mine.lengths.rows;
    if (matrix.comm.ranks() == 1) return rows; // it owns all columns
    const auto& device = matrix.comm.handle(rank);
    mine.touches_ghost = buffer<std::uint8_t>(device, as_size(rows), set_up_item);
    mine.ghosts = {};
    listed = listed && !mine.numbers;
    return cuda::find_ghosts(device, mine.csr(), owned_numbers(mine, owned), matrix.columns,
                             listed ? &mine.ghosts : nullptr, mine.touches_ghost.data());
}

} // namespace

double scattered_fraction(const resident_matrix& matrix, int rank, std::int64_t value_bytes) {
    const resident_rows& mine = matrix.parts[as_size(rank)];
    const auto first = sampled_rows({0, mine.lengths.rows});
    const auto columns =
        cuda::first_columns(matrix.comm.handle(rank), mine.csr(), first, most_sampled_entries);
    std::vector<sampled_pair> sample;
    for (std::size_t k = 0; k < first.size(); ++k) sample.push_back({columns[k][0], columns[k][1]});
    return scattered_fraction(sample, value_bytes);
}

halo_plan make_halo_plan(resident_matrix& matrix, row_partition of_rows, row_partition of_columns) {
    halo_plan plan{std::move(of_rows), {}, {}};
    plan.boundary.resize(matrix.parts.size());
    std::vector<local_indices> local(matrix.parts.size());
    on_each_rank(matrix.comm, [&](int rank) {
        resident_rows& rows = matrix.parts[as_size(rank)];
        const row_range owned = of_columns.owned(rank);
        plan.boundary[as_size(rank)].interior_rows = find_ghosts(matrix, rank, owned, true);
        if (rows.numbers) {
            local[as_size(rank)] = *rows.numbers;
        } else {
            local[as_size(rank)] = {
                owned, cuda::list_members(matrix.comm.handle(rank), rows.ghosts).download()};
        }
    });
    plan.columns = {matrix.comm, std::move(of_columns), std::move(local)};
    return plan;
}

halo_plan make_allgather_plan(resident_matrix& matrix, row_partition of_rows,
                              row_partition of_columns) {
    halo_plan plan{std::move(of_rows), {}, {}};
    plan.columns = all_columns(plan.rows, std::move(of_columns));
    plan.boundary = by_rank(matrix.comm, [&](int rank) {
        return boundary_rows{find_ghosts(matrix, rank, plan.columns.owned(rank), false), {}};
    });
    return plan;
}

resident_block local_block(const resident_matrix& matrix, const halo_plan& plan, int rank) {
    const resident_rows& mine = matrix.parts[static_cast<std::size_t>(rank)];
    resident_block block{mine.pattern(), {}};
    if (matrix.comm.ranks() == 1) return block;
    block.pattern.boundary = mine.touches_ghost.data();
    if (mine.numbers || plan.columns.has_all(rank)) return block;
    const auto& device = matrix.comm.handle(rank);
    block.columns = buffer<std::int32_t>(device, as_size(mine.lengths.nonzeros), set_up_item);
    cuda::localize(*device, mine.columns, mine.lengths.nonzeros, plan.columns.local(rank),
                   mine.ghosts, block.columns.data());
    block.pattern.columns = block.columns.data();
    return block;
}

void measure_rows(const std::shared_ptr<device>& device, resident_rows& rows) {
    rows.lengths = cuda::measure_lengths(device, rows.offsets.data(),
                                         static_cast<std::int64_t>(rows.offsets.size()) - 1)
                       .lengths;
}

local_indices number_blocks(const std::shared_ptr<device>& device, row_range owned,
                            std::int64_t columns, std::span<resident_rows* const> blocks) {
    resident_set set;
    for (resident_rows* const block : blocks) {
        block->interior_rows = block->lengths.rows;
        if (owned.size() == columns) continue;
        block->touches_ghost =
            buffer<std::uint8_t>(device, as_size(block->lengths.rows), set_up_item);
        block->interior_rows = cuda::find_ghosts(device, block->csr(), owned, columns, &set,
                                                 block->touches_ghost.data());
    }
    if (owned.size() == columns) return {owned, {}};
    local_indices indices(owned, cuda::list_members(device, set).download());
    for (resident_rows* const block : blocks) {
        const std::int32_t* const global = block->columns;
        if (block->uploaded.size() == 0) // they are the caller's
            block->uploaded = {device, as_size(block->lengths.nonzeros), set_up_item};
        block->columns = block->uploaded.data();
        cuda::localize(*device, global, block->lengths.nonzeros, indices, set,
                       block->uploaded.data());
    }
    return indices;
}

} // namespace krylith

#endif
